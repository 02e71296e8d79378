package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// groupFabric has three leaves with two hosts each.
const groupFabric = "fat-tree:radix=20,pods=3,hosts=2,spines=2"

// groupLines are command lines about two multicast groups: three hosts A, B and C are
// members of the first group, only host C is a member of the second, and N is in neither.
var groupLines = []string{
	"ibtracert -m G1 A B", "ibtracert -m G1 B A", "ibtracert -m G1 A C", "ibtracert -n -m G1 C B", "ibtracert --mlid G1 --no_info A B", "ibtracert -m G1 A A",
	"ibtracert -m G1 A N", "ibtracert -m G1 N A", "ibtracert -m G2 A C", "ibtracert -m G2 C A", "ibtracert -m G1 N N",
	"ibtracert -m G1 SWLID B", "ibtracert -n -m G1 SWLID B", "ibtracert -m G1 A SWLID", "ibtracert -m G1 SWLID SWLID", "ibtracert -m G1 SWLID N",
	"ibtracert -G -m G1 GUIDA GUIDB", "ibtracert -m G1 --node-name-map MAP A B", "ibtracert -f -m G1 A B", "ibtracert -v -m G1 A C", "ibtracert -vv -m G1 SWLID B",
	"ibtracert -t 20000 -m G1 A DEAD", "ibtracert -t 20000 -f -m G1 A DEAD", "ibtracert -m G1 --ports-file PAIR", "ibtracert -m 0xc3ff A B", "ibtracert -m 0xfffe A B",

	"ibroute -M SWLID", "ibroute -M -n SWLID", "ibroute -M SWLID G1 G2", "ibroute -M SWLID G2", "ibroute -M SWLID G1 G1", "ibroute -M -a SWLID G1 0xc021", "ibroute -Mv SWLID",
	"ibroute -M SWLID 0xc01f", "ibroute -Man SWLID 0xc020 0xc03f", "ibroute -M SWLID 0xc400", "ibroute -M SWLID 5 0xffff", "ibroute -MD 0,1",
	"dump_mfts", "dump_mfts -n", "dump_fts -M", "dump_fts -Mn G1 G1", "dump_fts -Ma G1 0xc020", "dump_fts -Mv G2",
}

// groupWords returns the words of groupLines with their replacements.
func groupWords(t *testing.T, s *ibsimtest.Sim, groups map[string]string) []string {
	t.Helper()
	dir := t.TempDir()
	pair, names := filepath.Join(dir, "pair"), filepath.Join(dir, "names")
	a, b := lidOf(t, s, "host00001"), lidOf(t, s, "host00003")
	sw := lidLine.FindStringSubmatch(s.MustRunC(t, "", "smpquery", "portinfo", "-D", "0,1", "0").Stdout)[1]
	for path, text := range map[string]string{pair: a + " " + b + "\n", names: "0x0002c90000800000 \"renamed\"\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return []string{
		"G1", groups["1"], "G2", groups["2"], "DEAD", "40000", "MAP", names, "PAIR", pair, "SWLID", sw,
		"GUIDA", portGUID(t, s, a), "GUIDB", portGUID(t, s, b),
		" A", " " + a, " B", " " + b, " C", " " + lidOf(t, s, "host00006"), " N", " " + lidOf(t, s, "host00005"),
	}
}

// portGUID returns the GUID of the port with a LID.
func portGUID(t *testing.T, s *ibsimtest.Sim, lid string) string {
	t.Helper()
	out := s.MustRunC(t, "", "smpquery", "nodeinfo", lid).Stdout
	_, after, found := strings.Cut(out, "PortGuid:")
	if !found {
		t.Fatal(fmt.Errorf("no port GUID in %q", out))
	}
	return strings.TrimLeft(strings.Fields(after)[0], ".")
}

// TestRouteTables_ServedGroups compares the tools on the group tables that ibkit's
// subnet manager made.
func TestRouteTables_ServedGroups(t *testing.T) {
	s := serveFabric(t, groupFabric)
	for _, host := range []string{"host00001", "host00003", "host00006"} {
		joinGroup(t, s, host, 1)
	}
	joinGroup(t, s, "host00006", 2)
	compareSMP(t, s, "", groupLines, groupWords(t, s, map[string]string{"1": "0xc001", "2": "0xc002"})...)
}

