package route

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/route"
)

var program = cmdtest.Native(New)

// dumps is the directory with files of opensm for one fabric.
const dumps = "../../internal/tool/route/dump/testdata/opensm"

func TestRoute_Views(t *testing.T) {
	pairs := cmdtest.WriteFile(t, "# pairs\nnode01 node16\n\n0x0002c90000800000 5\n")
	for name, args := range map[string][]string{
		"pair":        {"--sim", "demo", "node01", "node16"},
		"pairs":       {"--sim", "demo", "--targets-file", pairs},
		"to-all":      {"--sim", "demo", "--from-port", "node01/1", "--to-all", "--problems"},
		"files":       {"--tables", dumps, "host00001", "8"},
		"adaptive":    {"--sim", "fat-tree:levels=2,radix=8,pods=4,ar=on", "host00001", "host00016"},
		"counters":    {"--sim", "demo", "--counters", "node01", "spine1"},
		"csv":         {"--sim", "demo", "--csv", "node01", "spine1"},
		"unknown-lid": {"--sim", "demo", "--unknown-lid", "node01", "999"},
		"group":       {"--sim", "broken-multicast", "--mlid", "0xc011", "--from-port", "host00001", "--to-all"},
		"asymmetric":  {"--sim", "dead-end", "--fail-on", "asymmetric", "--problems", "--from-port", "host00001", "--to-all"},
	} {
		t.Run(name, func(t *testing.T) {
			_, out, err := program.Run(t, nil, append([]string{"route"}, args...)...)
			if err != "" {
				t.Errorf("got error output %q", err)
			}
			cmdtest.Golden(t, name+".golden", out)
		})
	}
}

func TestRoute_JSON(t *testing.T) {
	for _, args := range []string{"--sim demo node01 node16", "--sim demo node01 spine1", "--sim demo --from-port node01 --to-all", "--sim demo:sm=off node01 node02", "--tables " + dumps + " 1 8",
		"--sim demo --counters node01 node16", "--sim demo --unknown-lid 4 999", "--sim broken-multicast --mlid 0xc010 --from-port 1 --to-all", "--sim forwarding-loop host00001 host00016",
		"--sim fat-tree:levels=2,radix=8,pods=4,ar=on host00001 host00016"} {
		t.Run(args, func(t *testing.T) {
			_, out, text := program.Run(t, nil, append([]string{"route", "--json"}, strings.Fields(args)...)...)
			if strings.Contains(args, "sm=off") {
				if !strings.Contains(text, "the node has no LID") {
					t.Errorf("got error output %q, want one about LIDs", text)
				}
				return
			}
			cmdtest.CheckDocument(t, "../../schema/route.json", out, new(route.ReportPaths))
		})
	}
}

