package topology

import (
	"math"

	"github.com/ibkit/ibkit/fabric"
)

// A drawing shows the whole fabric, or an opened group with its neighbours.
type drawing struct {
	boxes  []box
	index  map[item]int
	frames []frame
	links  []link

	// The distance between boxes without a box between them.
	stepX, stepY float64

	lanes map[laneKey]int // next lanes

	least, most point // corners
}

// An item is a node, or a group.
type item struct {
	node  *fabric.Node
	group *group
}

// A box is an item at its place. Its cables leave towards side: 1 is down, -1 is up.
type box struct {
	item
	at   point // centre
	side float64
	row  float64 // the switch's y if the item is an end node below or above it
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
func (t item) size() (wide, high float64) {
	switch {
	case t.group != nil:
		return switchWide, groupHigh
	case t.node.IsSwitch():
		return switchWide, switchHigh
	}
	return switchWide - endIndent, endHigh - 1
}

func newDrawing() *drawing { return &drawing{index: map[item]int{}} }

// put places an item.
func (d *drawing) put(t item, at point, side float64) {
	d.index[t] = len(d.boxes)
	d.boxes = append(d.boxes, box{t, at, side, at.y})
}

// link adds the links of cables. A cable between an end node and the switch above it has
// no link, because the end node represents it.
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
		for _, at := range l.curve.extent() {
			add(at)
		}
	}
	if len(d.boxes) == 0 {
		d.least, d.most = point{}, point{}
	}
}
