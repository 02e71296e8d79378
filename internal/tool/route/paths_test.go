package route

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// tracePair follows the paths between two nodes in a fabric, in both directions.
func tracePair(t *testing.T, f *sim.Fabric, group ib.LID, from, to string) (*PathsResult, *PairPaths) {
	t.Helper()
	r, err := Paths(context.Background(), PathsOptions{
		Options: Options{
			Source: fabric.Source{OpenPort: f.Opener(""), Client: umad.ClientOptions{Timeout: 20 * time.Millisecond}},
		},
		Group: group,
		Find: func(r *Routing) ([]Pair, error) {
			a, b := endOf(t, r, f, from), endOf(t, r, f, to)
			return []Pair{{From: a, To: b, FromLID: a.LID, ToLID: b.LID}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, &r.Pairs[0]
}

// endOf returns a node's first port with a LID.
func endOf(t *testing.T, r *Routing, f *sim.Fabric, id string) *Port {
	t.Helper()
	n := r.NodeByGUID(f.Node(id).Info.NodeGUID)
	if n == nil {
		t.Fatalf("node %s was not found", id)
	}
	for i := range n.Ports {
		if n.Ports[i].LID != 0 {
			return &n.Ports[i]
		}
	}
	t.Fatalf("node %s has no LID", id)
	return nil
}

// hopsOf returns a path's output ports.
func hopsOf(p *Path) string {
	var hops []string
	for _, h := range p.Hops {
		hops = append(hops, fmt.Sprintf("%v[%d]", h.Output.Node.Desc, h.Output.Number))
	}
	return strings.Join(hops, " ")
}

// findingsOf returns a path's findings with their kinds and the ports that they are about.
func findingsOf(p *Path) string {
	var all []string
	for _, f := range p.Findings(nil) {
		text := f.Detail
		if f.Port != nil {
			text = f.Text()
		}
		all = append(all, fmt.Sprintf("%s: %s", f.Kind, text))
	}
	return strings.Join(all, "\n")
}

// lid returns a port's LID.
func lid(f *sim.Fabric, id string) ib.LID {
	n := f.Node(id)
	if n.IsSwitch() {
		return n.Ports[0].Info.LID
	}
	return n.Ports[1].Info.LID
}

// TestPaths changes the tables in a fabric with two leaves and two spines.
func TestPaths(t *testing.T) {
	const to = "host00003" // at leaf002[1]
	for _, test := range []struct {
		name   string
		change func(f *sim.Fabric, leaf, spine *sim.Node, lid ib.LID)
		hops   string
		want   string // findings
	}{
		{"sound", func(*sim.Fabric, *sim.Node, *sim.Node, ib.LID) {}, "host00001[1] leaf001[3] spine001[2] leaf002[1]", ""},
		{
			"no entry", func(_ *sim.Fabric, _, spine *sim.Node, lid ib.LID) { spine.LFT[lid] = NoRoute },
			"host00001[1] leaf001[3]", "unreachable: the path ends at spine001: the table has no entry",
		},
		{
			"above the top", func(_ *sim.Fabric, _, spine *sim.Node, lid ib.LID) { spine.Switch.LinearFDBTop = lid - 1 },
			"host00001[1] leaf001[3]", "unreachable: the path ends at spine001[2]: the LID is above 3, the highest LID in use\nrecord: subnet administration has a record of the path",
		},
		{
			"no such port", func(_ *sim.Fabric, _, spine *sim.Node, lid ib.LID) { spine.LFT[lid] = 200 },
			"host00001[1] leaf001[3]", "unreachable: the path ends at spine001[200]: the port does not exist",
		},
		{
			"port down", func(_ *sim.Fabric, _, spine *sim.Node, lid ib.LID) { spine.LFT[lid] = 3 },
			"host00001[1] leaf001[3]", "unreachable: the path ends at spine001[3]: the port is down",
		},
		{
			"wrong port 0", func(_ *sim.Fabric, _, spine *sim.Node, lid ib.LID) { spine.LFT[lid] = 0 },
			"host00001[1] leaf001[3]", "unreachable: the path ends at spine001[0]: the LID is not that of the switch",
		},
		{
			"another host", func(f *sim.Fabric, _, _ *sim.Node, lid ib.LID) { f.Node("leaf002").LFT[lid] = 2 },
			"host00001[1] leaf001[3] spine001[2] leaf002[2]", "unreachable: the path ends at leaf002[2]: it leads to another end port",
		},
		{
			"loop", func(_ *sim.Fabric, _, spine *sim.Node, lid ib.LID) { spine.LFT[lid] = 1 },
			"host00001[1] leaf001[3] spine001[1]", "forwarding-loop: packets return to leaf001",
		},
		{
			"detour", func(f *sim.Fabric, _, _ *sim.Node, lid ib.LID) {
				f.Node("leaf002").LFT[lid] = 4 // to spine002, and back
				f.Node("spine002").LFT[lid] = 1
				f.Node("leaf001").LFT[lid] = 3
			},
			"host00001[1] leaf001[3] spine001[2] leaf002[4] spine002[1]", "forwarding-loop: packets return to leaf001",
		},
		{
			"silent switch", func(_ *sim.Fabric, _, spine *sim.Node, _ ib.LID) { spine.Silent = true },
			"host00001[1]", "unchecked: the node behind leaf001[3] did not respond",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := build(t, "fat-tree:radix=4,pods=2,spines=2")
				test.change(f, f.Node("leaf001"), f.Node("spine001"), lid(f, to))
				_, pair := tracePair(t, f, 0, "host00001", to)
				if got := hopsOf(&pair.Forward); got != test.hops {
					t.Errorf("got hops %s, want %s", got, test.hops)
				}
				if got := findingsOf(&pair.Forward); got != test.want {
					t.Errorf("got findings %q, want %q", got, test.want)
				}
			})
		})
	}
}

// A path over a third spine is longer than the direct link.
func TestPaths_Detour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "torus:x=4,y=1,hosts=1,sm=minhop")
		to := lid(f, "host-1-0-0-1")
		at := func(id string) *sim.Node { return f.Node(id) }
		// From switch 0 to switch 1 through switches 3 and 2.
		at("switch-0-0-0").LFT[to] = portBetween(f, "switch-0-0-0", "switch-3-0-0")
		at("switch-3-0-0").LFT[to] = portBetween(f, "switch-3-0-0", "switch-2-0-0")
		at("switch-2-0-0").LFT[to] = portBetween(f, "switch-2-0-0", "switch-1-0-0")
		_, pair := tracePair(t, f, 0, "host-0-0-0-1", "host-1-0-0-1")
		if got, want := findingsOf(&pair.Forward), "detour: 5 links; a shortest path has 3"; got != want {
			t.Errorf("got findings %q, want %q", got, want)
		}
		if got := findingsOf(pair.Reverse); got != "" || pair.Forward.IsReverse(pair.Reverse) {
			t.Errorf("got findings %q of the reverse path, symmetric %v", got, pair.Forward.IsReverse(pair.Reverse))
		}
	})
}

