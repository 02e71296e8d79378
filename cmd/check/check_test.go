package check

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

var program = cmdtest.Native(New)

// dumps is the directory with files of opensm for one fabric.
const dumps = "../../internal/tool/route/dump/testdata/opensm"

func TestCheckRoutes_Views(t *testing.T) {
	for name, args := range map[string][]string{
		"tree":  {"--sim", "fat-tree:radix=8,pods=4", "--pattern", "all-to-all,shift,random"},
		"torus": {"--sim", "torus:x=5,y=5,sm=minhop", "--limit", "1"},
		"files": {"--tables", dumps},
		"csv":   {"--sim", "torus,sm=minhop", "--csv"},

		"inactive":  {"--sim", "demo"},
		"multicast": {"--sim", "broken-multicast", "--sm-key", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, out, err := program.Run(t, nil, append([]string{"check", "routes"}, args...)...)
			if err != "" {
				t.Errorf("got error output %q", err)
			}
			cmdtest.Golden(t, name+".golden", out)
		})
	}
}

func TestCheckRoutes_JSON(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "saved")
	for _, args := range []string{
		"--sim demo --pattern shift --save " + saved,
		"--tables " + saved + " --diff " + saved,
		"--sim torus,sm=minhop --finding credit-loop",
		"--sim broken-multicast --sm-key 1",
		"--sim unbalanced-leaf",
		"--tables " + dumps,
	} {
		t.Run(args, func(t *testing.T) {
			_, out, _ := program.Run(t, nil, append([]string{"check", "routes", "--json"}, strings.Fields(args)...)...)
			cmdtest.CheckDocument(t, "../../schema/check-routes.json", out, new(route.Report))
		})
	}
}

// Uneven links of all switches of a level are one line, and all groups in JSON.
func TestCheckRoutes_OneCause(t *testing.T) {
	const tree = "fat-tree:levels=3,radix=8,pods=4"
	f, err := sim.Build(tree)
	if err != nil {
		t.Fatal(err)
	}
	var events strings.Builder
	for _, n := range f.Nodes {
		for lid, port := range n.LFT {
			if strings.Contains(n.ID, "spine") && port > 4 && port <= 8 {
				fmt.Fprintf(&events, "0s lft %s %d 8\n", n.ID, lid) // as opensm's engine minhop
			}
		}
	}
	args := []string{"check", "routes", "--sim", tree, "--sim-events", cmdtest.WriteFile(t, events.String())}
	code, out, errOut := program.Run(t, nil, args...)
	if code != cmdutil.ExitFindings || errOut != "" {
		t.Errorf("got exit code %d, error output %q, want %d", code, errOut, cmdutil.ExitFindings)
	}
	cmdtest.Golden(t, "cause.golden", out)
	_, out, _ = program.Run(t, nil, append(args, "--json")...)
	var report route.Report
	cmdtest.CheckDocument(t, "../../schema/check-routes.json", out, &report)
	if len(report.Findings) != 1 || report.Findings[0].NodeGUID != nil || strings.Count(out, `"level":1,"to":null`) != 16 {
		t.Errorf("got %d findings, want one with 16 groups of links: %s", len(report.Findings), out)
	}
}

