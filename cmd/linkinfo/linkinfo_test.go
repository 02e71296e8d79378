package linkinfo

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/linkinfo"
)

var program = cmdtest.Native(New)

func TestLinkinfoViews(t *testing.T) {
	for _, test := range []struct {
		golden string
		code   int
		args   []string
	}{
		{"table", cmdutil.ExitFindings, []string{"linkinfo"}},
		{"problems", cmdutil.ExitFindings, []string{"linkinfo", "--problems", "--sort", "name", "--wide", "--additional"}},
		{"ends", cmdutil.ExitFindings, []string{"linkinfo", "--problems", "--ends"}},
		{"csv", cmdutil.ExitFindings, []string{"linkinfo", "--csv", "--switches", "--finding", "slow"}},
		{"node", cmdutil.ExitOK, []string{"linkinfo", "--route", "0,1,2", "--sort", "lid"}},
	} {
		t.Run(test.golden, func(t *testing.T) {
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, test.args...)
			if code != test.code || err != "" {
				t.Errorf("exit code %d, error output %q", code, err)
			}
			cmdtest.Golden(t, test.golden+".golden", out)
		})
	}
}

// Modules, light and bit error rates at both ends. Their findings make the exit code 3, and
// requests without a reply 4.
func TestLinkinfo_PHY(t *testing.T) {
	mute := cmdtest.WriteFile(t, "0s vendor leaf1 off\n")
	var all strings.Builder
	for _, test := range []struct {
		args string
		code int
	}{
		{"leaf1", cmdutil.ExitFindings}, {"leaf1 --ends", cmdutil.ExitFindings}, {"leaf1 --csv", cmdutil.ExitFindings}, {"leaf2", cmdutil.ExitOK}, {"leaf1 --problems", cmdutil.ExitFindings}, {"host5", cmdutil.ExitOK},
		{"host1 --sim-events " + mute, cmdutil.ExitOK}, {"--problems", cmdutil.ExitFindings},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "optics"}, append([]string{"linkinfo", "--phy"}, strings.Fields(test.args)...)...)
			if code != test.code || err != "" {
				t.Errorf("exit code %d, error output %q", code, err)
			}
			all.WriteString("$ ibkit linkinfo --phy " + strings.ReplaceAll(test.args, mute, "EVENTS") + "\n" + out)
		})
	}
	cmdtest.Golden(t, "phy.golden", all.String())
	code, _, err := program.Run(t, nil, "linkinfo", "--phy", "--sim", "single-switch:hosts=2")
	if want := "read registers: none of 3 devices has them: no register access by Gets: no reply to GeneralInfo"; code != cmdutil.ExitPartial || !strings.Contains(err, want) {
		t.Errorf("got exit code %d, error output %q, want %d, %s", code, err, cmdutil.ExitPartial, want)
	}
}

// An adapter behind an inactive link makes the result partial only if its link is shown.
func TestLinkinfo_UnreachablePHY(t *testing.T) {
	for args, want := range map[string]int{"leaf1": cmdutil.ExitFindings, "node10": cmdutil.ExitPartial, "": cmdutil.ExitPartial} {
		code, _, err := program.Run(t, nil, append([]string{"linkinfo", "--phy", "--sim", "demo"}, strings.Fields(args)...)...)
		if code != want || (want == cmdutil.ExitPartial) != strings.Contains(err, "node10[1]: GeneralInfo: the link is not active") {
			t.Errorf("%s: got exit code %d, error output %q, want %d", args, code, err, want)
		}
	}
}

// The JSON conforms to the schema and decodes into linkinfo.Report without loss.
func TestLinkinfoJSON(t *testing.T) {
	for _, args := range [][]string{
		{"linkinfo", "--sim", "demo", "--json"},
		{"linkinfo", "--sim", "demo", "--json", "--problems"},
		{"linkinfo", "--sim", "net:../../test/nets/speeds-and-widths.net", "--json"},
		{"linkinfo", "--sim", "demo", "--json", "--attributes"},
		{"linkinfo", "--sim", "demo", "--json", "--counters"},
		{"linkinfo", "--sim", "demo", "--json", "--counters", "--attributes"},
		{"linkinfo", "--sim", "optics", "--json", "--phy"},
		{"linkinfo", "--sim", "single-switch:hosts=2", "--json", "--phy"},
		{"linkinfo", "--sim", "torus:speed=XDR", "--json", "--attributes", "--route", "0,1"},
		{"linkinfo", "--sim", "single-switch:speed=QDR,hosts=2", "--json"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			_, out, _ := program.Run(t, nil, args...)
			cmdtest.CheckDocument(t, "../../schema/linkinfo.json", out, new(linkinfo.Report))
		})
	}
}

