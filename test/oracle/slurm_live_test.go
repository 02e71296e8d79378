//go:build oracle

package oracle

import (
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
)

// TestSlurm_Releases measures and drains nodes with the Slurm of other releases. A root
// directory takes minutes the first time, so only all cases have it.
func TestSlurm_Releases(t *testing.T) {
	for _, r := range testenv.Cases(nil, debian.Trixie) {
		t.Run(r.Name, func(t *testing.T) {
			c := newReleaseMeshCluster(t, r, 61)
			if err := r.CheckIn(t.Context(), c.root, "slurmctld"); err != nil {
				t.Error(err)
			}
			srun := func(args ...string) (meshVerdict, int) {
				return c.meshRun(t, "srun", append([]string{"--quiet", "--mpi=pmi2", "-N4", native(), "mesh", "run", "--json"}, args...)...)
			}
			if v, code := srun("--sim", "fat-tree:levels=3,radix=8,pods=4"); code != 0 || v.Partial || v.Flows != 12 || len(v.Findings) != 0 {
				t.Errorf("PMI: got exit code %d, %+v, want 0 and 12 flows", code, v)
			}
			v, code := srun("--sim", "demo", "--fault", "node02=50%", "--apply", "slurm")
			if code != 3 || !slices.Equal(v.actions(), []string{"n2 drained"}) {
				t.Errorf("drain: got exit code %d, %+v, want 3 and n2", code, v)
			}
			if got := c.drained(t); got != "n2" {
				t.Errorf("got nodes %q drained, want n2", got)
			}
			c.wait(func(text string) bool {
				return strings.Contains(text, "Reason=ibkit mesh: slow-node: 50 % of its class")
			}, "show", "node", "n2")
		})
	}
}
