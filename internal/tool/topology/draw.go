package topology

import (
	"cmp"
	"slices"

	"github.com/ibkit/ibkit/fabric"
)

// itemOf returns the item for a node in the drawing of the whole fabric.
func (p *Picture) itemOf(n *fabric.Node) item {
	if g := p.groupOf[n]; g != nil {
		return item{group: g}
	}
	return item{node: n}
}

// find returns the box of a node or its group.
func (d *drawing) find(p *Picture, n *fabric.Node) (int, bool) {
	if i, ok := d.index[item{node: n}]; ok {
		return i, true
	}
	i, ok := d.index[p.itemOf(n)]
	return i, ok
}

// drawAll draws the whole fabric.
func (p *Picture) drawAll() *drawing {
	d := newDrawing()
	switch {
	case p.Shape.Name == "torus":
		p.placeGrid(d)
	case p.Folded() && p.Shape.Name != "":
		p.placeFolded(d)
	case p.Shape.Name == "dragonfly":
		p.placeGroups(d)
	default:
		p.placeLevels(d, p.switches(), p.itemOf)
		p.framePods(d)
	}
	if !p.Folded() {
		p.placeEnds(d, p.switches())
	}
	p.placeOthers(d)
	all := make([]int, len(p.cables))
	for i := range all {
		all[i] = i
	}
	p.link(d, all)
	d.measure()
	return d
}

// drawGroup draws a group's nodes, and the groups or switches that they are linked to.
func (p *Picture) drawGroup(g *group) *drawing {
	d := newDrawing()
	p.placeLevels(d, g.switches, func(n *fabric.Node) item { return item{node: n} })
	p.placeEnds(d, g.switches)
	d.measure()
	p.placePeers(d, g)
	p.link(d, g.cables)
	d.measure()
	return d
}

// placePeers places a group's neighbours in a row above it, or below a group without
// end nodes.
func (p *Picture) placePeers(d *drawing, g *group) {
	var peers []item
	known := map[item]bool{{group: g}: true}
	for _, i := range g.cables {
		for _, port := range []*fabric.Port{p.cables[i].A, p.cables[i].B} {
			if t := p.itemOf(port.Node); !known[t] {
				known[t] = true
				peers = append(peers, t)
			}
		}
	}
	place := p.drawings[0].index
	slices.SortFunc(peers, func(a, b item) int { return cmp.Compare(place[a], place[b]) })
	wide := max(d.most.x-d.least.x, float64(len(peers))*columnWidth)
	gap := max(levelHeight, aspect*wide-(d.most.y-d.least.y))
	y, side := d.least.y-gap, 1.0
	if len(g.ends) == 0 {
		y, side = d.most.y+gap, -1
	}
	middle := (d.least.x + d.most.x) / 2
	for i, t := range peers {
		d.put(t, point{middle + wide*((float64(i)+0.5)/float64(len(peers))-0.5), y}, side)
	}
}
