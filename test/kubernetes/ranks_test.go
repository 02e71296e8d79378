//go:build kubernetes

package kubernetes

import (
	"strings"
	"testing"
)

// TestMesh_ranks runs mesh in the pods of an Indexed Job with ranks from the command line.
func TestMesh_ranks(t *testing.T) {
	kubernetes.must(t, "apply", "--server-side", "-f", "testdata/ranks.yaml")
	kubernetes.must(t, "wait", "--for=condition=Complete", "--timeout=5m", "job/ranks")
	if out := kubernetes.must(t, "logs", "job/ranks"); !strings.Contains(out, "\nno findings\n64 of 64 workers, ") {
		t.Errorf("got %s, want no findings of 64 workers", out)
	}
}
