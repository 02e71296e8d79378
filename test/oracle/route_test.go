//go:build oracle

package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/route"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// groupLines are command lines about two multicast groups: three hosts A, B and C are
// members of the first one, only host C of the second one, and N of none.
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

// TestRouteTables_Groups compares the tools on the tables of groups that opensm made, on
// ibsim and on a fabric that ibkit serves.
func TestRouteTables_Groups(t *testing.T) {
	const description = "fat-tree:radix=20,pods=3,hosts=2,spines=2"
	net := filepath.Join(t.TempDir(), "net")
	exportNet(t, description, net)
	for i, s := range []*ibsimtest.Sim{ibsimtest.New(t, net), serveFabric(t, "--sm=off", description)} {
		t.Run([]string{"ibsim", "served"}[i], func(t *testing.T) {
			s.NewSM(t, "host00001")
			for _, host := range []string{"host00001", "host00003", "host00006"} {
				joinGroup(t, s, host, 1)
			}
			joinGroup(t, s, "host00006", 2)
			groups := map[string]string{}
			within(t, time.Minute, "the tables lead to all members", func() bool {
				groups["1"], groups["2"] = groupLID(t, s, "1"), groupLID(t, s, "2")
				// opensm makes no tree for the only member of the second group.
				return strings.Count(s.MustRunC(t, "", "dump_mfts").Stdout, groups["1"]+" ") == 4 // at three leaves and a spine
			})
			compareSMP(t, s, "", ibsimtest.Share(groupLines, i, 2), groupWords(t, s, groups)...)
		})
	}
}

