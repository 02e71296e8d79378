package topology

import (
	"cmp"
	"math"
	"slices"

	"github.com/ibkit/ibkit/fabric"
)

// mostEnds returns the largest end node count below a switch.
func (p *Picture) mostEnds(switches []*fabric.Node) int {
	most := 0
	for _, n := range switches {
		most = max(most, len(p.below[n]))
	}
	return most
}

// placeLevels places switches in rows, the leaves at the bottom. Each row is in the
// order that its neighbours have in the row below, so that cables cross less.
func (p *Picture) placeLevels(d *drawing, switches []*fabric.Node, itemOf func(*fabric.Node) item) {
	rows := make([][]*fabric.Node, p.Levels.Count)
	for _, n := range switches {
		level := p.Levels.Level[n]
		rows[level] = append(rows[level], n)
	}
	rows = slices.DeleteFunc(rows, func(row []*fabric.Node) bool { return len(row) == 0 })
	if len(rows) == 0 {
		return
	}
	p.sortPods(rows[0])
	longest := 0
	for _, row := range rows {
		longest = max(longest, len(row))
	}
	wide := float64(longest) * columnWidth
	free := aspect*wide - float64(p.mostEnds(switches))*endHigh
	gap := max(levelHeight, free/float64(max(1, len(rows)-1)))
	at := map[*fabric.Node]float64{}
	d.stepX = columnWidth
	for i, row := range rows {
		side := -1.0
		if i > 0 {
			side = 1 // end nodes, for example routers, above the cables to the leaves
			sortByPeers(row, at)
		}
		for k, n := range row {
			at[n] = wide * (float64(k) + 0.5) / float64(len(row))
			d.put(itemOf(n), point{at[n], -gap * float64(i)}, side)
		}
	}
}

// sortPods sorts leaf switches by pod.
func (p *Picture) sortPods(leaves []*fabric.Node) {
	pod := map[*fabric.Node]int{}
	for i, switches := range p.pods() {
		for _, n := range switches {
			pod[n] = i
		}
	}
	slices.SortStableFunc(leaves, func(a, b *fabric.Node) int { return cmp.Compare(pod[a], pod[b]) })
}

// sortByPeers sorts switches by the mean place of their neighbours that are placed.
func sortByPeers(switches []*fabric.Node, at map[*fabric.Node]float64) {
	mean := map[*fabric.Node]float64{}
	for _, n := range switches {
		sum, count := 0.0, 0
		for _, port := range linked(n) {
			if x, placed := at[port.Peer.Node]; placed {
				sum += x
				count++
			}
		}
		mean[n] = math.Round(sum / float64(max(1, count)))
	}
	slices.SortStableFunc(switches, func(a, b *fabric.Node) int { return cmp.Compare(mean[a], mean[b]) })
}

// placeEnds places the end nodes of switches on the side without cables.
func (p *Picture) placeEnds(d *drawing, switches []*fabric.Node) {
	for _, s := range switches {
		b, ends := d.boxes[d.index[item{node: s}]], p.below[s]
		top := b.at.y + switchHigh/2
		if b.side > 0 {
			top = b.at.y - switchHigh/2 - endHigh*float64(len(ends))
		}
		for i, n := range ends {
			d.put(item{node: n}, point{b.at.x + endIndent/2, top + endHigh*(float64(i)+0.5)}, b.side)
			d.boxes[len(d.boxes)-1].row = b.at.y
		}
	}
}

// placeOthers places nodes without a switch in a column on the left.
func (p *Picture) placeOthers(d *drawing) {
	row := 0.0
	for _, n := range p.Fabric.Nodes {
		if !n.IsSwitch() && p.owner[n] == nil {
			d.put(item{node: n}, point{-columnWidth, row * endHigh * 2}, -1)
			row++
		}
	}
}
