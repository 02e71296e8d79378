package route

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// checkAdaptive analyses a simulated fabric's routing.
func checkAdaptive(t *testing.T, f *sim.Fabric) *Analysis {
	t.Helper()
	a, err := Check(t.Context(), Options{Source: fabric.Source{OpenPort: f.Opener("")}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func buildAdaptive(t *testing.T, description string) *sim.Fabric {
	t.Helper()
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAdaptive(t *testing.T) {
	for _, tt := range []struct {
		fabric               string
		switches, loops, min int // min: loops without adaptive routing
	}{
		{"fat-tree:levels=2,radix=8,pods=4", 8, 0, 0},
		{"fat-tree:levels=2,radix=8,pods=4,sm=updown", 8, 0, 0},
		{"single-switch:hosts=4", 1, 0, 0},
		// The opposite switch in the ring is reached both ways.
		{"torus:x=4,y=1,hosts=1,sm=minhop", 4, 2, 0},
	} {
		t.Run(tt.fabric, func(t *testing.T) {
			off := checkAdaptive(t, buildAdaptive(t, tt.fabric+",vendor=on"))
			if off.Adaptive.Switches != 0 || off.Adaptive.Text(nil) != "" || len(off.CreditLoops) != tt.min {
				t.Errorf("off: got %+v, %d credit loops, want %d", off.Adaptive, len(off.CreditLoops), tt.min)
			}
			a := checkAdaptive(t, buildAdaptive(t, tt.fabric+",ar=on"))
			if a.Adaptive.Switches != tt.switches || a.Adaptive.Static != 0 || len(a.AdaptiveFaults) != 0 || a.Reached != a.Paths {
				t.Errorf("got %+v, %d faults, want %d switches", a.Adaptive, len(a.AdaptiveFaults), tt.switches)
			}
			if len(a.CreditLoops) != tt.loops {
				t.Errorf("got %d credit loops, want %d", len(a.CreditLoops), tt.loops)
			}
			if text := a.Adaptive.Text(nil); !strings.HasPrefix(text, "adaptive routing on (switches: ") {
				t.Errorf("got %q", text)
			}
		})
	}
}

// A group port without a link is a fault for all LIDs in the group, not only for the LIDs
// that the forwarding table sends there.
func TestAdaptive_DeadEnd(t *testing.T) {
	f := buildAdaptive(t, "fat-tree:levels=2,radix=8,pods=4,ar=on")
	f.Disconnect(&f.Node("leaf001").Ports[5])
	a := checkAdaptive(t, f)
	if len(a.AdaptiveFaults) == 0 {
		t.Fatal("got no fault of adaptive routing")
	}
	worst := a.AdaptiveFaults[0]
	if worst.Cause != DeadEnd || worst.Switch.GUID != f.Node("leaf001").Info.NodeGUID || worst.Port != 5 {
		t.Errorf("got %+v, want a dead end at port 5 of leaf001", worst)
	}
	found := false
	for _, x := range a.Findings(nil) {
		found = found || x.Kind == report.Unreachable && strings.Contains(x.Text(), "leaf001[5]: a port of adaptive routing: dead end: ")
	}
	if !found {
		t.Error("got no finding")
	}
}

// Groups that disagree with the forwarding table make the view static.
func TestAdaptive_Static(t *testing.T) {
	f := buildAdaptive(t, "fat-tree:levels=2,radix=8,pods=4,ar=on")
	lid := f.Node("host00016").Ports[1].Info.LID
	f.Node("leaf001").LFT[lid] = 1 // no uplink
	a := checkAdaptive(t, f)
	if text := a.Adaptive.Text(nil); a.Adaptive.Static != 1 || !strings.Contains(text, "adaptive routing on: static view (1 of 8 switches, for example leaf001: group 0 lacks port 1") {
		t.Errorf("got %+v, %s", a.Adaptive, text)
	}
}

// A switch can report a highest LID that is not a unicast LID.
func TestAdaptive_Top(t *testing.T) {
	f := buildAdaptive(t, "single-switch:hosts=4,ar=on")
	for _, n := range f.Nodes {
		if n.IsSwitch() {
			n.Switch.LinearFDBTop = 0xffff
		}
	}
	if a := checkAdaptive(t, f); a.Adaptive.Switches != 1 || a.Adaptive.Static != 0 {
		t.Errorf("got %+v, want the groups of one switch", a.Adaptive)
	}
}

// A switch with tables that are read again gets new groups, too.
func TestAdaptive_ReadAgain(t *testing.T) {
	const leaf = "leaf001"
	f := buildAdaptive(t, "fat-tree:levels=2,radix=8,pods=4,ar=on")
	first := 0 // requests in the first read
	for _, n := range f.Nodes {
		if n.IsSwitch() {
			first += (len(n.LFT) + lftBlock - 1) / lftBlock
		}
	}
	dest := f.Node("host00016").Ports[1].Info.LID
	sound := f.Node(leaf).LFT[dest]
	f.Node(leaf).LFT[dest] = 1 // no uplink
	p := &tablePort{before: func(request int) {
		if request == first+1 {
			f.Node(leaf).LFT[dest] = sound
		}
	}}
	a, err := Check(t.Context(), Options{Source: fabric.Source{OpenPort: func(context.Context) (port umad.Port, err error) {
		p.Port, err = f.Open("")
		return p, err
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if p.requests <= first || a.Adaptive.Switches != 8 || a.Adaptive.Static != 0 {
		t.Errorf("got %+v after %d requests, want groups of 8 switches after more than %d", a.Adaptive, p.requests, first)
	}
}

// The group table reading that agrees with the forwarding table is used.
func TestAdaptiveReader_Confirm(t *testing.T) {
	mask := func(ports ...uint8) (m mad.PortMask) {
		for _, p := range ports {
			m.Add(p)
		}
		return m
	}
	free := func(port uint8, group uint16) mad.ARForwarding {
		return mad.ARForwarding{State: mad.ARFree, Port: port, Group: group}
	}
	for _, tt := range []struct {
		name    string
		lft     []uint8
		entries []mad.ARForwarding
		masks   []mad.PortMask
		want    string // LID 2's ports, or part of the error
	}{
		{"one entry per group", []uint8{NoRoute, 1, 3}, []mad.ARForwarding{{}, free(1, 0), free(3, 1)}, []mad.PortMask{mask(1, 2), mask(3, 4), {}, {}}, "3,4"},
		{"two entries per group", []uint8{NoRoute, 1, 3}, []mad.ARForwarding{{}, free(1, 0), free(3, 1)}, []mad.PortMask{mask(1), mask(2), mask(3), mask(4)}, "3,4"},
		{"both readings", []uint8{NoRoute, 1, 1}, []mad.ARForwarding{{}, free(1, 0), free(1, 1)}, []mad.PortMask{mask(1), mask(1, 2), mask(1, 3), mask(4)}, "two readings"},
		{"static", []uint8{NoRoute, 1, 3}, []mad.ARForwarding{{}, free(1, 0), {State: mad.ARStatic, Port: 3}}, []mad.PortMask{mask(1, 2), {}, {}, {}}, ""},
		{"other port", []uint8{NoRoute, 1, 3}, []mad.ARForwarding{{}, free(1, 0), free(4, 1)}, []mad.PortMask{mask(1, 2), mask(3, 4), {}, {}}, "LID 2 has port 4 there, and 3 in the forwarding table"},
		{"port not in the group", []uint8{NoRoute, 1, 3}, []mad.ARForwarding{{}, free(1, 0), free(3, 1)}, []mad.PortMask{mask(1), mask(1), mask(1), mask(1)}, "group 1 lacks port 3"},
		{"missing port", []uint8{NoRoute, 1, 3}, []mad.ARForwarding{{}, free(1, 0), free(3, 1)}, []mad.PortMask{mask(1, 200), mask(3, 200), {}, {}}, "which does not exist"},
		{"unknown state", []uint8{NoRoute, 1, 3}, []mad.ARForwarding{{}, free(1, 0), {State: 3, Port: 3}}, []mad.PortMask{mask(1), mask(3), {}, {}}, "unknown state ?(3)"},
		{"other table", []uint8{NoRoute, 1, 3}, []mad.ARForwarding{{}, free(1, 0), {State: 1, Table: 2, Port: 3}}, []mad.PortMask{mask(1), mask(3), {}, {}}, "group table 2"},
		{"high group", []uint8{NoRoute, 1, 3}, []mad.ARForwarding{{}, free(1, 0), free(3, 2)}, []mad.PortMask{mask(1), mask(3), {}, {}}, "beyond the highest group, 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &adaptiveReader{
				node:    &Node{Ports: make([]Port, 9), Tables: &Tables{Top: 2, LFT: tt.lft}},
				info:    mad.AdaptiveRoutingInfo{GroupTop: 1},
				entries: tt.entries, masks: tt.masks, known: []bool{true, true},
			}
			a, err := r.confirm()
			if err != nil {
				if tt.want == "" || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got error %v, want %q", err, tt.want)
				}
				return
			}
			got := ""
			if group := a.Group(ib.LID(2)); group != nil {
				for port := range 9 {
					if group.Has(uint8(port)) {
						got += "," + string(rune('0'+port))
					}
				}
			}
			if strings.TrimPrefix(got, ",") != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Path links from which adaptive routing selects have all ports in the group.
func TestPaths_Adaptive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := buildAdaptive(t, "fat-tree:levels=2,radix=8,pods=4,ar=on")
		_, pair := tracePair(t, f, 0, "host00001", "host00016")
		if got, want := findingsOf(&pair.Forward), "adaptive: leaf001[8]: one of ports 5-8"; got != want {
			t.Errorf("got findings %q, want %q", got, want)
		}
		r := NewReportPath(&pair.Forward, nil)
		if got := r.Hops[1].Adaptive; !slices.Equal(got, []uint16{5, 6, 7, 8}) || r.Hops[0].Adaptive != nil || r.Hops[2].Adaptive != nil {
			t.Errorf("got ports %v of the leaf, want 5 to 8", got)
		}

		f.Node("leaf001").LFT[lid(f, "host00016")] = 1
		_, pair = tracePair(t, f, 0, "host00001", "host00016")
		if got, want := findingsOf(&pair.Forward), "adaptive: leaf001[1]: adaptive routing on: static view: group 0 lacks port 1"; !strings.Contains(got, want) {
			t.Errorf("got findings %q, want %q", got, want)
		}
	})
}
