package ibroute

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var program = cmdtest.Classic(New)

// The tests of package oracle compare more command lines with the C tool.
func TestIbroute(t *testing.T) {
	var all strings.Builder
	for _, line := range []string{
		"ibroute -D 0,1",
		"ibroute -n -D 0,1 2 3",
		"ibroute -D 0",
		"ibroute",
	} {
		code, out, _ := program.Run(t, map[string]string{"IBKIT_SIM": "fat-tree:radix=4,pods=2,spines=2"}, strings.Fields(line)...)
		fmt.Fprintf(&all, "$ %s\n%s(exit code %d)\n", line, out, code)
	}
	cmdtest.Golden(t, "output.golden", all.String())
}