// portBetween returns a switch's port that leads to another switch.
func portBetween(f *sim.Fabric, from, to string) uint8 {
	n := f.Node(from)
	return uint8(slices.IndexFunc(n.Ports, func(p sim.Port) bool { return p.Peer != nil && p.Peer.Node.ID == to }))
}

// Switches and ports on the same switch are ends, too.
func TestPaths_Ends(t *testing.T) {
	f := build(t, "fat-tree:radix=4,pods=2,spines=2")
	for _, test := range []struct {
		from, to         string
		forward, reverse string
	}{
		{"host00001", "host00001", "", ""},
		{"leaf001", "leaf001", "", ""},
		{"host00001", "leaf001", "host00001[1]", "leaf001[1]"},
		{"host00001", "host00002", "host00001[1] leaf001[2]", "host00002[1] leaf001[1]"},
		{"leaf001", "leaf002", "leaf001[3] spine001[2]", "leaf002[3] spine001[1]"},
		{"spine001", "host00003", "spine001[2] leaf002[1]", "host00003[1] leaf002[3]"},
	} {
		t.Run(test.from+" "+test.to, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, pair := tracePair(t, f, 0, test.from, test.to)
				if f, r := hopsOf(&pair.Forward), hopsOf(pair.Reverse); f != test.forward || r != test.reverse {
					t.Errorf("got %q and %q, want %q and %q", f, r, test.forward, test.reverse)
				}
				for _, p := range []*Path{&pair.Forward, pair.Reverse} {
					if findings := findingsOf(p); findings != "" || p.Shortest != len(p.Hops) {
						t.Errorf("got findings %q, %d links on a shortest path, want %d", findings, p.Shortest, len(p.Hops))
					}
				}
			})
		})
	}
}