func TestLinkinfoFilters(t *testing.T) {
	for _, test := range []struct {
		args string
		want int // ports
	}{
		{"", 96 + 16},
		{"--switches", 96},
		{"--cas", 16},
		{"--cas --switches", 96 + 16},
		{"--switches --routers", 96},
		{"--problems", 6},
		{"--finding narrow,slow", 4},
		{"--speed hdr", 10},
		{"--width 2x", 2},
		{"--state initialize", 2},
		{"--node spine*", 32},
		{"--node 0x0002c90000800000,node01", 16 + 1},
		{"--down", 96 - 2*4 - 4*6},
	} {
		t.Run(test.args, func(t *testing.T) {
			_, out, err := program.Run(t, nil, append([]string{"linkinfo", "--sim", "demo", "--csv", "--ends"}, strings.Fields(test.args)...)...)
			records, failed := csv.NewReader(strings.NewReader(out)).ReadAll()
			if failed != nil || err != "" {
				t.Fatalf("%s: %v, %s", test.args, failed, err)
			}
			if got := len(records) - 1; got != test.want {
				t.Errorf("got %d ports, want %d", got, test.want)
			}
		})
	}
}

// A stored fabric prints the same links and compares equal to itself.
func TestLinkinfoCache(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	_, live, _ := program.Run(t, nil, "linkinfo", "--csv", "--sim", "demo", "--save", cache)
	// IBKIT_SIM has no effect with a stored fabric.
	code, stored, err := program.Run(t, map[string]string{"IBKIT_SIM": "single-switch"}, "linkinfo", "--csv", "--from", cache)
	if code != cmdutil.ExitFindings || err != "" || stored != live {
		t.Errorf("got exit code %d, error output %q\n%s", code, err, cmp.Diff(live, stored))
	}
	for _, sim := range []struct {
		name string
		code int
	}{{"demo", cmdutil.ExitOK}, {"single-switch", cmdutil.ExitFindings}} {
		t.Run(sim.name, func(t *testing.T) {
			code, out, _ := program.Run(t, nil, "linkinfo", "--sim", sim.name, "--diff", cache)
			if code != sim.code || (out == "no differences\n") != (sim.code == cmdutil.ExitOK) {
				t.Errorf("difference from %s: got exit code %d, output %q, want exit code %d", sim.name, code, out, sim.code)
			}
		})
	}
}

func TestLinkinfoExitCodes(t *testing.T) {
	for _, test := range []struct {
		args string
		code int
		err  string
	}{
		{"", cmdutil.ExitFindings, ""},
		{"--node node05", cmdutil.ExitOK, ""},
		{"--node node05,node99", cmdutil.ExitFailed, `find name node99: no node has this name`},
		{"--node node99 --json", cmdutil.ExitFailed, `find name node99: no node has this name`},
		{"--node node0 --json", cmdutil.ExitFailed, `hint: similar names: "node01", "node02", "node03"`},
		{"--port-guid 0x1234", cmdutil.ExitFailed, "find 0x1234: no port of the fabric has this GUID"},
		{"--port-guid 0x0002c90000100801 --switches", cmdutil.ExitFailed, "not among the selected nodes"},
		{"--node node05 --cas", cmdutil.ExitOK, ""},
		{"--node node05 --switches", cmdutil.ExitFailed, `find name node05: no node has this name`},
		{"--routers", cmdutil.ExitFailed, "find nodes: no node matches --routers"},
		{"--routers --sim net:../../test/nets/routers.net", cmdutil.ExitFindings, ""},
		{"--finding slow", cmdutil.ExitFindings, ""},
		{"--finding limited", cmdutil.ExitOK, ""},
		{"--fail-on limited,disabled", cmdutil.ExitOK, ""},
		{"--fail-on slow", cmdutil.ExitFindings, ""},
		{"--finding slow --fail-on narrow", cmdutil.ExitOK, ""},
		{"--fail-on fast", cmdutil.ExitUsage, `"fast": want one of no-reply, `},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, _, err := program.Run(t, nil, append([]string{"linkinfo", "--sim", "demo"}, strings.Fields(test.args)...)...)
			if code != test.code || !strings.Contains(err, test.err) || (err != "") != (test.err != "") {
				t.Errorf("got exit code %d, error output %q; want %d, %q", code, err, test.code, test.err)
			}
		})
	}
}

