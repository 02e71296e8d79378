package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
)

// irregular returns a fabric with randomly linked switches: in several connected parts,
// with hosts at some switches and with parallel links.
func irregular(t *testing.T, seed uint64) *Fabric {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	b := newBuilder(&Fabric{}, LinkSpec{})
	var switches []*Node
	for i := range 5 + rng.IntN(30) {
		s := b.addSwitch(200, "s%d", i)
		if i > 0 && rng.IntN(20) > 0 {
			b.connect(s, switches[rng.IntN(i)])
		}
		for k := range rng.IntN(3) {
			b.connect(b.addHost("h%d-%d", i, k), s)
		}
		switches = append(switches, s)
	}
	b.connect(b.addHost("last"), switches[0])
	for range rng.IntN(3 * len(switches)) {
		if n, m := switches[rng.IntN(len(switches))], switches[rng.IntN(len(switches))]; n != m {
			b.connect(n, m)
		}
	}
	if b.err != nil {
		t.Fatal(b.err)
	}
	return b.fabric
}

// A channel is a link direction, identified by the sending port.
type channel = *Port

// walkTables follows the forwarding tables in all switches to all LIDs. It returns the
// channels that packets use after each channel, and how many pairs (a switch and a LID in
// the same part of the fabric) have no route.
func walkTables(t *testing.T, f *Fabric) (next map[channel]map[channel]bool, lost int) {
	t.Helper()
	next = map[channel]map[channel]bool{}
	lids, err := f.planLIDs()
	if err != nil {
		t.Fatal(err)
	}
	g := newGraph(f)
	parts := g.parts()
	for _, from := range g.switches {
		for lid, to := range lids {
			if to == nil {
				continue
			}
			last, _ := nextTo(to)
			if last == nil || parts[last.index] != parts[from.index] {
				continue
			}
			n, hops := from, 0
			var before channel
			for {
				exit := n.LFT[lid]
				if exit == noRoute {
					lost++
					break
				}
				if exit == 0 {
					break
				}
				c := &n.Ports[exit]
				if before != nil {
					if next[before] == nil {
						next[before] = map[channel]bool{}
					}
					next[before][c] = true
				}
				before, n = c, c.Peer.Node
				if !n.IsSwitch() {
					break
				}
				if hops++; hops > len(g.switches) {
					t.Fatalf("from %s to LID %d: got a loop", from.ID, lid)
				}
			}
			if exit := n.LFT; n.IsSwitch() && exit[lid] == 0 && &n.Ports[0] != to || !n.IsSwitch() && before.Peer != to {
				t.Fatalf("from %s to LID %d: got a route to %s", from.ID, lid, n.ID)
			}
		}
	}
	return next, lost
}

// ring returns channels that form a cyclic dependency, by which packets can deadlock, nil
// if no path exists.
func ring(next map[channel]map[channel]bool) []channel {
	const entered, left = 1, 2
	state := map[channel]int{}
	var path, found []channel
	var visit func(c channel)
	visit = func(c channel) {
		state[c] = entered
		path = append(path, c)
		for to := range next[c] {
			if state[to] == entered {
				found = append([]channel{to}, path...)
			}
			if state[to] == 0 {
				visit(to)
			}
		}
		path = path[:len(path)-1]
		state[c] = left
	}
	for c := range next {
		if state[c] == 0 {
			visit(c)
		}
	}
	return found
}

// turnsUp returns a turn from a downward channel to an upward channel.
func turnsUp(p *upDownPlan, next map[channel]map[channel]bool) string {
	isDown := func(c channel) bool { return p.position[c.Peer.Node.index] > p.position[c.Node.index] }
	for c, after := range next {
		for to := range after {
			if to.Peer.Node.IsSwitch() && isDown(c) && !isDown(to) {
				return fmt.Sprintf("%s, then %s", c, to)
			}
		}
	}
	return ""
}

