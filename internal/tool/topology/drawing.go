package topology

import (
	"cmp"
	"math"
	"slices"

	"github.com/ibkit/ibkit/fabric"
)

// A drawing is what a picture shows at a time: the whole fabric, or an opened group with
// its neighbours.
type drawing struct {
	boxes  []box
	index  map[thing]int
	frames []frame
	links  []link

	// The distance between boxes without a box between them.
	stepX, stepY float64

	least, most point // corners
}

// A thing is what a box stands for: a node, or a group.
type thing struct {
	node  *fabric.Node
	group *group
}

// A box is a thing at its place. Its cables leave towards side: 1 is down, -1 is up.
type box struct {
	thing
	at   point // centre
	side float64
}

// A frame surrounds boxes that belong together.
type frame struct {
	title      string
	corner     point
	wide, high float64
	atBottom   bool // title place
}

// A link is the cables between two boxes.
type link struct {
	a, b   int // boxes
	curve  curve
	cables []int
}

// A point is a place in a drawing, in pixels at scale 1.
type point struct{ x, y float64 }

// Measures of drawings in pixels.
const (
	columnWidth = 120.0 // for a switch with its end nodes
	levelHeight = 140.0
	switchWide  = 104.0
	switchHigh  = 20.0
	endIndent   = 12.0 // end nodes are narrower than their switch
	endHigh     = 14.0
	groupHigh   = 50.0

	aspect = 0.6 // height per width that a drawing has at least
)

// size returns a box's width and height.
func (t thing) size() (wide, high float64) {
	switch {
	case t.group != nil:
		return switchWide, groupHigh
	case t.node.IsSwitch():
		return switchWide, switchHigh
	}
	return switchWide - endIndent, endHigh - 1
}

func newDrawing() *drawing { return &drawing{index: map[thing]int{}} }

// put places a thing.
func (d *drawing) put(t thing, at point, side float64) {
	d.index[t] = len(d.boxes)
	d.boxes = append(d.boxes, box{t, at, side})
}

// stand returns what stands for a node in the drawing of the whole fabric.
func (p *Picture) stand(n *fabric.Node) thing {
	if g := p.groupOf[n]; g != nil {
		return thing{group: g}
	}
	return thing{node: n}
}

// find returns the box of a node or its group.
func (d *drawing) find(p *Picture, n *fabric.Node) (int, bool) {
	if i, ok := d.index[thing{node: n}]; ok {
		return i, true
	}
	i, ok := d.index[p.stand(n)]
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
		p.placeLevels(d, p.switches(), p.stand)
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
	p.placeLevels(d, g.switches, func(n *fabric.Node) thing { return thing{node: n} })
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
	var peers []thing
	known := map[thing]bool{{group: g}: true}
	for _, i := range g.cables {
		for _, port := range []*fabric.Port{p.cables[i].A, p.cables[i].B} {
			if t := p.stand(port.Node); !known[t] {
				known[t] = true
				peers = append(peers, t)
			}
		}
	}
	place := p.drawings[0].index
	slices.SortFunc(peers, func(a, b thing) int { return cmp.Compare(place[a], place[b]) })
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

// link adds the links of cables. A cable between an end node and the switch above it has
// none, because the end node stands for it.
func (p *Picture) link(d *drawing, cables []int) {
	links := map[[2]int]int{}
	for _, i := range cables {
		c := p.cables[i]
		a, okA := d.find(p, c.A.Node)
		b, okB := d.find(p, c.B.Node)
		if !okA || !okB || a == b || p.owner[d.boxes[a].node] == c.B.Node || p.owner[d.boxes[b].node] == c.A.Node {
			continue
		}
		key := [2]int{min(a, b), max(a, b)}
		k, known := links[key]
		if !known {
			k = len(d.links)
			links[key] = k
			d.links = append(d.links, link{a: key[0], b: key[1], curve: d.curve(d.boxes[key[0]], d.boxes[key[1]])})
		}
		d.links[k].cables = append(d.links[k].cables, i)
	}
}

// measure sets the corners.
func (d *drawing) measure() {
	d.least, d.most = point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	add := func(p point) {
		d.least = point{min(d.least.x, p.x), min(d.least.y, p.y)}
		d.most = point{max(d.most.x, p.x), max(d.most.y, p.y)}
	}
	for _, b := range d.boxes {
		wide, high := b.size()
		add(point{b.at.x - wide/2, b.at.y - high/2})
		add(point{b.at.x + wide/2, b.at.y + high/2})
	}
	for _, f := range d.frames {
		add(f.corner)
		add(point{f.corner.x + f.wide, f.corner.y + f.high})
	}
	for _, l := range d.links {
		add(l.curve.at(0.5))
	}
	if len(d.boxes) == 0 {
		d.least, d.most = point{}, point{}
	}
}
