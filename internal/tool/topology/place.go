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
func (p *Picture) placeLevels(d *drawing, switches []*fabric.Node, stand func(*fabric.Node) thing) {
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
		if i > 0 {
			sortByPeers(row, at)
		}
		for k, n := range row {
			at[n] = wide * (float64(k) + 0.5) / float64(len(row))
			d.put(stand(n), point{at[n], -gap * float64(i)}, -1)
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

// placeGrid places the switches of a torus; the planes of a third dimension are side by
// side.
func (p *Picture) placeGrid(d *drawing) {
	size := []int{0, 0, 1}
	for _, c := range p.Shape.Grid {
		for i, v := range c {
			size[i] = max(size[i], v+1)
		}
	}
	columns := size[0]*size[2] + size[2] - 1
	d.stepX = columnWidth * 1.25
	d.stepY = levelHeight
	if !p.Folded() {
		d.stepY += float64(p.mostEnds(p.switches())) * endHigh
	}
	d.stepY = max(d.stepY, aspect*float64(columns)*d.stepX/float64(size[1]))
	for _, n := range p.switches() {
		c := append(slices.Clone(p.Shape.Grid[n]), 0)
		column := c[2]*(size[0]+1) + c[0]
		d.put(p.stand(n), point{float64(column) * d.stepX, float64(c[1]) * d.stepY}, -1)
	}
}

// placeGroups places a dragonfly's groups in two rows, with the cables between the rows
// and the end nodes outside.
func (p *Picture) placeGroups(d *drawing) {
	groups := p.Shape.Groups
	ends := float64(p.mostEnds(p.switches())) * endHigh
	pitch := float64(len(groups[0]))*columnWidth + columnWidth/2
	upper := (len(groups) + 1) / 2
	band := max(2*levelHeight, aspect*float64(upper)*pitch-2*ends)
	d.stepX = columnWidth
	for i, members := range groups {
		left, y, side := float64(i)*pitch, 0.0, 1.0
		if i >= upper {
			left, y, side = (float64(i-upper)+float64(2*upper-len(groups))/2)*pitch, band, -1
		}
		for k, n := range members {
			d.put(thing{node: n}, point{left + float64(k)*columnWidth, y}, side)
		}
		d.frame(p.title(members), members, p)
	}
}

// placeFolded places groups: pods on both sides of the top switches, or a dragonfly's
// groups in two rows.
func (p *Picture) placeFolded(d *drawing) {
	var parts, top []thing
	for _, n := range p.switches() {
		t := p.stand(n)
		list := &parts
		if p.Shape.Name == "fat tree" && p.isTop(n) {
			list = &top
		}
		if !slices.Contains(*list, t) {
			*list = append(*list, t)
		}
	}
	rows := [][]thing{top, parts}
	if half := (len(parts) + 1) / 2; len(parts) > 12 || len(top) == 0 {
		rows = [][]thing{parts[:half], top, parts[half:]}
	}
	rows = slices.DeleteFunc(rows, func(row []thing) bool { return len(row) == 0 })
	longest := 0
	for _, row := range rows {
		longest = max(longest, len(row))
	}
	wide := float64(longest) * columnWidth
	gap := max(levelHeight, aspect*wide/float64(max(1, len(rows)-1)))
	d.stepX = columnWidth
	for i, row := range rows {
		side := -1.0
		if i == 0 {
			side = 1
		}
		for k, t := range row {
			d.put(t, point{wide * (float64(k) + 0.5) / float64(len(row)), gap * float64(i)}, side)
		}
	}
}

// placeEnds places the end nodes of switches on the side without cables.
func (p *Picture) placeEnds(d *drawing, switches []*fabric.Node) {
	for _, s := range switches {
		b, ends := d.boxes[d.index[thing{node: s}]], p.below[s]
		top := b.at.y + switchHigh/2
		if b.side > 0 {
			top = b.at.y - switchHigh/2 - endHigh*float64(len(ends))
		}
		for i, n := range ends {
			d.put(thing{node: n}, point{b.at.x + endIndent/2, top + endHigh*(float64(i)+0.5)}, b.side)
		}
	}
}

// placeOthers places nodes without a switch in a column on the left.
func (p *Picture) placeOthers(d *drawing) {
	row := 0.0
	for _, n := range p.Fabric.Nodes {
		if !n.IsSwitch() && p.owner[n] == nil {
			d.put(thing{node: n}, point{-columnWidth, row * endHigh * 2}, -1)
			row++
		}
	}
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
		b := d.boxes[d.index[thing{node: n}]]
		far := b.at.y - b.side*(switchHigh/2+endHigh*float64(len(p.below[n]))+line)
		near := b.at.y + b.side*switchHigh/2
		least = point{min(least.x, b.at.x-switchWide/2), min(least.y, far, near)}
		most = point{max(most.x, b.at.x+switchWide/2), max(most.y, far, near)}
	}
	d.frames = append(d.frames, frame{
		title: title, corner: point{least.x - margin, least.y - margin}, wide: most.x - least.x + 2*margin, high: most.y - least.y + 2*margin,
		atBottom: d.boxes[d.index[thing{node: switches[0]}]].side < 0,
	})
}
