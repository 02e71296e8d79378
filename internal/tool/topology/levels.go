package topology

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
)

// A Layout has the levels of a fabric's switches: 0 for switches with end nodes,
// otherwise the distance from such a switch.
type Layout struct {
	Level map[*fabric.Node]int // switches only
	Count int                  // level count
}

// Levels returns the switches' levels.
func Levels(f *fabric.Fabric) Layout {
	l := Layout{Level: map[*fabric.Node]int{}}
	var queue []*fabric.Node
	for _, n := range f.Nodes {
		if !n.IsSwitch() {
			continue
		}
		for _, p := range linked(n) {
			if !p.Peer.Node.IsSwitch() && p.Peer.Node.Info.NodeType != mad.NodeTypeRouter && !p.Peer.Node.IsAggregation() {
				l.Level[n] = 0
				queue = append(queue, n)
				break
			}
		}
	}
	for i := 0; i < len(queue); i++ {
		n := queue[i]
		l.Count = max(l.Count, l.Level[n]+1)
		for _, p := range linked(n) {
			peer := p.Peer.Node
			if _, known := l.Level[peer]; peer.IsSwitch() && !known {
				l.Level[peer] = l.Level[n] + 1
				queue = append(queue, peer)
			}
		}
	}
	for _, n := range f.Nodes {
		if _, known := l.Level[n]; n.IsSwitch() && !known {
			l.Level[n] = 0
			l.Count = max(l.Count, 1)
		}
	}
	return l
}

// Parts returns the parts of a fabric without a connection, in the order of their first
// switch or router, each with its adapters. They have nodes only. A host with ports in two
// parts does not connect them, and is in the part of its first link.
func Parts(f *fabric.Fabric) []*fabric.Fabric {
	of := parts(f)
	var all []*fabric.Fabric
	for _, n := range f.Nodes {
		i, known := of[n]
		if n.IsCA() {
			for _, p := range linked(n) {
				if i, known = of[p.Peer.Node]; known {
					break
				}
			}
		}
		if !known {
			continue // an adapter without a link to a switch
		}
		for len(all) <= i {
			all = append(all, &fabric.Fabric{})
		}
		all[i].Nodes = append(all[i].Nodes, n)
	}
	return all
}

// parts returns the parts of a fabric without a connection, as a number for each switch
// and router. A host with ports in two parts does not connect them.
func parts(f *fabric.Fabric) map[*fabric.Node]int {
	of := map[*fabric.Node]int{}
	count := 0
	for _, first := range f.Nodes {
		if _, known := of[first]; known || first.IsCA() {
			continue
		}
		of[first] = count
		for queue := []*fabric.Node{first}; len(queue) > 0; queue = queue[1:] {
			for _, p := range linked(queue[0]) {
				peer := p.Peer.Node
				if _, known := of[peer]; !known && !peer.IsCA() {
					of[peer] = count
					queue = append(queue, peer)
				}
			}
		}
		count++
	}
	return of
}
