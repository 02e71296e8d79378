//go:build kubernetes

package kubernetes

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMesh_Away stops the API server before the verdict, and takes the rights away. The exit
// code is that of the verdict, and no node is tainted.
func TestMesh_Away(t *testing.T) {
	before := kubernetes.nodes(t)
	for _, test := range []struct {
		name   string
		take   func(*testing.T, *job)
		output string
	}{
		{"rights", func(t *testing.T, _ *job) { kubernetes.must(t, "delete", "clusterrolebinding", "ibkit-mesh") }, "the service account needs a ClusterRole "},
		{"server", func(t *testing.T, j *job) {
			coordinator := j.pods(t, 0)[0].Metadata.Name
			kubernetes.stopServer(t)
			kubernetes.awaitFile(t, j.namespace+"-"+coordinator+".log", " workers, ")
			if err := kubernetes.startServer(); err != nil {
				t.Fatal(err)
			}
		}, "once the API server is back: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := kubernetes.startJob(t, variant{directory: "host-network", taint: true, pods: 8, args: []string{"--fault=host00001=50%", "--schedule=random:8", "--pace=1s"}})
			j.awaitJoined(t, 8)
			test.take(t, j)
			j.wait(t, "Failed")
			j.checkVerdict(t, 3, "slow-node ", test.output)
			if got := kubernetes.changed(t, before); got != nil {
				t.Errorf("got nodes %q changed, want none", got)
			}
		})
	}
}

// awaitFile waits until a file of the cluster has a text.
func (c *cluster) awaitFile(t *testing.T, name, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "timeout", "300", "sh", "-c", `until grep -qF "$0" "$1"; do sleep 0.1; done`, text, filepath.Join(c.dir, name))
	if err := cmd.Run(); err != nil {
		got, _ := os.ReadFile(filepath.Join(c.dir, name)) // for the failure's text
		t.Fatalf("got %q, %v, want %q", got, err, text)
	}
}
