package route

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ibkit/ibkit/ib"
)

// checkSizes finds entries and limits beyond a switch's limits.
func (a *Analysis) checkSizes(g *graph) {
	highest := ib.LID(0) // in use
	for lid, owner := range g.owner {
		if owner != -1 {
			highest = ib.LID(lid)
		}
	}
	for _, n := range g.switches {
		t := n.Tables
		if t == nil {
			continue
		}
		add := func(count int, format string, args ...any) {
			a.Excess = append(a.Excess, Excess{n, fmt.Sprintf(format, args...), count})
		}
		if t.Cap != 0 && int(t.Top) >= int(t.Cap) {
			add(1, "the highest LID in use is %d, but the table has only %d entries", t.Top, t.Cap)
		}
		if t.Cap != 0 && int(highest) >= int(t.Cap) {
			add(1, "the fabric has LIDs up to %d, but the table has only %d entries", highest, t.Cap)
		}
		if t.MulticastCap != 0 && t.MulticastTop >= ib.MinMulticastLID && int(t.MulticastTop-ib.MinMulticastLID) >= int(t.MulticastCap) {
			add(1, "the highest multicast LID in use is 0x%x, but the table has only %d entries", uint16(t.MulticastTop), t.MulticastCap)
		}
		invalid, first := 0, ib.LID(0)
		for lid, port := range t.LFT[:min(len(t.LFT), int(t.Top)+1)] {
			if port != NoRoute && int(port) >= len(n.Ports) {
				if invalid == 0 {
					first = ib.LID(lid)
				}
				invalid++
			}
		}
		if invalid > 0 {
			add(invalid, "entries with a port above %d: %d, for example that of LID %d with port %d", len(n.Ports)-1, invalid, first, t.LFT[first])
		}
		a.checkMasks(n, add)
	}
}

// checkMasks finds multicast entries with ports that do not exist.
func (a *Analysis) checkMasks(n *Node, add func(int, string, ...any)) {
	invalid, example := 0, ib.LID(0)
	for lid, mask := range n.Tables.MFT {
		for port := len(n.Ports); port <= 255; port++ {
			if mask.Has(uint8(port)) {
				if invalid == 0 || lid < example {
					example = lid
				}
				invalid++
				break
			}
		}
	}
	if invalid > 0 {
		add(invalid, "multicast entries with a port above %d: %d, for example that of LID 0x%x", len(n.Ports)-1, invalid, uint16(example))
	}
}

// sortedGroups returns the multicast LIDs in all tables and the LIDs with several members,
// in ascending order.
func (r *Routing) sortedGroups() []ib.LID {
	seen := map[ib.LID]bool{}
	for _, n := range r.Nodes {
		if n.Tables == nil {
			continue
		}
		for lid, mask := range n.Tables.MFT {
			for _, b := range mask {
				if b != 0 {
					seen[lid] = true
				}
			}
		}
	}
	for lid, m := range r.Members {
		if m.Count() > 1 {
			seen[lid] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
