package dump

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/route"
)

// pair is a switch with two hosts.
const pair = `vendid=0x2c9
devid=0x1
sysimgguid=0x10
switchguid=0x10(10)
Switch	4 "S-0000000000000010"		# "swA" base port 0 lid 1 lmc 0
[1]	"H-0000000000000020"[1](20) 		# "n1 HCA-1" lid 3 4xQDR
[2]	"H-0000000000000030"[1](30) 		# "n2 HCA-1" lid 6 4xQDR

vendid=0x2c9
devid=0x1
sysimgguid=0x20
caguid=0x20
Ca	1 "H-0000000000000020"		# "n1 HCA-1"
[1](20) 	"S-0000000000000010"[1]		# lid 3 lmc 0 "swA" lid 1 4xQDR

vendid=0x2c9
devid=0x1
sysimgguid=0x30
caguid=0x30
Ca	1 "H-0000000000000030"		# "n2 HCA-1"
[1](30) 	"S-0000000000000010"[2]		# lid 6 lmc 0 "swA" lid 1 4xQDR
`

// Damaged tables are read, and their damage is a failure with its line.
func TestLoad_Damaged(t *testing.T) {
	const head = "Unicast lids [0x0-0x6] of switch Lid 1 guid 0x0000000000000010 (swA):\n"
	const section = "dump_ucast_routes: Switch 0x0000000000000010\nLID    : Port : Hops : Optimal\n"
	for _, c := range []struct {
		name, text string
		want       string // failures, by line
		ports      []uint8
	}{
		{"complete", head + "0x0001 000\n0x0003 001\n0x0006 002\n3 valid lids dumped \n", "", []uint8{3: 1, 6: 2}},
		{"LID twice", head + "0x0003 001\n0x0003 002\n0x0006 002\n2 valid lids dumped \n", "3: LID 3 has two entries, ports 1 and 2: the first counts", []uint8{3: 1, 6: 2}},
		{"no end", head + "0x0003 001\n", "2: the table of the switch has no end: lines are missing", []uint8{3: 1, 6: route.NoRoute}},
		{"no end before the next table", head + "0x0003 001\nMulticast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x0000000000000010 (swA):\n0 valid mlids dumped\n", "3: the table of the switch has no end: lines are missing", []uint8{3: 1}},
		{"lines missing", head + "0x0003 001\n2 valid lids dumped \n", "3: got 1 entries, want 2 as in this line", []uint8{3: 1, 6: route.NoRoute}},
		{"no entry for the last LID", head + "0x0001 000\n0x0003 001\n2 valid lids dumped \n", "", []uint8{3: 1, 6: route.NoRoute}},
		{"entry invalid", head + "0x0001 000\n0x0003 x01\n0x0006 002\n3 valid lids dumped \n", "3: got \"0x0003 x01\", want a LID and a port such as 0x0001 001\n5: got 2 entries, want 3 as in this line", []uint8{3: route.NoRoute, 6: 2}},
		{"byte order mark and CR LF", "\ufeff" + strings.ReplaceAll(head+"0x0003 001\n1 valid lids dumped\n", "\n", "\r\n"), "", []uint8{3: 1}},
		{"entry invalid, of opensm", section + "0x0001 : 001  : 01   : yes\n0x0003 : x\n0x0006 : 002  : 01   : yes\n", "4: got \"x\", want a port from 000 to 255 or UNREACHABLE", []uint8{1: 1, 3: route.NoRoute, 6: 2}},
		{"line of stderr, of opensm", section + "0x0003 : 001  : 01   : yes\nibwarn: x\n0x0006 : 002  : 01   : yes\n", "4: got \"ibwarn: x\", want a switch or an entry such as 0x0001 : 001", []uint8{3: 1, 6: 2}},
		{"multicast entry invalid", head + "0x0003 001\n1 valid lids dumped\nMulticast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x0000000000000010 (swA):\n0xc000      y\n0xc001      x\n", "5: got \"y\", want an x in the columns of ports\n6: the table of the switch has no end: lines are missing", []uint8{3: 1}},
		{"LID twice, of opensm", section + "0x0003 : 001  : 01   : yes\n0x0003 : 002  : 01   : yes\n", "4: LID 3 has two entries, ports 1 and 2: the first counts", []uint8{3: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			topology, tables := filepath.Join(dir, "topology"), filepath.Join(dir, "tables")
			for path, text := range map[string]string{topology: pair, tables: c.text} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r := mustLoad(t, topology, tables)
			var failures []string
			for _, f := range r.Failures {
				if f.Node == nil || f.Node.GUID != 0x10 {
					t.Errorf("got failure of node %v, want the switch", f.Node)
				}
				failures = append(failures, strings.TrimPrefix(f.Err.Error(), tables+":"))
			}
			if got := strings.Join(failures, "\n"); got != c.want {
				t.Errorf("got failures %q, want %q", got, c.want)
			}
			table := r.NodeByGUID(0x10).Tables
			if int(table.Top) != len(c.ports)-1 && len(c.ports) > 4 {
				t.Errorf("got highest LID %d, want %d", table.Top, len(c.ports)-1)
			}
			for lid, want := range c.ports {
				if got := table.Lookup(ib.LID(lid)); want != 0 && got != want {
					t.Errorf("LID %d: got port %d, want %d", lid, got, want)
				}
			}
		})
	}
}

