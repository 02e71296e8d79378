//go:build kubernetes

package kubernetes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

// withoutNames calls a function while the cluster has no names of services.
func (c *cluster) withoutNames(t *testing.T, f func()) {
	t.Helper()
	late := filepath.Join(c.dir, "names-late") // of cluster/nodes
	if err := os.WriteFile(late, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(late)
	f()
}

// awaitLogs waits until the pods with the indexes have printed a text.
func (j *job) awaitLogs(t *testing.T, text string, indexes ...int) {
	t.Helper()
	for _, index := range indexes {
		testenv.Await(t, fmt.Sprintf("%q in the output of index %d", text, index), func() bool {
			for _, p := range j.pods(t, index) {
				if out, err := j.kubectl(t.Context(), "--namespace", j.namespace, "logs", p.Metadata.Name); err == nil && strings.Contains(out, text) {
					return true
				}
			}
			return false
		})
	}
}

// TestMesh_LateNames starts pods before the name of the coordinator is known.
func TestMesh_LateNames(t *testing.T) {
	var j *job
	kubernetes.withoutNames(t, func() {
		j = kubernetes.startJob(t, variant{directory: "base", pods: 8})
		j.awaitLogs(t, "lookup ibkit-mesh-0.ibkit-mesh", 1, 7)
	})
	j.wait(t, "Complete")
	j.checkVerdict(t, 0, "", "8 of 8 workers, ")
}

// evict removes a pod as kubectl drain does.
func (j *job) evict(t *testing.T, pod string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "eviction")
	const request = `{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": %q, "namespace": %q}}`
	if err := os.WriteFile(file, fmt.Appendf(nil, request, pod, j.namespace), 0o600); err != nil {
		t.Fatal(err)
	}
	j.must(t, "create", "--raw", "/api/v1/namespaces/"+j.namespace+"/pods/"+pod+"/eviction", "-f", file)
}

// TestMesh_Removed removes the pod with index 5 while workers join: an evicted pod starts
// again, a deleted pod does not, and the others are measured.
func TestMesh_Removed(t *testing.T) {
	for _, test := range []struct {
		name      string
		remove    func(*job, string)
		condition string
		code      int
		text      string
	}{
		{"evicted", func(j *job, pod string) { j.evict(t, pod) }, "Complete", 0, "8 of 8 workers, "},
		{"deleted", func(j *job, pod string) { j.must(t, "delete", "pod", pod, "--wait=false") }, "Failed", 4, "7 of 8 workers, "},
	} {
		t.Run(test.name, func(t *testing.T) {
			var j *job
			kubernetes.withoutNames(t, func() {
				j = kubernetes.startJob(t, variant{directory: "base", pods: 8, args: []string{"--join-timeout=30s"}})
				j.awaitLogs(t, "lookup ibkit-mesh-0.ibkit-mesh", 5)
				test.remove(j, j.pods(t, 5)[0].Metadata.Name)
				j.awaitEnd(t, 5)
			})
			j.wait(t, test.condition)
			j.checkVerdict(t, test.code, "", test.text)
		})
	}
}

// awaitEnd waits until the first pod with an index has ended.
func (j *job) awaitEnd(t *testing.T, index int) {
	t.Helper()
	first := j.pods(t, index)[0].Metadata.Name
	testenv.Await(t, "end of "+first, func() bool {
		for _, p := range j.pods(t, index) {
			if code, _ := p.end(); p.Metadata.Name == first && code < 0 {
				return false
			}
		}
		return true
	})
}

// awaitJoined waits until a number of workers are connected to the coordinator, which has the
// network of its node.
func (j *job) awaitJoined(t *testing.T, workers int) {
	t.Helper()
	j.must(t, "wait", fmt.Sprintf("--for=jsonpath={.status.ready}=%d", workers), "--timeout=10m", "job/ibkit-mesh")
	testenv.Await(t, fmt.Sprint(workers, " connections"), func() bool {
		out, err := exec.CommandContext(t.Context(), "ip", "netns", "exec", j.pods(t, 0)[0].Spec.NodeName, "ss", "-Htn", "state", "established", "sport = :18600").Output()
		return err == nil && strings.Count(string(out), "\n") == workers
	})
}

// TestMesh_Again evicts a worker that has joined, or the coordinator: while others join, its
// successor takes its place; while flows are measured, it is named.
func TestMesh_Again(t *testing.T) {
	for _, test := range []struct {
		name          string
		index         int
		args          []string
		text, message string
	}{
		{"joining", 5, []string{"--ranks=9", "--join-timeout=30s"}, "8 of 9 workers, ", "index 8"},
		{"coordinator", 0, []string{"--ranks=9", "--join-timeout=60s"}, "8 of 9 workers, ", "index 8"},
		{"measuring", 5, []string{"--schedule=random:20", "--pace=1s"}, "8 of 8 workers, ", "interrupted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := kubernetes.startJob(t, variant{directory: "host-network", pods: 8, args: test.args})
			j.awaitJoined(t, 8)
			j.evict(t, j.pods(t, test.index)[0].Metadata.Name)
			j.wait(t, "Failed")
			j.checkVerdict(t, 4, test.message, test.text)
		})
	}
}

// TestMesh_SameNode schedules two pods on a node.
func TestMesh_SameNode(t *testing.T) {
	const together = `    - {op: remove, path: /spec/template/spec/affinity}
    - {op: add, path: /spec/template/spec/nodeSelector, value: {kubernetes.io/hostname: host00009}}
`
	j := kubernetes.startJob(t, variant{directory: "base", pods: 2, patch: together, args: []string{"--join-timeout=20s"}})
	j.wait(t, "Failed")
	j.checkVerdict(t, 4, "host00009", "1 of 2 workers, ")
}
