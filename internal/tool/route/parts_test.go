package route

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// twoSubnets has two subnets with the same LIDs: in each, LID 1 is the switch's, and LID 2 and
// higher are the hosts'. A host has a port in both.
func twoSubnets(t *testing.T) *Routing {
	t.Helper()
	r := &Routing{}
	both := r.Add(0x99, mad.NodeTypeCA, 2)
	for subnet, hosts := range []int{2, 3} {
		s := r.Add(ib.GUID(0x10*(subnet+1)), mad.NodeTypeSwitch, 8)
		s.Ports[0].LID = 1
		s.Tables = &Tables{Top: 9, LFT: slices.Repeat([]uint8{NoRoute}, 10), MFT: map[ib.LID]mad.PortMask{}}
		s.Tables.LFT[1] = 0
		attach := func(p *Port, i int) {
			p.LID = ib.LID(2 + i)
			s.Tables.LFT[2+i] = uint8(1 + i)
			Connect(p, &s.Ports[1+i])
		}
		for i := range hosts {
			attach(&r.Add(ib.GUID(0x10*(subnet+1)+i+1), mad.NodeTypeCA, 1).Ports[1], i)
		}
		attach(&both.Ports[1+subnet], hosts)
		var all mad.PortMask
		for i := range hosts + 1 {
			all.Add(uint8(1 + i))
		}
		s.Tables.MFT[ib.MinMulticastLID] = all
	}
	return r
}

// Parts without a connection are subnets: the same LIDs are not duplicates, and there are no
// paths between the parts.
func TestAnalyze_Parts(t *testing.T) {
	r := twoSubnets(t)
	a := mustAnalyze(t, r, AnalyzeOptions{WithSwitches: true, Patterns: Patterns})
	var findings []string
	for _, f := range a.Findings(nil) {
		findings = append(findings, fmt.Sprintf("%s: %s", f.Kind, f.Text()))
	}
	if findings != nil {
		t.Errorf("got findings %q, want none", findings)
	}
	// 3 end ports and a switch, 4 end ports and a switch
	if want := uint64(4*3 + 5*4); a.Parts != 2 || a.Switches != 2 || a.EndPorts != 7 || a.Destinations != 9 || a.Paths != want || a.Reached != want {
		t.Errorf("got %d parts, %d switches, %d end ports, %d LIDs, %d of %d paths, want 2, 2, 7, 9 and %d paths",
			a.Parts, a.Switches, a.EndPorts, a.Destinations, a.Reached, a.Paths, want)
	}
	if len(a.Trees) != 2 || !a.Trees[0].Sound() || !a.Trees[1].Sound() {
		t.Errorf("got trees %+v, want a sound tree in each part", a.Trees)
	}

	// A fault in a part counts the paths in this part.
	r.NodeByGUID(0x20).Tables.LFT[2] = NoRoute
	a = mustAnalyze(t, r, AnalyzeOptions{})
	if want := uint64(3*2 + 4*3); a.Paths != want || a.Reached != want-3 || a.Lost[NoEntry] != 3 || len(a.Faults) != 1 || a.Faults[0].To.Node.GUID != 0x21 {
		t.Errorf("got %d of %d paths, lost %v, faults %+v, want %d paths, 3 without an entry, to node 0x21", a.Reached, a.Paths, a.Lost, a.Faults, want)
	}
}

// A link between the parts makes them a single subnet.
func TestAnalyze_Connected(t *testing.T) {
	r := twoSubnets(t)
	Connect(&r.NodeByGUID(0x10).Ports[8], &r.NodeByGUID(0x20).Ports[8])
	if a := mustAnalyze(t, r, AnalyzeOptions{}); a.Parts != 1 || len(a.Duplicates) == 0 {
		t.Errorf("got %d parts, duplicates %v, want 1 part with duplicate LIDs", a.Parts, a.Duplicates)
	}
}

// The path to a port in another part does not arrive, although a port in the own part has its
// LID.
func TestTracer_Parts(t *testing.T) {
	r := twoSubnets(t)
	port := func(guid ib.GUID) *Port { return &r.NodeByGUID(guid).Ports[1] }
	for _, test := range []struct {
		from, to ib.GUID
		cause    Cause
		hops     int
	}{
		{0x11, 0x12, 0, 2},
		{0x21, 0x22, 0, 2},
		{0x21, 0x12, Unconnected, 0},
		{0x11, 0x23, Unconnected, 0},
	} {
		t.Run(fmt.Sprint(test.from, " to ", test.to), func(t *testing.T) {
			result := &PathsResult{Routing: r}
			result.trace([]Pair{{From: port(test.from), To: port(test.to), FromLID: port(test.from).LID, ToLID: port(test.to).LID}}, 0)
			for _, p := range result.paths() {
				if p.Cause != test.cause || len(p.Hops) != test.hops {
					t.Errorf("%v to %v: got %v, %d hops, want %v, %d hops", p.From.GUID, p.To.GUID, p.Cause, len(p.Hops), test.cause, test.hops)
				}
				if findings := p.Findings(nil); (len(findings) > 0) != (test.cause != 0) {
					t.Errorf("%v to %v: got findings %v", test.from, test.to, findings)
				}
			}
		})
	}
}
