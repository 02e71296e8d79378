package dumpfts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var program = cmdtest.Classic(New)

// The tests of package oracle compare more command lines with the C tool.
func TestDumpfts(t *testing.T) {
	var all strings.Builder
	for _, line := range []string{
		"dump_fts -n 2 4",
		"dump_fts -a 0 1",
		"dump_fts -M -n",
	} {
		code, out, _ := program.Run(t, map[string]string{"IBKIT_SIM": "fat-tree:radix=4,pods=2,spines=2"}, strings.Fields(line)...)
		fmt.Fprintf(&all, "$ %s\n%s(exit code %d)\n", line, out, code)
	}
	cmdtest.Golden(t, "output.golden", all.String())
}
