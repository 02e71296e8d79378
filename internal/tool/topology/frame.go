package topology

import (
	"math"

	"github.com/ibkit/ibkit/fabric"
)

// A frame surrounds boxes that belong together.
type frame struct {
	title      string
	corner     point
	wide, high float64
	atBottom   bool // title place
}

// framePods frames the pods of a tree with several levels of switches in a pod, if the
// frames are side by side.
func (p *Picture) framePods(d *drawing) {
	if p.Shape.Name != "fat tree" || p.Levels.Count < 3 || p.Folded() {
		return
	}
	for _, pod := range p.pods() {
		d.frame(p.title(pod), pod, p)
	}
	for i, f := range d.frames[1:] {
		if last := d.frames[i]; f.corner.x < last.corner.x+last.wide {
			d.frames = nil // the rows have different orders
			return
		}
	}
}

// frame surrounds switches and their end nodes. The title is opposite to the cables.
func (d *drawing) frame(title string, switches []*fabric.Node, p *Picture) {
	const margin, line = 8.0, 16.0
	least, most := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, n := range switches {
		b := d.boxes[d.index[item{node: n}]]
		far := b.at.y - b.side*(switchHigh/2+endHigh*float64(len(p.below[n]))+line)
		near := b.at.y + b.side*switchHigh/2
		least = point{min(least.x, b.at.x-switchWide/2), min(least.y, far, near)}
		most = point{max(most.x, b.at.x+switchWide/2), max(most.y, far, near)}
	}
	d.frames = append(d.frames, frame{
		title: title, corner: point{least.x - margin, least.y - margin}, wide: most.x - least.x + 2*margin, high: most.y - least.y + 2*margin,
		atBottom: d.boxes[d.index[item{node: switches[0]}]].side < 0,
	})
}