func TestCheckRoutes_ExitCodes(t *testing.T) {
	truncated := filepath.Join(t.TempDir(), "opensm.fdbs")
	text, err := os.ReadFile(dumps + "/opensm.fdbs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(truncated, text[:300], 0o644); err != nil {
		t.Fatal(err)
	}
	const section = "dump_ucast_routes: "
	part := cmdtest.WriteFile(t, strings.Join(strings.Split(string(text), section)[:2], section)) // the table of one switch
	for _, test := range []struct {
		args string
		code int
		err  string
	}{
		{"--sim demo", cmdutil.ExitFindings, ""}, // a link that is not active
		{"--sim fat-tree", cmdutil.ExitOK, ""},
		{"--sim torus,sm=minhop", cmdutil.ExitFindings, ""},
		{"--sim torus", cmdutil.ExitOK, ""},
		{"--sim torus,sm=minhop --fail-on unreachable", cmdutil.ExitOK, ""},
		{"--sim torus,sm=minhop --finding unreachable", cmdutil.ExitOK, ""},
		{"--sim torus,sm=minhop --finding credit", cmdutil.ExitUsage, "invalid"},
		{"--tables /nonexistent", cmdutil.ExitUsage, "read routing: open /nonexistent: no such file"},
		{"--tables " + dumps + "/opensm.fdbs", cmdutil.ExitUsage, "hint: give both files: --tables TOPOLOGY," + dumps + "/opensm.fdbs\n"},
		{"--tables " + dumps + "/opensm-subnet.lst", cmdutil.ExitUsage, "no forwarding tables, only nodes and links"},
		{"--tables " + dumps + "/opensm-subnet.lst," + part, cmdutil.ExitPartial, ""},
		{"--tables " + truncated + "," + dumps + "/opensm-subnet.lst", cmdutil.ExitPartial, "opensm.fdbs:11: got"},
		{"--tables " + dumps + " --lmc 8", cmdutil.ExitUsage, "want 0 to 7"},
		{"--tables " + dumps + " --sim demo", cmdutil.ExitUsage, "are mutually exclusive"},
		{"--sim demo --diff " + dumps + "/opensm.fdbs", cmdutil.ExitUsage, "a topology is missing"},
		{"--sim demo --diff " + dumps + "/opensm-subnet.lst", cmdutil.ExitUsage, "no forwarding tables"},
		{"--sim demo --sm-key x@y", cmdutil.ExitUsage, "SM_Key"},
		{"--tables " + dumps + " --sm-key 1", cmdutil.ExitUsage, "are mutually exclusive"},
		{"--sim demo --lmc 1", cmdutil.ExitUsage, "has no effect without --tables"},
		{"--sim demo x", cmdutil.ExitUsage, `unexpected argument "x"`},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, _, err := program.Run(t, nil, append([]string{"check", "routes"}, strings.Fields(test.args)...)...)
			if code != test.code || !strings.Contains(err, test.err) || (err != "") != (test.err != "") {
				t.Errorf("got exit code %d, error output %q; want %d, %q", code, err, test.code, test.err)
			}
		})
	}
}

// A stored routing equals itself, and differs from that of another routing engine.
func TestCheckRoutes_Diff(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "saved")
	program.Run(t, nil, "check", "routes", "--sim", "torus,sm=minhop", "--save", saved)
	code, out, _ := program.Run(t, nil, "check", "routes", "--tables", saved, "--diff", saved, "--fail-on", "unreachable")
	if code != cmdutil.ExitOK || strings.Contains(out, "changed:") || !strings.HasSuffix(out, "\nno differences from "+saved+"\n") {
		t.Errorf("got exit code %d and\n%s\nwant no changes", code, out)
	}
	partial := filepath.Join(t.TempDir(), "partial")
	mute := cmdtest.WriteFile(t, "0s mute switch-0-0-0 LinearForwardingTable\n")
	program.Run(t, nil, "check", "routes", "--sim", "torus,sm=minhop", "--sim-events", mute, "-t", "20", "--save", partial)
	code, out, _ = program.Run(t, nil, "check", "routes", "--tables", partial, "--diff", partial, "--fail-on", "unreachable")
	if want := "\nno differences from " + partial + " in the tables that were read\n"; code != cmdutil.ExitPartial || !strings.HasSuffix(out, want) {
		t.Errorf("got exit code %d and\n%s\nwant %d, %q", code, out, cmdutil.ExitPartial, want)
	}
	// Nodes that a truncated file lacks are not new.
	whole, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	cut := cmdtest.WriteFile(t, string(whole[:len(whole)/2]))
	code, out, warnings := program.Run(t, nil, "check", "routes", "--tables", saved, "--diff", cut, "--fail-on", "unreachable")
	if code != cmdutil.ExitPartial || strings.Contains(out, "changed:") || !strings.Contains(warnings, "warning: "+cut+":") || !strings.Contains(warnings, ": the file is truncated\n") {
		t.Errorf("truncated: got exit code %d, %s and\n%s\nwant %d, no changes, and a warning", code, warnings, out, cmdutil.ExitPartial)
	}
	code, out, _ = program.Run(t, nil, "check", "routes", "--sim", "torus,sm=updown", "--diff", saved)
	if code != cmdutil.ExitFindings || !strings.Contains(out, "LIDs re-routed, for example LID ") {
		t.Errorf("got exit code %d and\n%s\nwant changes", code, out)
	}
}