// The service level is the path record's service level, and selects each link's lane.
func TestPaths_Lanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "fat-tree:radix=4,pods=2,spines=2")
		for _, n := range f.Nodes {
			for i := range n.Ports {
				p := &n.Ports[i]
				p.Info.OperVLs = ib.VLs4
				p.SLtoVL = mad.SLtoVLMapping{VL: [16]uint8{uint8(i)}} // for SL 0
			}
		}
		_, pair := tracePair(t, f, 0, "host00001", "host00003")
		var lanes []uint8
		for _, h := range pair.Forward.Hops {
			if h.VL == nil {
				t.Fatalf("%v[%d]: unknown lane", h.Output.Node.Desc, h.Output.Number)
			}
			lanes = append(lanes, *h.VL)
		}
		if want := []uint8{1, 3, 2, 1}; !slices.Equal(lanes, want) || pair.Forward.SL == nil || *pair.Forward.SL != 0 {
			t.Errorf("got lanes %v, SL %v, want %v, 0", lanes, pair.Forward.SL, want)
		}
		f.Node("leaf001").Ports[3].SLtoVL.VL[0] = 15
		f.Node("spine001").Ports[2].SLtoVL.VL[0] = 4
		_, pair = tracePair(t, f, 0, "host00001", "host00003")
		want := "lane: leaf001[3]: VL 15 of SL 0 is not operational: packets are dropped\n" +
			"lane: spine001[2]: VL 4 of SL 0 is not operational: packets are dropped"
		if got := findingsOf(&pair.Forward); got != want {
			t.Errorf("got findings %q, want %q", got, want)
		}
	})
}

// A path without subnet administration has no service level.
func TestPaths_NoRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "fat-tree:radix=4,pods=2,spines=2")
		f.Node("host00001").Ports[1].Info.SMLID = 0
		r, pair := tracePair(t, f, 0, "host00001", "host00003")
		if r.NoRecords == nil || pair.Forward.SL != nil || pair.Forward.Record != nil || findingsOf(&pair.Forward) != "" {
			t.Errorf("got %v, SL %v, record %v, findings %q", r.NoRecords, pair.Forward.SL, pair.Forward.Record, findingsOf(&pair.Forward))
		}
	})
}