func TestRoute_ExitCodes(t *testing.T) {
	bad := cmdtest.WriteFile(t, "node01 node16\nnode01\n")
	unknown := cmdtest.WriteFile(t, "node01 node02\nnode01 nosuch\n")
	allUnknown := cmdtest.WriteFile(t, "nosuch node02\nnode01 nosuch\n")
	invalid := cmdtest.WriteFile(t, "node01 node02\n\nnode01 4-9\n")
	empty := cmdtest.WriteFile(t, "# none\n")
	for _, test := range []struct {
		args string
		code int
		err  string
	}{
		{"--sim demo node01 node02", cmdutil.ExitOK, ""},
		{"--sim demo node01 node16", cmdutil.ExitFindings, ""}, // a narrow link
		{"--sim demo --fail-on forwarding-loop,unreachable node01 node16", cmdutil.ExitOK, ""},
		{"--sim demo --fail-on asymmetric node01 node16", cmdutil.ExitFindings, ""},
		{"--sim demo --fail-on broken node01 node16", cmdutil.ExitUsage, "want one of unreachable, forwarding-loop"},
		{"--sim demo --counters node02 node03", cmdutil.ExitOK, ""},
		{"--sim demo node01 999", cmdutil.ExitFailed, "find LID 999: no port has this LID"},
		{"--sim demo --unknown-lid node01 999", cmdutil.ExitFindings, ""},
		{"--sim demo --unknown-lid nosuch 999", cmdutil.ExitFailed, "find name nosuch"},
		{"--sim demo --mlid 0xbfff node01 node02", cmdutil.ExitUsage, "invalid --mlid \"0xbfff\": want a LID from 0xc000 to 0xfffe"},
		{"--sim demo --mlid x node01 node02", cmdutil.ExitUsage, "invalid --mlid"},
		{"--sim demo --mlid 0xc001 --unknown-lid node01 node02", cmdutil.ExitUsage, "are mutually exclusive"},
		{"--sim demo --csv --json node01 node02", cmdutil.ExitUsage, "are mutually exclusive"},
		{"--tables " + dumps + " --counters 1 8", cmdutil.ExitUsage, "are mutually exclusive"},
		{"--sim demo 4 0,1", cmdutil.ExitOK, ""},
		{"--sim demo node01 node*", cmdutil.ExitFailed, "find node*: got 16 nodes, want 1"},
		{"--sim demo node01", cmdutil.ExitUsage, "number of ports: got 1, want 2"},
		{"--sim demo node01 spin", cmdutil.ExitFailed, `hint: similar names: "spine1", "spine2"`},
		{"--sim demo node01/9 node02", cmdutil.ExitFailed, "find node01[9]: the ports of node01 have the numbers 1 to 1"},
		{"--sim demo node01 nosuch", cmdutil.ExitFailed, "find name nosuch: no node has this name"},
		{"--sim demo node01 192.0.2.1", cmdutil.ExitFailed, "find IP 192.0.2.1: a simulated fabric has no IP addresses"},
		{"--sim demo node01 4-9", cmdutil.ExitUsage, "want a single LID"},
		{"--sim demo --targets-file " + bad, cmdutil.ExitUsage, bad + ":2: number of ports: got 1, want 2"},
		{"--sim demo --targets-file " + unknown, cmdutil.ExitPartial, "warning: " + unknown + ":2: find name nosuch: no node has this name"},
		{"--sim demo --targets-file " + invalid, cmdutil.ExitUsage, invalid + ":3: "},
		{"--sim demo --targets-file " + empty, cmdutil.ExitUsage, empty + ": no pairs"},
		{"--sim demo --targets-file /nonexistent", cmdutil.ExitUsage, "open /nonexistent: no such file"},
		{"--sim demo --from-port node01", cmdutil.ExitUsage, "has no effect without --to-all"},
		{"--tables /nonexistent 1 2", cmdutil.ExitUsage, "read routing: open /nonexistent: no such file"},
		{"--tables " + dumps + "/opensm-subnet.lst 1 8", cmdutil.ExitUsage, "no forwarding tables"},
		{"--tables " + dumps + " --fail-on unreachable 1 8", cmdutil.ExitOK, ""},
		{"--tables " + dumps + " --fail-on slow 1 8", cmdutil.ExitUsage, "--fail-on slow and --tables are mutually exclusive"},
		{"--sim demo --targets-file " + allUnknown, cmdutil.ExitFailed, "find pairs: no pair of " + allUnknown + " has two known ports"},
		{"--tables " + dumps + " --lmc 8 1 8", cmdutil.ExitUsage, "want 0 to 7"},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, _, err := program.Run(t, nil, append([]string{"route"}, strings.Fields(test.args)...)...)
			if code != test.code || !strings.Contains(err, test.err) || (err != "") != (test.err != "") {
				t.Errorf("got exit code %d, error output %q; want %d, %q", code, err, test.code, test.err)
			}
		})
	}
}

// A path through a node that does not respond is incomplete, and not one that ends.
func TestRoute_Incomplete(t *testing.T) {
	events := cmdtest.WriteFile(t, "@1 mute spine001 LinearForwardingTable\n")
	code, out, err := program.Run(t, nil, "route", "--sim", "fat-tree:radix=4,pods=2,spines=2", "--sim-events", events, "-t", "20", "1", "4")
	if want := "host00001 to host00003, LID 4, SL 0: incomplete, 2 links\n"; code != cmdutil.ExitPartial || !strings.HasPrefix(out, want) {
		t.Errorf("got exit code %d\n%swant %d\n%s", code, out, cmdutil.ExitPartial, want)
	}
	if !strings.Contains(out, "problem: unchecked: the table of spine001 was not read") || !strings.Contains(err, "warning: spine001: Get LinearForwardingTable") {
		t.Errorf("got\n%s%s", out, err)
	}
}