// brokenTables are commands that change the tables or agents in a fabric with two leaves
// and two spines. The first spine has LID 7.
var brokenTables = []string{
	"lft spine001 4 200", "lft spine001 4 1", "lft spine001 4 255", "lft spine001 4 0", "lft spine001 4 3", "lft leaf002 4 2", "top spine001 3", "top spine001 0xffff",
	"lft leaf001 4 0", "lft leaf001 1 255", "mute spine001 LinearForwardingTable", "mute spine001 SwitchInfo", "mute spine001 NodeDescription", "mute leaf002 NodeInfo",
	"mute host00003 PortInfo", "mute host00003 NodeDescription", "hang host00003", "hang spine001", "unlink leaf002[1]", "down spine001",
}

// TestRouteTables_Broken compares the tools on tables with loops, invalid ports and
// limits, and on agents that do not respond.
func TestRouteTables_Broken(t *testing.T) {
	t.Parallel()
	for i, command := range brokenTables {
		t.Run(command, func(t *testing.T) {
			s := serveFabric(t, "fat-tree:radix=4,pods=2,spines=2")
			ctl(t, s, command)
			compareSMP(t, s, "", ibsimtest.Share([]string{
				"ibtracert -t 20000 1 4", "ibroute -t 20000 7 0 8", "ibtracert -t 20000 4 1", "ibroute -t 20000 -a 7 1 8", "ibtracert -t 20000 -f 1 4", "ibtracert -t 20000 -n 7 4", "ibtracert -t 20000 1 7",
			}, i, 3))
		})
	}
}

// TestRouteTables_MissingBlock compares the tools on a switch that does not return a block
// in its table. In its place, dump_fts prints the entries from the block before it.
func TestRouteTables_MissingBlock(t *testing.T) {
	s := serveFabric(t, "fat-tree:radix=4,pods=2,spines=2")
	for _, command := range []string{"lft spine001 300 2", "lft spine001 70 1", "top spine001 300"} {
		ctl(t, s, command)
	}
	for block := range 4 {
		t.Run(fmt.Sprint(block), func(t *testing.T) {
			ctl(t, s, fmt.Sprintf("mute spine001 LinearForwardingTable %d", block))
			defer ctl(t, s, "mute spine001 off")
			compareSMP(t, s, "", []string{"ibroute -t 20000 7", "ibroute -t 20000 -n 7", "ibroute -t 20000 -an 7 60 300"})
			want, got := s.MustRunC(t, "", "dump_fts", "-t", "20000", "-n"), s.MustRun(t, "", ibkit(), "dump_fts", "-t", "20000", "-n")
			if warnings(got) != warnings(want) || !strings.Contains(got.Stderr, fmt.Sprintf("SMA LID 7; MAD status 0x0 AM 0x%x\n", block)) {
				t.Errorf("got %swant %s", got.Stderr, want.Stderr)
			}
			for line := range strings.Lines(got.Stdout) {
				if !strings.Contains(want.Stdout, line) && !strings.Contains(line, "lids dumped") {
					t.Errorf("got line %swhich dump_fts does not print", line)
				}
			}
		})
	}
}

// TestRouteTables_EndLID checks the only entry that ibroute omits: the end of the range if
// it is a multiple of 64.
func TestRouteTables_EndLID(t *testing.T) {
	s := serveFabric(t, "single-switch:hosts=140,radix=150")
	total := regexp.MustCompile(`(?m)^\d+ valid lids dumped \n`)
	for i, start := range []int{0, 64} {
		for _, end := range ibsimtest.Share([]int{64, 65, 128, 0}, i, 2) {
			t.Run(fmt.Sprintf("%d %d", start, end), func(t *testing.T) {
				args := []string{"-D", "0,1", fmt.Sprint(start), fmt.Sprint(end)}
				want, got := s.MustRunC(t, "", "ibroute", args...), s.MustRun(t, "", ibkit(), append([]string{"ibroute"}, args...)...)
				ours, theirs := total.ReplaceAllString(got.Stdout, ""), total.ReplaceAllString(want.Stdout, "")
				if end == 0 || end%64 != 0 || end < start {
					compareResults(t, want, got)
				} else if rest, found := strings.CutPrefix(ours, theirs); !found || strings.Count(rest, "\n") != 1 || !strings.HasPrefix(rest, fmt.Sprintf("0x%04x ", end)) {
					t.Errorf("got\n%swant the output of the C tool with LID %d:\n%s", got.Stdout, end, want.Stdout)
				}
			})
		}
	}
}

// longTimeout is a timeout in milliseconds for C tools that query subnet administration: on
// a busy machine opensm takes longer than their second.
const longTimeout = "20000"
