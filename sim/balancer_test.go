package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
)

// destinations returns the adapter LIDs to which packets from adapters cross each output port.
func destinations(t *testing.T, f *Fabric) map[*Port]map[ib.LID]bool {
	t.Helper()
	through := map[*Port]map[ib.LID]bool{}
	for _, from := range f.Nodes {
		for _, to := range f.Nodes {
			if from.IsSwitch() || to.IsSwitch() || from == to {
				continue
			}
			lid, hops := to.Ports[1].Info.LID, 0
			for n := from.Ports[1].Peer.Node; n.IsSwitch(); hops++ {
				if hops > len(f.Nodes) {
					t.Fatalf("from %s to %s: got a loop", from.ID, to.ID)
				}
				p := &n.Ports[n.LFT[lid]]
				if through[p] == nil {
					through[p] = map[ib.LID]bool{}
				}
				through[p][lid] = true
				n = p.Peer.Node
			}
		}
	}
	return through
}

// A switch's links to the switches above differ by at most one destination, at all levels
// of a tree.
func TestBalancer_Uplinks(t *testing.T) {
	upper := []string{"spine", "core", "-S"} // in the IDs of switches
	isUp := func(p *Port) bool {
		return p.Peer != nil && p.Peer.Node.IsSwitch() && slices.ContainsFunc(upper, func(s string) bool { return strings.Contains(p.Peer.Node.ID, s) }) &&
			!strings.Contains(p.Node.ID, "core") && (!strings.Contains(p.Node.ID, "spine") || strings.Contains(p.Peer.Node.ID, "core"))
	}
	for _, description := range []string{
		"fat-tree:radix=8,pods=4", "fat-tree:radix=12,pods=10,hosts=4,spines=6", "fat-tree:radix=20,pods=8,hosts=13,spines=7",
		"fat-tree:levels=3,radix=8,pods=4", "fat-tree:levels=3,radix=8,pods=4,sm=updown", "fat-tree:levels=3,radix=8,pods=3,hosts=6,spines=2,leaves=5,cores=3",
		"chassis", "chassis:lines=20,hosts=11", "chassis:systems=3", "chassis:model=ISR9288", "chassis:model=ISR9096,hosts=5", "mixed:hosts=6,spines=14", "rails:hosts=13,rails=3,spines=5",
	} {
		t.Run(description, func(t *testing.T) {
			f := build(t, description)
			through := destinations(t, f)
			for _, n := range f.Nodes {
				var counts []int
				for i := range n.Ports {
					if n.IsSwitch() && isUp(&n.Ports[i]) {
						counts = append(counts, len(through[&n.Ports[i]]))
					}
				}
				if len(counts) > 0 && slices.Max(counts)-slices.Min(counts) > 1 {
					t.Errorf("%s: got %v destinations on its uplinks, want a difference of at most 1", n.ID, counts)
				}
			}
		})
	}
}

// Paths from all sources to a destination meet at a single core: each switch above the leaves
// has a destination on a single uplink only, and each output port of a core leads to others.
func TestBalancer_SamePaths(t *testing.T) {
	f := build(t, "fat-tree:levels=3,radix=8,pods=4")
	through := destinations(t, f)
	cores := map[ib.LID]string{}
	for p, lids := range through {
		for lid := range lids {
			if core := p.Node.ID; strings.HasPrefix(core, "core") {
				if other := cores[lid]; other != "" && other != core {
					t.Fatalf("got LID %d through %s and %s, want one", lid, other, core)
				}
				cores[lid] = core
			}
		}
	}
	if len(cores) != 64 {
		t.Errorf("got %d destinations through cores, want 64", len(cores))
	}
}

// A spine's entries for destinations that leaves send to another spine are even, too: a
// change at a leaf does not make the spine uneven.
func TestBalancer_SpareEntries(t *testing.T) {
	f := build(t, "fat-tree:levels=3,radix=8,pods=4")
	leaf, spine := f.Node("pod01-leaf001"), f.Node("pod01-spine002")
	other := f.portTo("pod01-leaf001", "pod01-spine001")
	counts := make([]int, len(spine.Ports))
	for _, n := range f.Nodes {
		if n.IsSwitch() {
			continue
		}
		if lid := n.Ports[1].Info.LID; leaf.LFT[lid] == other {
			counts[spine.LFT[lid]]++
		}
	}
	if up := counts[5:]; slices.Min(up) != 3 || slices.Max(up) != 3 {
		t.Errorf("got %d destinations on the uplinks, want 3 on each", up)
	}
}
