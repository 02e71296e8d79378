//go:build oracle

package oracle

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestRouteTables_Groups compares the tools on the group tables that opensm made, on ibsim
// and on a fabric that ibkit serves.
func TestRouteTables_Groups(t *testing.T) {
	net := filepath.Join(t.TempDir(), "net")
	exportNet(t, groupFabric, net)
	for i, s := range []*ibsimtest.Sim{ibsimtest.New(t, net), serveLive(t, "--sm=off", groupFabric)} {
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

// TestRoute_Reroute lets opensm route around a link that goes down. The path returns with
// the link.
func TestRoute_Reroute(t *testing.T) {
	s := serveLive(t, "--sm=off", "fat-tree:radix=8,pods=2,hosts=2,spines=2")
	s.NewSM(t, "host00001", "sweep_interval 600")
	path := func() route.ReportPath {
		t.Helper()
		var r route.ReportPaths
		out := s.MustRun(t, "host00001", ibkit(), "route", "--json", "host00002", "host00003")
		if err := json.Unmarshal([]byte(out.Stdout), &r); err != nil || len(r.Pairs) != 1 {
			t.Fatalf("%v in %s%s", err, out.Stdout, out.Stderr)
		}
		return r.Pairs[0].Forward
	}
	spine := func(p route.ReportPath) string {
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
	// opensm balances a switch's ports by their present use, so that the first path need
	// not come back: the path over the other spine must go.
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

// TestRoute_Native compares the ibkit route paths with ibtracert, their service levels,
// MTUs and rates with saquery, and their virtual lanes with smpquery. DFSSSP uses several
// service levels, and chooses one of the possible levels at each request.
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

// simGUID returns the GUID of a host's only port, or of port 0 of a switch.
func simGUID(f *sim.Fabric, id string) string {
	n := f.Node(id)
	if n.IsSwitch() {
		return n.Ports[0].GUID.String()
	}
	return n.Ports[1].GUID.String()
}

// traced returns a path in the form of ibtracert -n.
func traced(p *route.ReportPath) string {
	text := fmt.Sprintf("From {%v}[%d]\n", p.From.NodeGUID, p.From.Port)
	for _, h := range p.Hops {
		text += fmt.Sprintf("[%d] -> {%v}[%d]\n", h.Output.Port, h.Input.PortGUID, h.Input.Port)
	}
	if p.To != nil {
		text += fmt.Sprintf("To {%v}[%d]\n", p.To.NodeGUID, p.To.Port)
	}
	return text
}

// comparePath compares the paths between two ports, and adds the first path's service level.
func comparePath(t *testing.T, s *ibsimtest.Sim, from, to string, engine string, levels map[uint8]bool) {
	t.Helper()
	var want string
	for _, pair := range [][]string{{from, to}, {to, from}} {
		want += s.MustRunC(t, "", "ibtracert", "-t", longTimeout, "-n", "-G", pair[0], pair[1]).Stdout
	}
	var r route.ReportPaths
	out := s.MustRun(t, "", ibkit(), "route", "--json", from, to)
	if err := json.Unmarshal([]byte(out.Stdout), &r); err != nil {
		t.Fatalf("%v in %s", err, out.Stdout)
	}
	p := r.Pairs[0].Forward
	if got := traced(&p) + traced(r.Pairs[0].Reverse); got != want {
		t.Errorf("%s to %s: got\n%swant\n%s", from, to, got, want)
	}
	if p.SL == nil || p.Record == nil || !p.Record.Found || slices.ContainsFunc(p.Findings, func(k report.Kind) bool { return k.Info().Severity != report.Info }) {
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
