package cmdtest

import (
	"fmt"
	"strings"
	"testing"
)

// RunOnTree runs command lines on a small fat tree of the simulator, and compares the
// output and the exit codes with testdata/output.golden.
func (p Program) RunOnTree(t *testing.T, lines ...string) {
	t.Helper()
	p.RunOnFabric(t, "output.golden", map[string]string{"IBKIT_SIM": "fat-tree:radix=4,pods=2,spines=2"}, lines...)
}

// RunOnFabric runs command lines in simulated time with an environment that selects a simulated
// fabric, and compares the output and the exit codes with testdata/NAME.
func (p Program) RunOnFabric(t *testing.T, name string, env map[string]string, lines ...string) {
	t.Helper()
	var all strings.Builder
	for _, line := range lines {
		code, out, _ := p.RunInBubble(t, env, strings.Fields(line)...)
		fmt.Fprintf(&all, "$ %s\n%s(exit code %d)\n", line, out, code)
	}
	Golden(t, name, all.String())
}
