package query

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/internal/tool/query"
)

// The JSON conforms to the schema and has an exported type, with and without results.
func TestQuery_JSON(t *testing.T) {
	program := cmdtest.Native(New)
	for _, line := range []string{"pi 7", "PI leaf1 all", "pkeys 4", "nd 1-3 --sa", "pi 3 99", "ni nobody", "0xff40 7", "pm:ClassPortInfo 3", "vlarb leaf1 1", "cl 4"} {
		t.Run(line, func(t *testing.T) {
			args := append([]string{"query", "--json", "-t", "50"}, strings.Fields(line)...)
			_, out, _ := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, args...)
			cmdtest.CheckDocument(t, "../../schema/query.json", out, &query.Report{})
		})
	}
}

func TestQuery_ListJSON(t *testing.T) {
	program := cmdtest.Native(New)
	for _, line := range []string{"", "PI"} {
		t.Run(line, func(t *testing.T) {
			code, out, stderr := program.Run(t, nil, append([]string{"query", "--list", "--json"}, strings.Fields(line)...)...)
			if code != 0 {
				t.Fatalf("got exit code %d: %s", code, stderr)
			}
			cmdtest.CheckDocument(t, "../../schema/query-list.json", out, &query.ReportList{})
		})
	}
}

// TestQuery_LocalTitle checks that the title of the local port has the node's name.
func TestQuery_LocalTitle(t *testing.T) {
	program := cmdtest.Native(New)
	for _, args := range [][]string{{"PortInfo"}, {"PortInfo", "route:0"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			_, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"query"}, args...)...)
			if want := "PortInfo of route 0 port 0 \"node01\"\n"; !strings.HasPrefix(out, want) {
				t.Errorf("got %.80q, error output %q, want %q", out, err, want)
			}
		})
	}
}

// TestQuery_Refused checks that a reply with an error status is a message without fields.
func TestQuery_Refused(t *testing.T) {
	program := cmdtest.Native(New)
	for _, test := range []struct{ args, hint string }{
		{"PortInfo leaf1 77", "hint: the ports of leaf1 have the numbers 1 to 16\n"},
		{"SwitchInfo node02", "hint: node02 is not a switch\n"},
		{"LinearForwardingTable node02", "hint: node02 is not a switch\n"},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, out, stderr := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"query"}, strings.Fields(test.args)...)...)
			if code != 1 || out != "" || !strings.HasSuffix(stderr, test.hint) {
				t.Errorf("got exit code %d, output %q, error output %q, want 1, no output, %q", code, out, stderr, test.hint)
			}
		})
	}
}

// Columns have different names: the LID column of a table is the target's.
func TestQuery_Columns(t *testing.T) {
	program := cmdtest.Native(New)
	for args, want := range map[string]string{
		"PortInfo spine*":                     "NODE LID PORT SMLID LINKSTATE PHYSLINKSTATE LINKWIDTHACTIVE LINKSPEEDACTIVE LINKSPEEDEXTACTIVE NEIGHBORMTU",
		"PortInfo spine* --columns Lid,SMLid": "NODE LID PORT PORTINFO LID SMLID",
	} {
		t.Run(args, func(t *testing.T) {
			_, out, _ := program.Run(t, nil, append([]string{"query", "--sim", "demo"}, strings.Fields(args)...)...)
			head, _, _ := strings.Cut(out, "\n")
			if got := strings.Join(strings.Fields(head), " "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
