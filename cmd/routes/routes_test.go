package routes

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/route"
)

var program = cmdtest.Native(New)

// dumps is the directory with files of opensm for one fabric.
const dumps = "../../internal/tool/route/dump/testdata/opensm"

func TestRoutes_Views(t *testing.T) {
	for name, args := range map[string]string{
		"switch":    "--sim demo leaf1",
		"to":        "--sim demo --to node07",
		"all":       "--sim dead-end --all --lid 1-4 --ports 255,1 leaf*",
		"multicast": "--sim broken-multicast --multicast --lid 0xc000-0xc010",
		"using":     "--sim demo --using leaf1/1",
		"balance":   "--sim unbalanced-leaf --balance",
		"files":     "--tables " + dumps + " spine001",
		"csv":       "--sim demo --lid 5,7-8 --csv 0x0002c90000800200",
		"usingcsv":  "--sim demo --using 3/3 --csv",
		"loads":     "--sim unbalanced-leaf --balance --csv leaf001",
		"groups":    "--sim broken-multicast --multicast --csv",
	} {
		t.Run(name, func(t *testing.T) {
			_, out, err := program.Run(t, nil, append([]string{"routes"}, strings.Fields(args)...)...)
			if err != "" {
				t.Errorf("got error output %q", err)
			}
			cmdtest.Golden(t, name+".golden", out)
			if strings.Contains(args, "--csv") {
				if _, err := csv.NewReader(strings.NewReader(out)).ReadAll(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestRoutes_JSON(t *testing.T) {
	for _, args := range []string{
		"--sim demo", "--sim dead-end --all --lid 1-4", "--sim demo --using leaf1/1", "--sim demo --using leaf1/3", "--sim unbalanced-leaf --balance",
		"--sim broken-multicast --multicast", "--tables " + dumps,
	} {
		t.Run(args, func(t *testing.T) {
			_, out, _ := program.Run(t, nil, append([]string{"routes", "--json"}, strings.Fields(args)...)...)
			cmdtest.CheckDocument(t, "../../schema/routes.json", out, new(route.ReportTables))
		})
	}
}

func TestRoutes_ExitCodes(t *testing.T) {
	for _, test := range []struct {
		args string
		code int
		err  string
	}{
		{"--sim demo", cmdutil.ExitOK, ""},
		{"--sim demo --balance", cmdutil.ExitOK, ""},
		{"--sim unbalanced-leaf --balance", cmdutil.ExitFindings, ""},
		{"--sim unbalanced-leaf --balance leaf002", cmdutil.ExitOK, ""},
		{"--tables " + dumps + "/opensm-subnet.lst", cmdutil.ExitUsage, "no forwarding tables"},
		{"--sim demo --lid 500", cmdutil.ExitFailed, "select entries: no entry matches"},
		{"--sim demo --ports 99", cmdutil.ExitFailed, "select entries: no entry matches"},
		{"--sim demo --multicast", cmdutil.ExitOK, ""},
		{"--sim demo --multicast --lid 0xc000", cmdutil.ExitFailed, "select entries: no entry matches"},
		{"--tables " + dumps + "/opensm.fdbs", cmdutil.ExitUsage, "a topology is missing"},
		{"--sim demo nosuch", cmdutil.ExitFailed, "find name nosuch: no node has this name"},
		{"--sim demo node01", cmdutil.ExitFailed, "find node01: got CA, want a switch"},
		{"--sim demo 4", cmdutil.ExitFailed, "find 4: got CA, want a switch"},
		{"--sim demo --to nosuch", cmdutil.ExitFailed, "find name nosuch: no node has this name"},
		{"--sim demo --using leaf1", cmdutil.ExitUsage, "want SWITCH[NUMBER]"},
		{"--sim demo --using leaf1/17", cmdutil.ExitFailed, "find leaf1[17]: the ports of leaf1 have the numbers 1 to 16"},
		{"--sim demo --using leaf1/0", cmdutil.ExitFailed, "find leaf1[0]: the ports of leaf1 have the numbers 1 to 16"},
		{"--sim demo --using leaf1/x", cmdutil.ExitUsage, "want SWITCH[NUMBER]"},
		{"--sim demo --using leaf*/1", cmdutil.ExitFailed, "find leaf*/1: got 4 switches, want 1"},
		{"--sim demo --lid 0xc000", cmdutil.ExitUsage, "want a LID or a range of LIDs, 1 to 0xbfff"},
		{"--sim demo --lid 9-5", cmdutil.ExitUsage, "want a LID or a range"},
		{"--sim demo --multicast --lid 5", cmdutil.ExitUsage, "0xc000 to 0xfffe"},
		{"--sim demo --ports 256", cmdutil.ExitUsage, `invalid --ports: "256" is not a port number from 0 to 255`},
		{"--sim demo --multicast --to node07", cmdutil.ExitUsage, "are mutually exclusive"},
		{"--sim demo --sm_port 1", cmdutil.ExitUsage, "has no effect"},
		{"--sim demo --using leaf1/1 leaf2", cmdutil.ExitUsage, `unexpected argument "leaf2"`},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, _, err := program.Run(t, nil, append([]string{"routes"}, strings.Fields(test.args)...)...)
			if code != test.code || !strings.Contains(err, test.err) || (err != "") != (test.err != "") {
				t.Errorf("got exit code %d, error output %q; want %d, %q", code, err, test.code, test.err)
			}
		})
	}
}

// A switch without a table among others with tables makes the result partial.
func TestRoutes_Partial(t *testing.T) {
	text, err := os.ReadFile(dumps + "/opensm.fdbs")
	if err != nil {
		t.Fatal(err)
	}
	const section = "dump_ucast_routes: "
	sections := strings.Split(string(text), section)
	part := cmdtest.WriteFile(t, section+sections[2]) // not that of leaf001
	code, out, _ := program.Run(t, nil, "routes", "--tables", dumps+"/opensm-subnet.lst,"+part, "leaf001")
	if code != cmdutil.ExitPartial || !strings.Contains(out, "unknown table") {
		t.Errorf("got exit code %d and %q, want a partial result", code, out)
	}
}

// Tables that change during each read are printed with a warning. The events count the
// packets of the scan and of the reads, of which each read has three.
func TestRoutes_Changing(t *testing.T) {
	var events strings.Builder
	for packet := range 400 {
		fmt.Fprintf(&events, "@%d lft leaf001 5 %d\n", packet+1, 3+packet/3%2)
	}
	code, out, err := program.Run(t, nil, "routes", "--sim", "fat-tree:radix=4,pods=4", "--sim-events", cmdtest.WriteFile(t, events.String()), "leaf001")
	if code != cmdutil.ExitOK || !strings.Contains(err, "warning: leaf001: its tables changed during each read") || !strings.Contains(out, "leaf001 (") {
		t.Errorf("got exit code %d, error output %q and\n%s", code, err, out)
	}
}

func TestBlockLIDs(t *testing.T) {
	got := blockLIDs([]route.LIDRange{{First: 5, Last: 5}, {First: 60, Last: 130}})
	blocks := map[int]bool{}
	for _, lid := range got {
		blocks[int(lid)/64] = true
	}
	if !slices.Equal([]bool{blocks[0], blocks[1], blocks[2], blocks[3]}, []bool{true, true, true, false}) {
		t.Errorf("got LIDs %v, want those of the blocks 0 to 2", got)
	}
}