func TestPath_CompareRecord(t *testing.T) {
	a, b := &Node{Type: mad.NodeTypeCA}, &Node{Type: mad.NodeTypeCA}
	out, in := &Port{Node: a, MTU: ib.MTU2048, Width: ib.Width4X, Speed: ib.HDR}, &Port{Node: b}
	Connect(out, in)
	for _, test := range []struct {
		name string
		path Path
		want string
	}{
		{"same", Path{Record: &PathRecord{Found: true, MTU: ib.MTU2048, Rate: ib.Rate200}}, ""},
		{"unknown", Path{}, ""},
		{"none", Path{Record: &PathRecord{}}, "subnet administration has no record of the path"},
		{"MTU", Path{Record: &PathRecord{Found: true, MTU: ib.MTU4096, Rate: ib.Rate200}}, "the record has MTU 4096; the links have 2048"},
		{"rate", Path{Record: &PathRecord{Found: true, MTU: ib.MTU2048, Rate: ib.Rate100}}, "the record has a rate of 100 Gb/sec; the slowest link has 200 Gb/sec"},
		{"does not arrive", Path{Cause: DeadEnd, Record: &PathRecord{Found: true}}, "subnet administration has a record of the path"},
		{"neither", Path{Cause: DeadEnd, Record: &PathRecord{}}, ""},
		{"table was not read", Path{Cause: Unseen, Record: &PathRecord{Found: true}}, ""},
		{"no group", Path{Group: 0xc001, Record: &PathRecord{}}, "subnet administration has no group with LID 0xc001"},
		{"slow group", Path{Group: 0xc001, Record: &PathRecord{Found: true, MTU: ib.MTU1024, Rate: ib.Rate10}}, ""},
		{"fast group", Path{Group: 0xc001, Record: &PathRecord{Found: true, MTU: ib.MTU2048, Rate: ib.Rate400}}, "the record has a rate of 400 Gb/sec; the slowest link has 200 Gb/sec"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.path.From, test.path.To, test.path.Hops = out, in, []Hop{{Output: out}}
			var details []string
			for _, f := range test.path.compareRecord(namer{}) {
				details = append(details, f.Detail)
			}
			if got := strings.Join(details, "\n"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestTracer_Multicast changes a group's tables on two leaves and a spine.
func TestTracer_Multicast(t *testing.T) {
	const group = 0xc001
	sound := map[string][]uint8{"leaf001": {1, 3}, "spine001": {1, 2}, "leaf002": {1, 3}}
	for _, test := range []struct {
		name     string
		entries  map[string][]uint8 // instead of the sound entries
		from, to string
		hops     string
		want     string
	}{
		{"sound", nil, "host00001", "host00003", "host00001[1] leaf001[3] spine001[2] leaf002[1]", ""},
		{"sound, back", nil, "host00003", "host00001", "host00003[1] leaf002[3] spine001[1] leaf001[1]", ""},
		{"to itself", nil, "host00001", "host00001", "", ""},
		{"from no member", nil, "host00002", "host00003", "host00002[1] leaf001[3] spine001[2] leaf002[1]", ""},
		{"to no member", nil, "host00001", "host00002", "", "unreachable: packets of group 0xc001 do not reach the port"},
		{"from a switch", nil, "spine001", "host00003", "spine001[2] leaf002[1]", ""},
		{"to a switch", map[string][]uint8{"spine001": {0, 1, 2}}, "host00001", "spine001", "host00001[1] leaf001[3]", ""},
		{"no entry", map[string][]uint8{"leaf001": nil}, "host00001", "host00003", "", "unreachable: the path ends at leaf001: the table has no entry"},
		{"not connected", map[string][]uint8{"leaf001": {1}}, "host00001", "host00003", "", "unreachable: packets of group 0xc001 do not reach the port"},
		{"port without a link", map[string][]uint8{"leaf002": {1, 3, 30}, "spine001": {1, 2, 4}}, "host00001", "host00003", "host00001[1] leaf001[3] spine001[2] leaf002[1]", ""},
		{
			"circle", map[string][]uint8{"leaf001": {1, 3, 4}, "leaf002": {1, 3, 4}, "spine002": {1, 2}},
			"host00001", "host00003", "host00001[1] leaf001[3] spine001[2] leaf002[1]", "forwarding-loop: packets of group 0xc001 return to leaf002 through spine002[2]",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := build(t, "fat-tree:radix=4,pods=2,spines=2")
				r := mustRead(t, f)
				for _, entries := range []map[string][]uint8{sound, test.entries} {
					for id, ports := range entries {
						n := r.NodeByGUID(f.Node(id).Info.NodeGUID)
						n.Tables.MFT = map[ib.LID]mad.PortMask{}
						var mask mad.PortMask
						for _, p := range ports {
							mask.Add(p)
						}
						if len(ports) > 0 {
							n.Tables.MFT[group] = mask
						}
					}
				}
				p := NewTracer(r).Multicast(endOf(t, r, f, test.from), endOf(t, r, f, test.to), group)
				if got := hopsOf(&p); got != test.hops {
					t.Errorf("got hops %s, want %s", got, test.hops)
				}
				if got := findingsOf(&p); got != test.want {
					t.Errorf("got findings %q, want %q", got, test.want)
				}
			})
		})
	}
}

// Only the group's block is read, for all port groups.
func TestPaths_Group(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "broken-multicast")
		r, pair := tracePair(t, f, 0xc010, "host00001", "host00005")
		if got, want := hopsOf(&pair.Forward), "host00001[1] leaf001[5] spine001[2] leaf002[1]"; got != want {
			t.Errorf("got hops %s, want %s", got, want)
		}
		if got := findingsOf(&pair.Forward); got != "" || len(r.Routing.Failures) > 0 {
			t.Errorf("got findings %q, failures %v, want none", got, r.Routing.Failures)
		}
		_, pair = tracePair(t, f, 0xc010, "host00001", "host00009")
		if got, want := findingsOf(&pair.Forward), "unreachable: packets of group 0xc010 do not reach the port"; got != want {
			t.Errorf("got findings %q, want %q", got, want)
		}
		_, pair = tracePair(t, f, 0xc012, "host00001", "host00009")
		if got, want := findingsOf(&pair.Forward), "unreachable: the path ends at leaf001: the table has no entry\nrecord: subnet administration has no group with LID 0xc012"; got != want {
			t.Errorf("got findings %q, want %q", got, want)
		}
	})
}