// groupLID returns the LID of the group that joinGroup created with a number.
func groupLID(t *testing.T, s *ibsimtest.Sim, number string) string {
	t.Helper()
	out := s.MustRunC(t, "", "saquery", "-g").Stdout
	_, after, found := strings.Cut(out, "ff12:a01c::"+number)
	_, lid, hasLID := strings.Cut(after, "Mlid....................")
	if !found || !hasLID {
		return "no group " + number
	}
	return strings.ToLower(strings.Fields(lid)[0])
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

// brokenTables are commands that change the tables or agents of a fabric with two leaves
// and two spines, the first of which has LID 7.
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

// TestRouteTables_MissingBlock compares the tools on a switch that does not return one
// block of its table. dump_fts prints the entries of the block before it in its place.
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

// TestRouteTables_EndLID checks the only entry that ibroute omits: that of the end of the
// range if it is a multiple of 64.
func TestRouteTables_EndLID(t *testing.T) {
	s := serveFabric(t, "single-switch:hosts=140,radix=150")
	total := regexp.MustCompile(`(?m)^\d+ valid lids dumped \n`)
	for i, start := range []int{0, 1, 60, 64, 100} {
		for _, end := range ibsimtest.Share([]int{63, 64, 65, 127, 128, 129, 0}, i, 2) {
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

// TestRoute_Reroute lets opensm route around a link that goes down. The path returns with
// the link.
func TestRoute_Reroute(t *testing.T) {
	s := serveFabric(t, "--sm=off", "fat-tree:radix=8,pods=2,hosts=2,spines=2")
	s.NewSM(t, "host00001", "sweep_interval 600")
	path := func() route.PathReport {
		t.Helper()
		var r route.PathsReport
		out := s.MustRun(t, "host00001", ibkit(), "route", "--json", "host00002", "host00003")
		if err := json.Unmarshal([]byte(out.Stdout), &r); err != nil || len(r.Pairs) != 1 {
			t.Fatalf("%v in %s%s", err, out.Stdout, out.Stderr)
		}
		return r.Pairs[0].Forward
	}
	spine := func(p route.PathReport) string {
		if !p.Arrived() || len(p.Hops) != 4 || len(p.Findings) > 0 {
			return ""
		}
		return p.Hops[1].Input.Name
	}
	before := path()
	first := spine(before)
	if first == "" {
		t.Fatalf("got path %+v", before)
	}
	// opensm balances the ports of a switch by their present use, so that the first
	// path need not come back: the one over the other spine must go.
	ctl(t, s, "unlink "+first+"[1]")
	within(t, time.Minute, "opensm routes around "+first, func() bool {
		p := spine(path())
		return p != "" && p != first
	})
	trace := s.MustRunC(t, "host00001", "ibtracert", lidOf(t, s, "host00002"), lidOf(t, s, "host00003"))
	if strings.Contains(trace.Stdout, first) || trace.Code != 0 {
		t.Errorf("ibtracert: %s%s", trace.Stdout, trace.Stderr)
	}
	second := spine(path())
	ctl(t, s, "link "+first+"[1]")
	ctl(t, s, "unlink "+second+"[1]")
	within(t, time.Minute, "opensm routes around "+second, func() bool { return spine(path()) == first })
}

// TestRoute_Native compares the paths of ibkit route with ibtracert, their service levels,
// MTUs and rates with saquery, and their virtual lanes with smpquery. DFSSSP uses several
// service levels, and chooses one of those that are possible at each request.
func TestRoute_Native(t *testing.T) {
	const description = "torus:x=4,y=4,z=4,hosts=1"
	net := filepath.Join(t.TempDir(), "net")
	f := exportNet(t, description, net)
	t.Parallel()
	for i, engine := range []string{"minhop", "torus-2QoS", "dfsssp"} {
		t.Run(engine, func(t *testing.T) {
			s := ibsimtest.New(t, net)
			s.NewSM(t, "", engineOptions(t, f, engine, description, t.TempDir())...)
			levels := map[uint8]bool{}
			for _, pair := range ibsimtest.Share([][2]string{
				{"host-0-0-0-1", "switch-2-1-0"}, {"host-0-0-0-1", "host-2-1-0-1"}, {"host-0-0-0-1", "host-3-2-3-1"},
				{"host-3-0-0-1", "host-1-0-0-1"}, {"host-2-3-1-1", "host-0-1-1-1"}, {"host-3-3-3-1", "host-1-1-1-1"}, {"host-1-2-3-1", "host-3-0-1-1"},
			}, i, 2) {
				comparePath(t, s, simGUID(f, pair[0]), simGUID(f, pair[1]), engine, levels)
			}
			if engine == "dfsssp" && len(levels) < 2 {
				t.Errorf("got service levels %v, want several", levels)
			}
		})
	}
}

// simGUID returns the GUID of the only port of a host, or of port 0 of a switch.
func simGUID(f *sim.Fabric, id string) string {
	n := f.Node(id)
	if n.IsSwitch() {
		return n.Ports[0].GUID.String()
	}
	return n.Ports[1].GUID.String()
}

// note matches a remark below a path: ibsim has wide ports that are linked by 4X.
var note = regexp.MustCompile(`(?m)^note: .*\n`)

// longTimeout is a timeout in milliseconds for C tools that query subnet administration: on
// a busy machine opensm takes longer than their second.
const longTimeout = "20000"

// comparePath compares the paths between two ports, and adds the service level of the
// first one.
func comparePath(t *testing.T, s *ibsimtest.Sim, from, to string, engine string, levels map[uint8]bool) {
	t.Helper()
	var want string
	for _, pair := range [][]string{{from, to}, {to, from}} {
		want += s.MustRunC(t, "", "ibtracert", "-t", longTimeout, "-n", "-G", pair[0], pair[1]).Stdout
	}
	got := s.MustRun(t, "", ibkit(), "route", "-n", from, to)
	if text := note.ReplaceAllString(got.Stdout, ""); text != want || got.Stderr != "" {
		t.Errorf("%s to %s: got\n%s%swant\n%s", from, to, got.Stdout, got.Stderr, want)
	}
	var r route.PathsReport
	out := s.MustRun(t, "", ibkit(), "route", "--json", from, to)
	if err := json.Unmarshal([]byte(out.Stdout), &r); err != nil {
		t.Fatalf("%v in %s", err, out.Stdout)
	}
	p := r.Pairs[0].Forward
	if p.SL == nil || p.Record == nil || !p.Record.Found || slices.ContainsFunc(p.Findings, func(f route.PathFinding) bool { return f.Kind.IsProblem() }) {
		t.Fatalf("%s to %s: got %s", from, to, out.Stdout)
	}
	levels[*p.SL] = true
	record := s.MustRunC(t, "", "saquery", "-t", longTimeout, "PR", "--slid", fmt.Sprint(p.From.LID), "--dlid", fmt.Sprint(p.LID)).Stdout
	fields := []string{fmt.Sprintf("mtu.....................0x%X", 0x80|uint8(ib.MTUOf(*p.Record.MTU)))}
	if engine != "dfsssp" {
		fields = append(fields, fmt.Sprintf("sl......................0x%X", *p.SL))
	}
	for _, field := range fields {
		if !strings.Contains(record, field+"\n") {
			t.Errorf("%s to %s: got SL %d, MTU %d, want those of\n%s", from, to, *p.SL, *p.Record.MTU, record)
		}
	}
	entry := uint8(0)
	for i, h := range p.Hops {
		if h.Output.VL == nil {
			t.Fatalf("%s to %s: unknown lane of hop %d", from, to, i)
		}
		lid := s.MustRunC(t, "", "ibaddr", "-t", longTimeout, "-GL", h.Output.PortGUID.String()).Stdout
		var first, last int
		if _, err := fmt.Sscanf(lid, "LID start %d end %d", &first, &last); err != nil {
			t.Fatalf("%v in %q", err, lid)
		}
		table := s.MustRunC(t, "", "smpquery", "-t", longTimeout, "sl2vl", fmt.Sprint(first), fmt.Sprint(h.Output.Port)).Stdout
		prefix := fmt.Sprintf("ports: in %2d, out %2d: ", entry, h.Output.Port)
		if i == 0 {
			prefix = "ports: in  0, out  0: "
		}
		_, row, found := strings.Cut(table, prefix)
		row, _, _ = strings.Cut(row, "\n")
		if lanes := strings.Split(strings.Trim(row, "|"), "|"); !found || len(lanes) < 16 || strings.TrimSpace(lanes[*p.SL]) != fmt.Sprint(*h.Output.VL) {
			t.Errorf("%s to %s, hop %d: got VL %d of SL %d, want that of %q in\n%s", from, to, i, *h.Output.VL, *p.SL, prefix, table)
		}
		entry = h.Input.Port
	}
}
