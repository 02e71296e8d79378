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
	var all strings.Builder
	for _, line := range lines {
		code, out, _ := p.Run(t, map[string]string{"IBKIT_SIM": "fat-tree:radix=4,pods=2,spines=2"}, strings.Fields(line)...)
		fmt.Fprintf(&all, "$ %s\n%s(exit code %d)\n", line, out, code)
	}
	Golden(t, "output.golden", all.String())
}