// A block without a response makes only the paths that use it unknown.
func TestPaths_MissingBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "fat-tree:radix=4,pods=2,spines=2")
		r := mustRead(t, f)
		spine := r.NodeByGUID(f.Node("spine001").Info.NodeGUID)
		spine.Tables.Missing = []uint16{0}
		from, to := endOf(t, r, f, "host00001"), endOf(t, r, f, "host00003")
		p := NewTracer(r).Unicast(from, to.LID)
		if got, want := findingsOf(&p), "unchecked: the table of spine001 was not read"; got != want {
			t.Errorf("got findings %q, want %q", got, want)
		}
		spine.Tables.Missing = []uint16{1}
		p = NewTracer(r).Unicast(from, to.LID)
		if got := findingsOf(&p); got != "" {
			t.Errorf("got findings %q of a path through other blocks", got)
		}
	})
}

// The slowest link is the first link with the lowest known rate.
func TestPath_Slowest(t *testing.T) {
	for _, test := range []struct {
		name   string
		widths []ib.LinkWidth // 0: unknown
		want   int
	}{
		{"same", []ib.LinkWidth{ib.Width4X, ib.Width4X}, -1},
		{"one", []ib.LinkWidth{ib.Width4X, ib.Width1X, ib.Width4X, ib.Width1X}, 1},
		{"first", []ib.LinkWidth{ib.Width1X, ib.Width4X}, 0},
		{"unknown", []ib.LinkWidth{0, ib.Width4X, ib.Width4X}, -1},
		{"unknown and slow", []ib.LinkWidth{0, ib.Width4X, ib.Width1X}, 2},
		{"none", nil, -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var p Path
			for _, w := range test.widths {
				p.add(&Port{Width: w, Speed: ib.HDR})
			}
			if got := p.Slowest(); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}
