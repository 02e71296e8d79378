//go:build kubernetes

package kubernetes

import (
	"strings"
	"testing"
)

// TestMesh_Job runs mesh on all nodes, in each variant of the manifests. The verdict is in the
// Job's status and in the coordinator's termination message.
func TestMesh_Job(t *testing.T) {
	for _, test := range []struct {
		name      string
		variant   variant
		condition string
		code      int
		status    string // of the Job
		message   string // of the coordinator
	}{
		{"healthy", variant{directory: "base"}, "Complete", 0, "", "0 findings; 64 of 64 workers, "},
		{"slow-node", variant{directory: "device-plugin", args: []string{"--fault=host00005=50%"}}, "Failed", 3, "failed with exit code 3", "slow-node host00005"},
		{"slow-link", variant{directory: "host-network", args: []string{"--fault=pod01-leaf001[5]=50%"}}, "Failed", 3, "failed with exit code 3", "slow-link pod01-leaf001[5]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.variant.pods = nodeCount
			j := kubernetes.startJob(t, test.variant)
			if got := j.wait(t, test.condition); !strings.Contains(got, test.status) {
				t.Errorf("got condition %q, want %q", got, test.status)
			}
			j.checkVerdict(t, test.code, test.message, "64 of 64 workers, ")
			j.checkWorkers(t)
		})
	}
}

// checkWorkers checks that a worker ran on each node, and ended with success.
func (j *job) checkWorkers(t *testing.T) {
	t.Helper()
	nodes := map[string]bool{}
	for _, p := range j.pods(t, -1) {
		nodes[p.Spec.NodeName] = true
		if code, message := p.end(); code != 0 && p.Metadata.Labels["batch.kubernetes.io/job-completion-index"] != "0" {
			t.Errorf("got exit code %d of worker %s, want 0: %s", code, p.Metadata.Name, message)
		}
	}
	if len(nodes) != nodeCount {
		t.Errorf("got workers on %d nodes, want %d", len(nodes), nodeCount)
	}
}
