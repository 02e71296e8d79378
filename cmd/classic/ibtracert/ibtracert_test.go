package ibtracert

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var program = cmdtest.Classic(New)

// The tests of package oracle compare more command lines with the C tool.
func TestIbtracert(t *testing.T) {
	var all strings.Builder
	for _, line := range []string{
		"ibtracert 1 8",
		"ibtracert -n 1 8",
		"ibtracert -m 0xc000 1 8",
		"ibtracert 1",
	} {
		code, out, _ := program.Run(t, map[string]string{"IBKIT_SIM": "fat-tree:radix=4,pods=2,spines=2"}, strings.Fields(line)...)
		fmt.Fprintf(&all, "$ %s\n%s(exit code %d)\n", line, out, code)
	}
	cmdtest.Golden(t, "output.golden", all.String())
}
