package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// routeLines are command lines for the tools that print forwarding tables and routes.
// Words in capitals are replaced with the addresses of two hosts and a switch.
var routeLines = []string{
	"dump_fts", "dump_fts -a", "dump_fts -n", "dump_fts -na", "dump_fts 3", "dump_fts 3 5", "dump_fts 0x2 0x3", "dump_fts 5 3", "dump_fts 1 9999", "dump_fts x",
	"dump_fts -M", "dump_fts -Mn", "dump_fts -Mv 0xc000 0xc003", "dump_fts -Ma 0xc000 0xc003", "dump_fts -Man 0xc000 0xc003", "dump_fts -Ma 5 0xc001", "dump_fts --node-name-map MAP",
	"dump_fts -h", "dump_fts -V", "dump_fts -G", "dump_fts -C nosuch", "dump_fts -t 0",
	"dump_lfts", "dump_lfts -n", "dump_mfts", "dump_mfts -n", "dump_lfts 2 3",

	"ibroute SWLID", "ibroute -a SWLID", "ibroute -n SWLID", "ibroute SWLID 3", "ibroute SWLID 2 4", "ibroute -an SWLID", "ibroute -D 0,1", "ibroute -D 0,1 1 3", "ibroute -G SWGUID",
	"ibroute -M SWLID", "ibroute -Mn SWLID", "ibroute -Ma SWLID 0xc000 0xc002", "ibroute -Mv SWLID 0xc000 0xc002", "ibroute -MD 0,1", "ibroute --node-name-map MAP SWLID",
	"ibroute A", "ibroute", "ibroute -h", "ibroute -V", "ibroute 0", "ibroute x", "ibroute -t 20000 DEAD", "ibroute -C nosuch SWLID", "ibroute -G 0xdead", "ibroute -D 0",

	"ibtracert A B", "ibtracert B A", "ibtracert -n A B", "ibtracert A A", "ibtracert A SWLID", "ibtracert SWLID B", "ibtracert SWLID SWLID", "ibtracert -v A B", "ibtracert -f A B",
	"ibtracert -G GUIDA GUIDB", "ibtracert -nG GUIDB GUIDA", "ibtracert --node-name-map MAP A B", "ibtracert --ports-file PAIRS", "ibtracert -n --ports-file PAIRS",
	"ibtracert --ports-file BADPAIRS", "ibtracert --ports-file /nonexistent", "ibtracert -t 20000 A DEAD", "ibtracert -t 20000 -f A DEAD", "ibtracert -t 20000 DEAD A",
	"ibtracert A", "ibtracert", "ibtracert -h", "ibtracert -V", "ibtracert x A", "ibtracert A 0", "ibtracert -G 0xdead GUIDA", "ibtracert -D 0 0,1", "ibtracert -C nosuch A B",
	"check_lft_balance -l LFTS -i CACHE", "check_lft_balance -v -l LFTS -i CACHE", "check_lft_balance -vel LFTS -i CACHE", "check_lft_balance -vlPLAIN -iCACHE",
	"check_lft_balance -h", "check_lft_balance -x -l LFTS", "check_lft_balance", "check_lft_balance -l LFTS", "check_lft_balance -l LFTS -i",

	"ibfindnodesusing -R SWGUID 1", "ibfindnodesusing -R SWGUID 2", "ibfindnodesusing -R SWGUID 3", "ibfindnodesusing -R SWGUID 4", "ibfindnodesusing -R SWGUID 9",
	"ibfindnodesusing -R SWGUID 03", "ibfindnodesusing -R GUIDA 1", "ibfindnodesusing -R 0xDEAD 1", "ibfindnodesusing -h", "ibfindnodesusing -xR", "ibfindnodesusing -C",

	"ibtracert -m 0xc000 A B", "ibtracert -m 0xc000 -n A B", "ibtracert -m 0xc000 A A", "ibtracert -m 0xc000 SWLID SWLID", "ibtracert -m 0xd000 A B", "ibtracert -m 5 A B",
}

// TestRouteTables_Served compares the tools on the tables from ibkit's subnet manager.
func TestRouteTables_Served(t *testing.T) {
	t.Parallel()
	const fabric = "fat-tree:radix=4,pods=2,spines=2"
	f, err := sim.Build(fabric)
	if err != nil {
		t.Fatal(err)
	}
	compareRouteTables(t, serveFabric(t, fabric), f, routeLines)
}

