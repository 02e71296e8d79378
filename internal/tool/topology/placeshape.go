package topology

import (
	"slices"
)

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
		d.put(p.itemOf(n), point{float64(column) * d.stepX, float64(c[1]) * d.stepY}, -1)
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
			d.put(item{node: n}, point{left + float64(k)*columnWidth, y}, side)
		}
		d.frame(p.title(members), members, p)
	}
}

// placeFolded places groups: pods on both sides of the top switches, or a dragonfly's
// groups in two rows.
func (p *Picture) placeFolded(d *drawing) {
	var parts, top []item
	for _, n := range p.switches() {
		t := p.itemOf(n)
		list := &parts
		if p.Shape.Name == "fat tree" && p.isTop(n) {
			list = &top
		}
		if !slices.Contains(*list, t) {
			*list = append(*list, t)
		}
	}
	rows := [][]item{top, parts}
	if half := (len(parts) + 1) / 2; len(parts) > 12 || len(top) == 0 {
		rows = [][]item{parts[:half], top, parts[half:]}
	}
	rows = slices.DeleteFunc(rows, func(row []item) bool { return len(row) == 0 })
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
