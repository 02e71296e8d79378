package mesh

import (
	"fmt"
	"slices"
	"testing"
)

// coverFabrics are fabrics with several kinds of leaf switches, links and paths.
var coverFabrics = []string{
	"single-switch:hosts=1", "single-switch:hosts=2", "single-switch:hosts=8", "fat-tree:radix=8,pods=4", "fat-tree:radix=8,pods=4,spines=2",
	"fat-tree:radix=16,pods=8", "torus:x=4,y=4,hosts=1", "torus:x=3,y=3,z=3,hosts=2", "dragonfly:groups=4,switches=4,hosts=4", "rails:hosts=4,rails=2",
	"fat-tree:radix=64,pods=32",
}

// usedLinks returns the links that routing uses, by all paths between members.
func usedLinks(m *members) map[int32]bool {
	used := map[int32]bool{}
	for _, a := range m.ends {
		for _, b := range m.ends {
			path, ok := m.wiring.channels.Path(nil, int(a), int(b))
			for _, channel := range path {
				used[channel] = used[channel] || ok
			}
		}
	}
	return used
}

// The schedule cover crosses each link that routing uses and connects each leaf pair as often
// as it states, and each member has three pairs if there are others.
func TestSchedule_Cover(t *testing.T) {
	for _, fabric := range coverFabrics {
		t.Run(fabric, func(t *testing.T) {
			m, rounds := roundsOf(t, wire(t, fabric), "cover:2")
			links, pairs, leaves := map[int32]int{}, make([]int, len(m.ends)), map[[2]int]int{}
			seen := map[pair]bool{}
			for _, p := range slices.Concat(rounds...) {
				if seen[p] || p.from == p.to {
					t.Fatalf("got the pair %v again, want different pairs", p)
				}
				seen[p] = true
				pairs[p.from]++
				pairs[p.to]++
				a, b := m.wiring.channels.At(int(m.ends[p.from])), m.wiring.channels.At(int(m.ends[p.to]))
				leaves[[2]int{min(a, b), max(a, b)}]++
				path, _ := m.wiring.channels.Path(nil, int(m.ends[p.from]), int(m.ends[p.to]))
				for _, channel := range path {
					links[channel]++
				}
			}
			for i, n := range pairs {
				if len(m.ends) > 1 && !slices.ContainsFunc(rounds[0], func(p pair) bool { return p.from == int32(i) }) {
					t.Errorf("member %d has no target", i)
				}
				if want := min(minPairs, len(m.ends)-1); n < want {
					t.Errorf("member %d has %d pairs, want %d", i, n, want)
				}
			}
			if len(m.ends) > 512 {
				return // all pairs take too long
			}
			for channel := range usedLinks(m) {
				if links[channel] == 0 {
					t.Errorf("no pair crosses %s", m.wiring.portName(m.wiring.channels.Port(int(channel))))
				}
			}
		})
	}
}

// Of 4,096 hosts each pings a few others, which cover all leaf switches and links.
func TestSchedule_CoverLarge(t *testing.T) {
	for _, test := range []struct {
		fabric  string
		targets int // at most
	}{
		{"fat-tree:radix=128,pods=64", 10},
		{"torus:x=8,y=8,z=8,hosts=8", 80},
		{"dragonfly:groups=32,switches=16,hosts=8", 80},
	} {
		t.Run(test.fabric, func(t *testing.T) {
			s, err := ParseSchedule(coverSchedule)
			if err != nil {
				t.Fatal(err)
			}
			p, err := NewPlan(t.Context(), wire(t, test.fabric), PlanOptions{Schedule: s})
			if err != nil {
				t.Fatal(err)
			}
			c := p.Coverage
			t.Logf("%d members, %d pairs, at most %d targets, %+v", p.Members, p.Flows, p.Rounds, c)
			if p.Members != 4096 || c.Used != c.Links || c.UsedLeafPairs != c.LeafPairs || c.LeafPairs == 0 || p.Rounds > test.targets {
				t.Errorf("got %d members, %d targets, %+v, want 4096, at most %d, and all links and leaf pairs", p.Members, p.Rounds, c, test.targets)
			}
		})
	}
}

// Without a fabric, the leaf switches of a list are connected, and named if they lose probes.
func TestPlanProbes_Leaves(t *testing.T) {
	var all []Adapter
	for i := range 12 {
		all = append(all, Adapter{Host: fmt.Sprintf("192.0.2.%d", i+1), Leaf: fmt.Sprintf("leaf%d", i/4)})
	}
	w := NewUnwired(all)
	p := w.PlanProbes(2, nil)
	if c := p.Coverage; c.LeafPairs != 3 || c.UsedLeafPairs != 3 || p.Members != 12 {
		t.Errorf("got %d members, %+v, want 12 and all 3 leaf pairs", p.Members, c)
	}
	results := NewResults(nil)
	for _, a := range all {
		name, peers, err := p.Of(a.Host)
		if err != nil || name != a.Host {
			t.Fatalf("got %q, %v, want %s", name, err, a.Host)
		}
		for _, peer := range peers {
			f := Flow{From: results.name([]byte(name)), To: results.name([]byte(peer.Name)), Gbps: none, Micros: 20}
			results.add(f)
			lost := 0
			if from, to := w.resolve(name)[0], w.resolve(peer.Name)[0]; from/4 == 1 || to/4 == 1 {
				lost = 8
			}
			results.SetCount(f.From, f.To, Count{100, lost})
			if same := w.resolve(name)[0]/4 == w.resolve(peer.Name)[0]/4; (peer.Class == SameLeaf) != same {
				t.Errorf("got class %s for %s and %s", peer.Class, name, peer.Name)
			}
		}
	}
	if got := brief(Analyze(results, w, Options{}).Findings); len(got) != 1 || got[0] != "packet-loss leaf1" {
		t.Errorf("got %v, want packet loss at leaf1", got)
	}
}