// A file without any valid line is a failure beside a topology and another file with tables.
func TestLoad_ForeignFile(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "topology"), filepath.Join(dir, "tables"), filepath.Join(dir, "foreign")}
	tables := "Unicast lids [0x0-0x3] of switch Lid 1 guid 0x0000000000000010 (swA):\n0x0003 001\n1 valid lids dumped\n"
	for i, text := range []string{"ibwarn: x\n" + pair, tables, "hello\n"} {
		if err := os.WriteFile(paths[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := mustLoad(t, paths...)
	if got := r.NodeByGUID(0x10).Tables.Lookup(3); got != 1 || len(r.Failures) != 2 {
		t.Errorf("got port %d, failures %+v, want port 1, two failures", got, r.Failures)
	}
	for i, want := range []string{paths[0] + ":1:1: got \"ibwarn: x\"", paths[2] + ":1: got \"hello\""} {
		if i < len(r.Failures) && (!strings.Contains(r.Failures[i].Err.Error(), want) || r.Failures[i].Subject(nil) != "") {
			t.Errorf("got failure %v of %q, want %s of no node", r.Failures[i].Err, r.Failures[i].Subject(nil), want)
		}
	}
	if _, err := Load([]string{paths[0], paths[2]}, LoadOptions{}); err == nil || !strings.Contains(err.Error(), "hello") {
		t.Errorf("without tables: got %v, want the foreign file's error", err)
	}
}

// LIDs without an entry in a damaged table are not unreachable: their entries may be lost.
func TestLoad_LostEntries(t *testing.T) {
	const (
		head    = "Unicast lids [0x0-0x6] of switch Lid 1 guid 0x0000000000000010 (swA):\n"
		section = "dump_ucast_routes: Switch 0x0000000000000010\nLID    : Port : Hops : Optimal\n"
	)
	for _, test := range []struct {
		name, text string
		lost       map[route.Cause]uint64
	}{
		{"whole", head + "0x0001 000\n0x0003 001\n2 valid lids dumped\n", map[route.Cause]uint64{route.NoEntry: 1}},
		{"truncated", head + "0x0001 000\n0x0003 001\n", map[route.Cause]uint64{route.Unseen: 1}},
		{"entry lost", head + "0x0001 000\n0x0003 001\n3 valid lids dumped\n", map[route.Cause]uint64{route.Unseen: 1}},
		{"entry invalid", head + "0x0001 000\n0x0003 001\n0x0004 x\n2 valid lids dumped\n", map[route.Cause]uint64{route.Unseen: 1}},
		{"LID twice", head + "0x0001 000\n0x0003 001\n0x0003 001\n2 valid lids dumped\n", map[route.Cause]uint64{route.NoEntry: 1}},
		{"whole, of opensm", section + "0x0003 : 001  : 01   : yes\n0x0006 : UNREACHABLE\n", map[route.Cause]uint64{route.NoEntry: 1}},
		{"entry invalid, of opensm", section + "0x0003 : 001  : 01   : yes\n0x0006 : x\n", map[route.Cause]uint64{route.Unseen: 1}},
		{"other line, of opensm", section + "0x0003 : 001  : 01   : yes\nibwarn: x\n", map[route.Cause]uint64{route.Unseen: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			topology, tables := filepath.Join(dir, "topology"), filepath.Join(dir, "tables")
			for path, text := range map[string]string{topology: pair, tables: test.text} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r := mustLoad(t, topology, tables)
			for name, r := range map[string]*route.Routing{"read": r, "saved": again(t, r)} {
				a, err := route.Analyze(t.Context(), r, route.AnalyzeOptions{})
				if err != nil {
					t.Fatal(err)
				}
				lost := map[route.Cause]uint64{}
				for cause, n := range a.Lost {
					if n > 0 {
						lost[route.Cause(cause)] = n
					}
				}
				if a.Paths != 2 || !maps.Equal(lost, test.lost) {
					t.Errorf("%s: got %d paths, lost %v, want 2 and %v", name, a.Paths, lost, test.lost)
				}
			}
		})
	}
}
