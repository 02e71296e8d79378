package route

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// A Change is a difference between two routings.
type Change struct {
	NodeGUID ib.GUID `json:"node_guid"` // in the new routing, or in the old routing if the new routing lacks it
	LIDs     int     `json:"lids"`      // destinations with another output port
	Detail   string  `json:"detail"`
}

// Diff lists a routing's differences from an older routing: nodes by GUID, their LIDs,
// and destinations with another output port. A damaged file may lack nodes, which are then
// not compared.
func Diff(before, now *Routing, names *fabric.NameMap) []Change {
	w := namer{names}
	var changes []Change
	for _, n := range before.Nodes {
		if now.byGUID[n.GUID] == nil && !now.damaged() {
			changes = append(changes, Change{NodeGUID: n.GUID, Detail: w.node(n) + ": gone"})
		}
	}
	for _, n := range now.Nodes {
		old := before.byGUID[n.GUID]
		if old == nil && before.damaged() {
			continue
		}
		if old == nil {
			changes = append(changes, Change{NodeGUID: n.GUID, Detail: w.node(n) + ": new"})
			continue
		}
		for i := range min(len(n.Ports), len(old.Ports)) {
			if a, b := old.Ports[i].LID, n.Ports[i].LID; a != b {
				changes = append(changes, Change{NodeGUID: n.GUID, Detail: fmt.Sprintf("%s: LID %d, before %d", w.port(&n.Ports[i]), b, a)})
			}
		}
		if c, ok := compareTables(old, n, w); ok {
			changes = append(changes, c)
		}
	}
	return changes
}

// damaged reports whether a part of a file that belongs to no known node could not be read.
func (r *Routing) damaged() bool {
	return slices.ContainsFunc(r.Failures, func(f Failure) bool { return f.Node == nil && f.Attr == "" })
}

// compareTables compares a switch's unicast and multicast tables.
func compareTables(old, n *Node, w namer) (Change, bool) {
	c := Change{NodeGUID: n.GUID}
	if old.Tables == nil || n.Tables == nil {
		return c, false
	}
	example := ib.LID(0)
	for lid := range max(len(old.Tables.LFT), len(n.Tables.LFT)) {
		if old.Tables.Lookup(ib.LID(lid)) != n.Tables.Lookup(ib.LID(lid)) {
			if c.LIDs == 0 {
				example = ib.LID(lid)
			}
			c.LIDs++
		}
	}
	groups := 0
	for lid, mask := range n.Tables.MFT {
		if old.Tables.MFT[lid] != mask {
			groups++
		}
	}
	for lid := range old.Tables.MFT {
		if _, ok := n.Tables.MFT[lid]; !ok {
			groups++
		}
	}
	switch {
	case c.LIDs > 0:
		c.Detail = fmt.Sprintf("%s: %s re-routed, for example LID %d: %s, before %s", w.node(n), counted(c.LIDs, "LID"), example,
			portText(n.Tables.Lookup(example)), portText(old.Tables.Lookup(example)))
	case groups > 0:
		c.Detail = w.node(n) + ":"
	default:
		return c, false
	}
	if c.LIDs > 0 && groups > 0 {
		c.Detail += ";"
	}
	if groups > 0 {
		c.Detail += fmt.Sprintf(" %s re-routed", counted(groups, "multicast LID"))
	}
	return c, true
}

// portText returns an output port in words.
func portText(port uint8) string {
	if port == NoRoute {
		return "no entry"
	}
	return fmt.Sprintf("port %d", port)
}
