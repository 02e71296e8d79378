package ibtracert

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var program = cmdtest.Classic(New)

// Package oracle compares more command lines with the C tool.
func TestIbtracert(t *testing.T) {
	program.RunOnTree(t,
		"ibtracert 1 8",
		"ibtracert -n 1 8",
		"ibtracert -m 0xc000 1 8",
		"ibtracert 1",
	)
}

const tree = "fat-tree:radix=4,pods=2,spines=2"

// Package oracle recorded the output and the exit codes of the C tool on this fabric.
func TestIbtracert_Recorded(t *testing.T) {
	program.RunOnFabric(t, "recorded.golden", map[string]string{"IBKIT_SIM": tree},
		"ibtracert 1 5", "ibtracert 5 1", "ibtracert -n 1 5", "ibtracert 1 1", "ibtracert 1 3", "ibtracert 3 5", "ibtracert 3 3",
		"ibtracert -v 1 5", "ibtracert -f 1 5",
		"ibtracert -G 0x0002c90000100001 0x0002c90000100401", "ibtracert -nG 0x0002c90000100401 0x0002c90000100001", "ibtracert -G 0xdead 0x0002c90000100001",
		"ibtracert -t 20000 1 40000", "ibtracert -t 20000 -f 1 40000", "ibtracert -t 20000 40000 1", "ibtracert 1 0", "ibtracert -D 0 0,1",
		"ibtracert", "ibtracert 1", "ibtracert x 1", "ibtracert --ports-file /nonexistent",
		"ibtracert -m 0xc000 1 5", "ibtracert -m 0xc000 -n 1 5", "ibtracert -m 0xc000 1 1", "ibtracert -m 0xc000 3 3", "ibtracert -m 0xd000 1 5", "ibtracert -m 5 1 5",
	)
}

// Tables with loops, ports that a switch lacks, and agents that do not respond: the output
// and the exit codes are those that package oracle recorded of the C tool.
func TestIbtracert_Broken(t *testing.T) {
	lines := []string{"-t 20000 1 4", "-t 20000 4 1", "-t 20000 -f 1 4", "-t 20000 -n 7 4", "-t 20000 1 7"}
	var all strings.Builder
	for _, event := range []string{
		"lft spine001 4 200", "lft spine001 4 1", "lft spine001 4 255", "lft spine001 4 0", "lft spine001 4 3", "lft leaf002 4 2",
		"top spine001 3", "top spine001 0xffff", "lft leaf001 4 0", "lft leaf001 1 255",
		"mute spine001 LinearForwardingTable", "mute spine001 SwitchInfo", "mute spine001 NodeDescription", "mute leaf002 NodeInfo",
		"mute host00003 PortInfo", "mute host00003 NodeDescription", "hang host00003", "hang spine001", "unlink leaf002[1]", "down spine001",
	} {
		events := cmdtest.WriteFile(t, "0s "+event+"\n")
		fmt.Fprintf(&all, "# %s\n", event)
		for _, line := range lines {
			args := append([]string{"ibtracert", "--sim", tree, "--sim-events", events}, strings.Fields(line)...)
			code, out, _ := program.RunInBubble(t, nil, args...)
			fmt.Fprintf(&all, "$ ibtracert %s\n%s(exit code %d)\n", line, out, code)
		}
	}
	cmdtest.Golden(t, "broken.golden", all.String())
}