// A host whose link is down does not pass a health check, although the scan finds no
// other node.
func TestLinkinfo_LocalLinkDown(t *testing.T) {
	events := cmdtest.WriteFile(t, "0s unlink leaf1[3]\n")
	code, out, _ := program.Run(t, nil, "linkinfo", "--sim", "demo", "--sim-events", events)
	if want := "not-active: the link of the local port is down"; code != cmdutil.ExitPartial || !strings.Contains(out, want) {
		t.Errorf("got exit code %d, output %q, want %d and %q", code, out, cmdutil.ExitPartial, want)
	}
}

// A table without a selected node does not end with a good verdict. There is no table if no
// node was found.
func TestLinkinfo_NodeNotFound(t *testing.T) {
	for nodes, want := range map[string]string{"node05,node99": ": selected nodes not found, no problems found\n", "node99": ""} {
		_, out, _ := program.Run(t, nil, "linkinfo", "--sim", "demo", "--node", nodes)
		if !strings.HasSuffix(out, want) || (out == "") != (want == "") {
			t.Errorf("%s: got %q, want it to end with %q", nodes, out, want)
		}
	}
}

// The selected findings decide, also findings that are not problems.
func TestLinkinfoFailOnLimited(t *testing.T) {
	for _, test := range []struct {
		net, args string
		code      int
		verdict   string
	}{
		{"speeds-and-widths", "", cmdutil.ExitFindings, "10 links with problems (only these: --problems)"}, // uneven
		{"speeds-and-widths", "--fail-on no-reply,disabled", cmdutil.ExitOK, "10 links with problems (only these: --problems)"},
		{"back-to-back", "", cmdutil.ExitOK, "no problems found"},
		{"back-to-back", "--finding limited", cmdutil.ExitFindings, "1 link with selected findings"},
		{"back-to-back", "--finding limited --ends", cmdutil.ExitFindings, "2 ports with selected findings"},
		{"back-to-back", "--finding limited --fail-on disabled", cmdutil.ExitOK, "no problems found"},
		{"back-to-back", "--fail-on limited", cmdutil.ExitFindings, "1 link with selected findings"},
	} {
		t.Run(test.net+" "+test.args, func(t *testing.T) {
			code, out, _ := program.Run(t, nil, append([]string{"linkinfo", "--sim", "net:../../test/nets/" + test.net + ".net"}, strings.Fields(test.args)...)...)
			if code != test.code {
				t.Errorf("got exit code %d, want %d\n%s", code, test.code, out)
			}
			if !strings.HasSuffix(out, ": "+test.verdict+"\n") {
				t.Errorf("got %q, want it to end with %q", out, test.verdict)
			}
		})
	}
}

// JSON contains the nodes and ports that pass the filters.
func TestLinkinfoJSONFilters(t *testing.T) {
	var links linkinfo.Report
	_, out, _ := program.Run(t, nil, "linkinfo", "--sim", "demo", "--json")
	if err := json.Unmarshal([]byte(out), &links); err != nil || len(links.Links) != 24 || links.Summary.Links != 24 {
		t.Errorf("got %d links, %v, want 24", len(links.Links), err)
	}
	_, out, _ = program.Run(t, nil, "linkinfo", "--sim", "demo", "--json", "--problems")
	var report linkinfo.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range report.Nodes {
		got = append(got, *n.Name)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"leaf1", "leaf2", "leaf3", "node07", "node10", "spine1"}, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestLinkinfoDiffJSON(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	program.Run(t, nil, "linkinfo", "--sim", "demo", "--save", cache)
	for _, test := range []struct {
		sim   string
		code  int
		nodes int
	}{
		{"demo", cmdutil.ExitOK, 0},
		{"demo:sm=off", cmdutil.ExitFindings, 21},
		{"single-switch:hosts=2", cmdutil.ExitFindings, 24},
	} {
		t.Run(test.sim, func(t *testing.T) {
			code, out, failed := program.Run(t, nil, "linkinfo", "--sim", test.sim, "--diff", cache, "--json")
			if code != test.code || failed != "" {
				t.Errorf("got exit code %d, error output %q; want %d", code, failed, test.code)
			}
			var report linkinfo.ReportDiff
			cmdtest.CheckDocument(t, "../../schema/linkinfo-diff.json", out, &report)
			if got := len(report.Nodes); got != test.nodes {
				t.Errorf("got %d nodes that differ, want %d\n%s", got, test.nodes, out)
			}
		})
	}
}

// TestErrorCounters shows the worst counter of each link.
func TestErrorCounters(t *testing.T) {
	code, out, errOut := program.Run(t, nil, "linkinfo", "--sim", "demo", "--counters", "--node", "leaf[14]")
	for _, want := range []string{
		"cable: SymbolErrorCounter 4", "; at the peer cable: SymbolErrorCounter 1906", "congestion: PortXmitDiscards 1822",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("got\n%s\nwant %q", out, want)
		}
	}
	if code != cmdutil.ExitPartial || !strings.Contains(errOut, "counters of node10") {
		t.Errorf("got exit code %d and %q, want 4: node10 is not active", code, errOut)
	}
}

