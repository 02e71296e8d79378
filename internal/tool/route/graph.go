package route

import (
	"cmp"
	"slices"

	"github.com/ibkit/ibkit/ib"
)

// A graph numbers the switches, the end ports and the output ports in a routing, for
// analysis without pointers.
type graph struct {
	switches []*Node
	base     []int32 // by switch: its port 0's number; the output ports follow each other
	radix    []int32 // by switch: port count with port 0
	top      []int32 // by switch: highest LID in use; -1: its tables are unknown
	gaps     []bool  // by switch: table blocks are missing
	channels int     // output port count

	// By output port:
	to    []int32 // switch at the link's other end; -1: none
	entry []uint8 // that switch's port
	end   []int32 // end port at the link's other end; -1: none

	ends []endPort

	// hosts has the count of end ports with a LID behind each switch.
	hosts []int32

	// owner has each unicast LID's end port, -1 for LIDs without an end port. For
	// switch LIDs it is -2 minus the switch number.
	owner []int32

	lids       []ib.LID // destinations: all end port LIDs, in ascending order
	duplicates []Duplicate
}

// An endPort is an adapter or router port with a LID.
type endPort struct {
	port *Port
	sw   int32 // the switch it is linked to; -1: none
	at   uint8 // that switch's port
	peer int32 // the end port it is linked to; -1: none
}

// A Duplicate is a LID that two ports have.
type Duplicate struct {
	LID  ib.LID
	A, B *Port
}

// newGraph numbers a routing's nodes. With withSwitches, switch management ports are
// destinations, too.
func newGraph(r *Routing, withSwitches bool) *graph {
	return numberNodes(r, withSwitches, func(p *Port) bool { return p.LID.IsUnicast() && r.contains(p) })
}

// numberNodes is [newGraph] with the adapter and router ports that isEnd selects.
func numberNodes(r *Routing, withSwitches bool, isEnd func(*Port) bool) *graph {
	g := &graph{owner: slices.Repeat([]int32{-1}, int(ib.MaxUnicastLID)+1)}
	index := make(map[*Node]int32)
	for _, n := range r.Nodes {
		if n.IsSwitch() {
			index[n] = int32(len(g.switches))
			g.addSwitch(n)
		}
	}
	g.to, g.end = slices.Repeat([]int32{-1}, g.channels), slices.Repeat([]int32{-1}, g.channels)
	g.entry = make([]uint8, g.channels)
	g.hosts = make([]int32, len(g.switches))
	numbers := make(map[*Port]int32)
	for _, n := range r.Nodes {
		if n.IsSwitch() {
			g.own(&n.Ports[0], -2-index[n], withSwitches)
			continue
		}
		for i := range n.Ports {
			if p := &n.Ports[i]; isEnd(p) {
				numbers[p] = int32(len(g.ends))
				g.own(p, int32(len(g.ends)), true)
				g.ends = append(g.ends, endPort{port: p, sw: -1, peer: -1})
			}
		}
	}
	g.addLinks(index, numbers)
	slices.Sort(g.lids)
	slices.SortFunc(g.duplicates, func(a, b Duplicate) int { return cmp.Compare(a.LID, b.LID) })
	return g
}

func (g *graph) addSwitch(n *Node) {
	g.switches = append(g.switches, n)
	g.base = append(g.base, int32(g.channels))
	g.channels += len(n.Ports)
	g.radix = append(g.radix, int32(len(n.Ports)))
	top, gaps := int32(-1), false
	if n.Tables.Known() {
		top, gaps = int32(n.Tables.Top), len(n.Tables.Missing) > 0 || n.Tables.Incomplete
	}
	g.top, g.gaps = append(g.top, top), append(g.gaps, gaps)
}

// addLinks adds all switches' and end ports' links, given their indexes.
func (g *graph) addLinks(switches map[*Node]int32, ends map[*Port]int32) {
	for s, n := range g.switches {
		for i := range n.Ports {
			peer := n.Ports[i].Peer
			if peer == nil || i == 0 {
				continue
			}
			c := g.base[s] + int32(i)
			if t, ok := switches[peer.Node]; ok {
				g.to[c], g.entry[c] = t, peer.Number
			} else if e, ok := ends[peer]; ok {
				g.end[c] = e
				g.ends[e].sw, g.ends[e].at = int32(s), uint8(i)
				g.hosts[s]++
			}
		}
	}
	for i := range g.ends {
		if peer, ok := ends[g.ends[i].port.Peer]; ok && g.ends[i].sw < 0 {
			g.ends[i].peer = peer
		}
	}
}

// own enters the owner of a port's LIDs.
func (g *graph) own(p *Port, owner int32, destination bool) {
	if !p.LID.IsUnicast() {
		return
	}
	for i := range 1 << p.LMC {
		lid := int(p.LID) + i
		if lid > int(ib.MaxUnicastLID) {
			return
		}
		if other := g.owner[lid]; other != -1 {
			g.duplicates = append(g.duplicates, Duplicate{ib.LID(lid), g.portOf(other), p})
			continue
		}
		g.owner[lid] = owner
		if destination {
			g.lids = append(g.lids, ib.LID(lid))
		}
	}
}

// portOf returns a LID owner's port.
func (g *graph) portOf(owner int32) *Port {
	if owner >= 0 {
		return g.ends[owner].port
	}
	return &g.switches[-2-owner].Ports[0]
}

// switchOf returns an output port's switch and its number.
func (g *graph) switchOf(channel int32) (s int32, port uint8) {
	i, found := slices.BinarySearch(g.base, channel)
	if !found {
		i--
	}
	return int32(i), uint8(channel - g.base[i])
}

// port returns an output port.
func (g *graph) port(channel int32) *Port {
	s, number := g.switchOf(channel)
	return &g.switches[s].Ports[number]
}