// TestUpDown checks that routes never lead down and then up, have no loops and no cyclic
// dependencies, and connect all ports.
func TestUpDown(t *testing.T) {
	fabrics := map[string]*Fabric{}
	for _, d := range []string{
		"torus:x=5,y=4", "torus:x=3,y=4,z=3,hosts=1", "fat-tree:levels=2,radix=8,pods=8", "fat-tree:levels=3,radix=6,pods=6",
		"dragonfly", "single-switch", "demo", "net:../test/nets/multi-port-hosts.net", "net:../test/nets/parallel-links-and-router.net",
	} {
		fabrics[d] = build(t, d+map[bool]string{true: ",sm=updown", false: ":sm=updown"}[strings.Contains(d, ":")])
	}
	for seed := range uint64(40) {
		f := irregular(t, seed)
		f.Manager.Routing = UpDown
		if err := f.Configure(); err != nil {
			t.Fatal(err)
		}
		fabrics[fmt.Sprintf("irregular %d", seed)] = f
	}
	for name, f := range fabrics {
		t.Run(name, func(t *testing.T) {
			next, lost := walkTables(t, f)
			if lost > 0 {
				t.Errorf("got %d pairs without a route, want 0", lost)
			}
			if r := ring(next); r != nil {
				t.Errorf("got a cyclic dependency %v, want none", r)
			}
			lids, err := f.planLIDs()
			if err != nil {
				t.Fatal(err)
			}
			p, err := newGraph(f).planUpDown(f, lids)
			if err != nil {
				t.Fatal(err)
			}
			if turn := turnsUp(p, next); turn != "" {
				t.Errorf("got the turn %s, want none upwards", turn)
			}
		})
	}
	// The test detects cyclic dependencies.
	if next, _ := walkTables(t, build(t, "torus:x=5,y=5,sm=minhop")); ring(next) == nil {
		t.Error("shortest paths in a torus: got no cyclic dependency, want one")
	}
}

// TestUpDown_FatTree checks that the routes in a fat tree are shortest paths, spread as
// well as with MinHop.
func TestUpDown_FatTree(t *testing.T) {
	const tree = "fat-tree:levels=3,radix=6,pods=6"
	count := func(f *Fabric) (hops int, busiest int) {
		through := map[channel]int{}
		for _, from := range f.Nodes {
			for _, to := range f.Nodes {
				if from.IsSwitch() || to.IsSwitch() || from == to {
					continue
				}
				for n := from.Ports[1].Peer.Node; n.IsSwitch(); hops++ {
					c := &n.Ports[n.LFT[to.Ports[1].Info.LID]]
					if through[c]++; c.Peer.Node.IsSwitch() {
						busiest = max(busiest, through[c])
					}
					n = c.Peer.Node
				}
			}
		}
		return hops, busiest
	}
	hops, busiest := count(build(t, tree))
	upHops, upBusiest := count(build(t, tree+",sm=updown"))
	if hops != upHops || upBusiest > busiest {
		t.Errorf("got %d hops and %d routes through one link, want %d and at most %d", upHops, upBusiest, hops, busiest)
	}
}

func TestUpDown_Roots(t *testing.T) {
	f := build(t, "fat-tree:levels=2,radix=6,pods=6,sm=updown,root=spine001,root=spine002,root=spine003")
	next, lost := walkTables(t, f)
	// There are no upward paths between spines.
	if lost != 6 || ring(next) != nil {
		t.Errorf("got %d pairs without a route, cyclic dependency %v, want 6, none", lost, ring(next))
	}
	for description, want := range map[string]string{
		"torus:x=4,y=4,hosts=1,sm=updown,root=switch-0-0-0,root=switch-2-2-0": "no up/down path from switch",
		"torus:sm=updown,root=host-0-0-0-1":                                   `root "host-0-0-0-1" is not a switch`,
		"demo,root=leaf1":                                                     "roots require sm=updown",
		"torus:sm=off,root=switch-0-0-0":                                      "roots require sm=updown",
		"torus:sm=dor":                                                        "sm=dor: not one of on, minhop, updown, off",
	} {
		t.Run(description, func(t *testing.T) {
			if _, err := Build(description); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// TestConfigure_TooManyLIDs builds a fabric that has more end ports than there are LIDs.
func TestConfigure_TooManyLIDs(t *testing.T) {
	const big = "fat-tree:levels=3,radix=58,pods=58"
	if _, err := Build(big); err == nil || !strings.Contains(err.Error(), "too many end ports: 52983 LIDs needed, 49151 available") {
		t.Errorf("got %v, want an error about 52983 LIDs", err)
	}
	f := build(t, big, "sm=off")
	if p := f.firstAdapter(); p.Info.State != ib.PortInit || p.Info.LID != 0 {
		t.Errorf("got state %v, LID %d, want Initialize, 0", p.Info.State, p.Info.LID)
	}
}