// TestErrorCounters_Formats shows the same counters as JSON and CSV.
func TestErrorCounters_Formats(t *testing.T) {
	for _, test := range []struct {
		format string
		want   []string
	}{
		{"--json", []string{
			`"counters":{"read":true,"worst":{"counter":"PortXmitDiscards","kind":"congested","class":"congestion","value":1822,` +
				`"meaning":"packets waited too long at the head of a queue"}}`,
			`"counters":{"read":false,"worst":null}`, // node10
			`"counters":{"read":true,"worst":null}`,
		}},
		{"--csv", []string{
			",findings,error_class,error_counter,error_value,peer_error_class,peer_error_counter,peer_error_value\n",
			",narrow,cable,SymbolErrorCounter,48213,cable,SymbolErrorCounter,1906\n",
		}},
	} {
		t.Run(test.format, func(t *testing.T) {
			code, out, _ := program.Run(t, nil, "linkinfo", "--sim", "demo", "--counters", test.format)
			for _, want := range test.want {
				if !strings.Contains(out, want) {
					t.Errorf("got\n%s\nwant %q", out, want)
				}
			}
			if code != cmdutil.ExitPartial {
				t.Errorf("got exit code %d, want 4: node10 is not active", code)
			}
		})
	}
}

// A verdict on a file without states does not include them.
func TestLinkinfo_SparseFile(t *testing.T) {
	for file, want := range map[string]struct {
		end  string
		code int
	}{
		"two-subnets.topo":   {"4 links: no problems found; not judged: states, enabled widths and speeds\n", cmdutil.ExitOK},
		"parallel-slow.topo": {"4 links: 1 link with problems (only these: --problems)\n", cmdutil.ExitFindings},
	} {
		t.Run(file, func(t *testing.T) {
			code, out, err := program.Run(t, nil, "linkinfo", "--from", "../../test/topologies/"+file)
			if code != want.code || !strings.HasSuffix(out, want.end) || err != "" {
				t.Errorf("got exit code %d, output\n%s\nerror output %q, want %d, %q", code, out, err, want.code, want.end)
			}
		})
	}
}

// A file's valid part is shown, with the other lines as failures.
func TestCommand_Damaged(t *testing.T) {
	const text = `switchguid=0x10(10)
Switch	4 "S-0000000000000010"		# "sw" enhanced port 0 lid 1 lmc 0
[1]	"H-0000000000000020"[1](21) 		# "host" lid 2 4xHDR
[2]	"H-0000000000000030"[1](31) 		# "gone" lid 3 4xHDR

caguid=0x20
Ca	1 "H-0000000000000020"		# "host"
[1](21) 	"S-0000000000000010"[1]		# lid 2 lmc 0 "sw" lid 1 4xHDR
`
	path := filepath.Join(t.TempDir(), "topology")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errOut := program.Run(t, nil, "linkinfo", "--from", path)
	const lost = `:4: "S-0000000000000010"[2] is linked to node "H-0000000000000030", which is not in the file`
	want := "warning: " + path + lost + "\nwarning: the result is partial: parts of the file could not be read\n"
	if code != cmdutil.ExitPartial || errOut != want || !strings.Contains(out, "1 link: partial result, no problems found") {
		t.Errorf("got exit code %d, output\n%s\nerror output\n%s\nwant %d, a link and\n%s", code, out, errOut, cmdutil.ExitPartial, want)
	}
	_, out, _ = program.Run(t, nil, "linkinfo", "--json", "--from", path)
	var r linkinfo.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Failures) != 1 || r.Failures[0].Subject != "sw[2]" || r.Failures[0].Attribute != "" || r.Failures[0].Error != path+lost || !r.Partial {
		t.Errorf("got %+v, want the failure of sw[2] without a request", r.Head)
	}
}