func TestCheckRoutes_CSV(t *testing.T) {
	_, out, _ := program.Run(t, nil, "check", "routes", "--sim", "torus,sm=minhop", "--csv")
	records, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(records) != 2 || records[1][0] != "credit-loop" {
		t.Errorf("got records %q, error %v; want one with a credit loop", records, err)
	}
}

func TestCheck_NoCommand(t *testing.T) {
	for _, args := range [][]string{{"check"}, {"check", "x"}} {
		if code, _, err := program.Run(t, nil, args...); code != cmdutil.ExitUsage || !strings.Contains(err, "ibkit check --help") {
			t.Errorf("%q: got exit code %d, error output %q", args, code, err)
		}
	}
}

// A refusingPort receives path records to some LIDs as rejections.
type refusingPort struct {
	umad.Port
	lids func(ib.LID) bool
}

func (p refusingPort) Recv(m *umad.Message, deadline time.Time) error {
	err := p.Port.Recv(m, deadline)
	if err != nil || m.MAD.Class() != mad.ClassSA || m.MAD.Attr() != mad.AttrPathRecord {
		return err
	}
	var path mad.PathRecord
	first, _ := mad.ClassSA.DataRange()
	if err := mad.Decode(&path, m.MAD[first:]); err == nil && p.lids(path.DLID) {
		m.MAD.SetStatus(mad.StatusRequestDenied)
	}
	return nil
}

// TestCheckRoutes_PartialPathSLs checks the result if subnet administration rejects the path
// records to one LID, and the error if it rejects all of them.
func TestCheckRoutes_PartialPathSLs(t *testing.T) {
	for _, test := range []struct {
		name, args string
		lids       func(ib.LID) bool
		code       int
		out, err   string
	}{
		{"all answered", "", func(ib.LID) bool { return false }, cmdutil.ExitFindings, "credit-loop", ""},
		{"one LID", "", func(lid ib.LID) bool { return lid == 6 }, cmdutil.ExitPartial, "credit-loop", "path to LID 6: "},
		{"one LID, JSON", "--json", func(lid ib.LID) bool { return lid == 6 }, cmdutil.ExitPartial, `"partial":true`, "path to LID 6: "},
		{"no LID", "", func(ib.LID) bool { return true }, cmdutil.ExitFailed, "", "read service levels of paths: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			e := &cmdutil.Env{In: strings.NewReader(""), Out: &out, ErrOut: &errOut, Getenv: func(string) string { return "" }}
			e.Transport = func(p umad.Port) umad.Port { return refusingPort{p, test.lids} }
			code := program(t.Context(), e, append(strings.Fields("check routes --sim credit-loop --path-sls --limit 1"), strings.Fields(test.args)...))
			if code != test.code || !strings.Contains(out.String(), test.out) || !strings.Contains(errOut.String(), test.err) || test.err == "" && errOut.Len() > 0 {
				t.Errorf("got exit code %d, want %d with %q and %q\n%s%s", code, test.code, test.out, test.err, &out, &errOut)
			}
		})
	}
}