// compareRouteTables compares the tools that print forwarding tables and routes with
// Debian's.
func compareRouteTables(t *testing.T, s *ibsimtest.Sim, f *sim.Fabric, lines []string) {
	t.Helper()
	dir := t.TempDir()
	words := routeWords(t, s, f, dir)
	tables, plain, cache, topology := filepath.Join(dir, "lfts"), filepath.Join(dir, "plain"), filepath.Join(dir, "cache"), filepath.Join(dir, "topology")
	s.MustRun(t, "", ibkit(), "ibnetdiscover", "--cache", cache) // the same as the C tool's
	for _, file := range []struct{ path, line string }{{tables, "dump_lfts"}, {plain, "dump_fts -n"}, {topology, "ibnetdiscover"}} {
		args := strings.Fields(file.line)
		writeFile(t, file.path, s.MustRunC(t, "", args[0], args[1:]...).Stdout)
	}
	compareSMP(t, s, "", lines, append([]string{"LFTS", tables, "PLAIN", plain, "CACHE", cache}, words...)...)
	compareNative(t, s, plain, cache, topology)
}

// routeWords returns the words of routeLines with their replacements, and writes the files
// that they name.
func routeWords(t *testing.T, s *ibsimtest.Sim, f *sim.Fabric, dir string) []string {
	t.Helper()
	var hosts []string
	sw := ""
	for _, n := range f.Nodes {
		if !n.IsSwitch() {
			hosts = append(hosts, n.Ports[1].GUID.String())
		} else if sw == "" {
			sw = n.Info.NodeGUID.String()
		}
	}
	first, last := hosts[0], hosts[len(hosts)-1]
	a, b := portLID(t, s, first), portLID(t, s, last)
	pairs, badPairs, names := filepath.Join(dir, "pairs"), filepath.Join(dir, "badpairs"), filepath.Join(dir, "names")
	writeFile(t, pairs, fmt.Sprintf("# pairs\n%s %s\n\n  %s %s more\n", a, b, b, a))
	writeFile(t, badPairs, fmt.Sprintf("%s %s\n%s\n", a, b, b))
	writeFile(t, names, fmt.Sprintf("%s \"renamed switch\"\n", sw))
	return []string{
		"DEAD", "40000", "MAP", names, "BADPAIRS", badPairs, "PAIRS", pairs, "SWGUID", sw, "SWLID", portLID(t, s, sw),
		"GUIDA", first, "GUIDB", last, " A", " " + a, " B", " " + b,
	}
}

// writeFile writes a file for a test.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// compareNative compares the entries that ibkit routes reads over ibsim and from files
// with dump_fts.
func compareNative(t *testing.T, s *ibsimtest.Sim, dump, cache, topology string) {
	t.Helper()
	text, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	guid := ""
	for line := range strings.Lines(string(text)) {
		var lid, port int
		if _, after, ok := strings.Cut(line, " guid "); ok {
			guid = after[:len("0x0000000000000000")]
		} else if n, _ := fmt.Sscanf(line, "0x%x %d", &lid, &port); n == 2 {
			want = append(want, fmt.Sprintf("%s,%d,%d", guid, lid, port))
		}
	}
	for _, args := range [][]string{{"routes", "--csv"}, {"routes", "--csv", "--tables", dump + "," + cache}, {"routes", "--csv", "--tables", dump + "," + topology}} {
		var got []string
		for i, line := range strings.Split(strings.TrimSpace(s.MustRun(t, "", ibkit(), args...).Stdout), "\n") {
			if fields := strings.Split(line, ","); i > 0 {
				got = append(got, strings.Join([]string{fields[0], fields[2], fields[3]}, ","))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: dump_fts (-), ibkit (+)\n%s", args, d)
		}
	}
}

// portLID returns the LID of the port with a GUID.
func portLID(t *testing.T, s *ibsimtest.Sim, guid string) string {
	t.Helper()
	r := s.MustRunC(t, "", "ibaddr", "-t", longTimeout, "-GL", guid)
	var first, last int
	if _, err := fmt.Sscanf(r.Stdout, "LID start %d end %d", &first, &last); err != nil {
		t.Fatalf("find LID of %s: %v in %q", guid, err, r.Stdout)
	}
	return fmt.Sprint(first)
}
