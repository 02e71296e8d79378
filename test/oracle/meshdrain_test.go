//go:build oracle

package oracle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMesh_Drain drains a slow node in Slurm: not for a slow link, not above the limit, and not
// again. Failures leave the exit code of the verdict.
func TestMesh_Drain(t *testing.T) {
	t.Parallel()
	c := newMeshCluster(t, 41)
	exclude, good, results := filepath.Join(c.dir, "exclude"), filepath.Join(c.dir, "good"), filepath.Join(c.dir, "results.csv")
	verdict := []string{"--json", "--apply", "slurm", "--exclude-file", exclude, "--good-hosts", good}
	run := func(tasks string, args ...string) []string {
		return slices.Concat([]string{"srun", "--quiet", tasks, native(), "mesh", "run", "--pace", "0s", "--results", results, "--sim"}, args, verdict)
	}
	analyze := func(args ...string) []string {
		return slices.Concat([]string{native(), "mesh", "analyze", "--hosts-only", results}, verdict, args)
	}
	for _, test := range []struct {
		name    string
		command []string
		rename  bool // hosts of the fabric in the results to nodes
		code    int
		want    []string // findings
		actions []string
		drained string // nodes
		exclude string
		good    string
	}{
		{"slow link", run("-n64", "fat-tree:levels=3,radix=8,pods=4", "--fault", "pod01-leaf001[5]=50%"), false, 3, []string{"slow-link pod01-leaf001[5]"}, nil, "", "", "n1\nn2\n"},
		{"above the limit", run("-N4", "demo", "--fault", "node02=hang", "--fault", "node03=hang"), false, 3, []string{"hung node02", "hung node03"}, []string{"n2 withheld", "n3 withheld"}, "", "n[2-3]\n", "n1\nn4\n"},
		{"slow node", run("-N4", "demo", "--fault", "node02=50%"), false, 3, []string{"slow-node node02"}, []string{"n2 drained"}, "n2", "n2\n", "n1\nn3\nn4\n"},
		{"unknown node", analyze(), false, 3, []string{"slow-node node02"}, []string{"node02 failed"}, "n2", "node02\n", "node01\nnode03\nnode04\n"},
		{"drained before", analyze("--max-drain", "1"), true, 3, []string{"slow-node n2"}, []string{"n2 drained-before"}, "n2", "n2\n", "n1\nn3\nn4\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.rename {
				text, err := os.ReadFile(results)
				if err != nil {
					t.Fatal(err)
				}
				c.write("results.csv", strings.ReplaceAll(string(text), "node0", "n"), 0o600)
			}
			v, code := c.meshRun(t, test.command[0], test.command[1:]...)
			if got := v.kinds(); code != test.code || !slices.Equal(got, test.want) || !slices.Equal(v.actions(), test.actions) {
				t.Errorf("got exit code %d, %q and %+v, want %d, %q and %q", code, got, v.BadHosts, test.code, test.want, test.actions)
			}
			if got := c.drained(t); got != test.drained {
				t.Errorf("got nodes %q drained, want %q", got, test.drained)
			}
			for path, want := range map[string]string{exclude: test.exclude, good: test.good} {
				if got, err := os.ReadFile(path); err != nil || string(got) != want {
					t.Errorf("%s: got %q, %v, want %q", filepath.Base(path), got, err, want)
				}
			}
		})
	}
	c.wait(func(text string) bool {
		return strings.Contains(text, "Reason=ibkit mesh: slow-node: 50 % of its class")
	}, "show", "node", "n2")
	c.wait(func(string) bool { return true }, "update", "NodeName=n2", "State=RESUME") // by the user
	c.checkExclude(t, exclude)
}

// drained returns the drained nodes.
func (c *cluster) drained(t *testing.T) string {
	t.Helper()
	text, err := c.scontrol(t.Context(), "--oneliner", "show", "nodes")
	if err != nil {
		t.Fatal(err)
	}
	var nodes []string
	for line := range strings.Lines(text) {
		if name, rest, _ := strings.Cut(line, " "); strings.Contains(rest, "+DRAIN ") {
			nodes = append(nodes, strings.TrimPrefix(name, "NodeName="))
		}
	}
	return strings.Join(nodes, ",")
}

// checkExclude checks that srun avoids the nodes of a file.
func (c *cluster) checkExclude(t *testing.T, file string) {
	t.Helper()
	srun := c.command("srun", "--quiet", "-N3", "--exclude", file, "printenv", "SLURMD_NODENAME")
	out, err := srun.Output()
	nodes := strings.Fields(string(out))
	slices.Sort(nodes)
	if err != nil || !slices.Equal(nodes, []string{"n1", "n3", "n4"}) {
		t.Errorf("got nodes %q, %v, want those that are not in the file", nodes, err)
	}
}
