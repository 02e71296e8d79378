package topology

import "math"

// A curve is a cable's line: straight, a quadratic Bézier curve with a point in via, or
// straight lines through several points.
type curve struct {
	from, to point
	via      []point
}

func straight(from, to point) curve { return curve{from: from, to: to} }

func bent(from, control, to point) curve { return curve{from, to, []point{control}} }

// extent returns points that the curve does not leave, beside its ends.
func (c curve) extent() []point {
	if len(c.via) != 1 {
		return c.via
	}
	return []point{{(c.from.x + 2*c.via[0].x + c.to.x) / 4, (c.from.y + 2*c.via[0].y + c.to.y) / 4}} // the middle
}

// bulge is a curve's height per length.
const bulge = 0.15

// curve returns the line between two boxes. Lines in a row or column of a grid bend
// around the boxes between their ends.
func (d *drawing) curve(a, b box) curve {
	switch {
	case a.row != a.at.y && b.row == b.at.y:
		return d.endCurve(a, b)
	case b.row != b.at.y && a.row == a.at.y:
		return d.endCurve(b, a)
	case a.at.y > b.at.y:
		a, b = b, a
	}
	_, highA := a.size()
	_, highB := b.size()
	switch {
	case math.Abs(a.at.y-b.at.y) < 1:
		return d.rowCurve(a, b)
	case d.stepY > 0 && a.at.x == b.at.x:
		return d.columnCurve(a, b)
	}
	return straight(point{a.at.x, a.at.y + highA/2}, point{b.at.x, b.at.y - highB/2})
}

// endCurve returns the line from an end node to a switch other than the switch above it. It
// leaves the list on the right, between the columns, and follows the row: in a grid the
// switch's row, otherwise its own. Lines beside each other have lanes.
func (d *drawing) endCurve(end, to box) curve {
	const start, pitch, middle = 2, 4, (lanes - 1) / 2.0
	wide, _ := end.size()
	_, high := to.size()
	from := point{end.at.x + wide/2 + start, end.at.y}
	row, side := end.row, end.side
	if d.stepY > 0 {
		row = to.at.y
	}
	edge := to.at.y + side*high/2
	if row != to.at.y {
		edge = to.at.y - math.Copysign(high/2, to.at.y-end.at.y)
	}
	narrow := (d.stepX - switchWide - 2*start) / (lanes + 1)
	x := from.x + narrow*(1+d.lane(laneKey{column: true, at: point{end.at.x, 0}}))
	y := row + side*(high/2+pitch*(2+d.lane(laneKey{at: point{0, row}})))
	at := to.at.x + 2*pitch*(d.lane(laneKey{at: to.at})-middle)
	return curve{from, point{at, edge}, []point{{x, from.y}, {x, y}, {at, y}}}
}

// A laneKey is a column, a row, or a switch.
type laneKey struct {
	column bool
	at     point
}

// lanes are the lines side by side.
const lanes = 8

// lane returns the next lane, in turn.
func (d *drawing) lane(k laneKey) float64 {
	if d.lanes == nil {
		d.lanes = map[laneKey]int{}
	}
	n := d.lanes[k]
	d.lanes[k] = (n + 1) % lanes
	return float64(n)
}

// rowCurve returns the line between boxes in a row.
func (d *drawing) rowCurve(a, b box) curve {
	if a.at.x > b.at.x {
		a, b = b, a
	}
	wide, high := a.size()
	long := b.at.x - a.at.x
	if long < d.stepX*1.01 {
		return straight(point{a.at.x + wide/2, a.at.y}, point{b.at.x - wide/2, b.at.y})
	}
	out := bulge * long
	if d.stepY > 0 {
		out = min(out, d.stepY/2)
	}
	y := a.at.y + a.side*high/2
	return bent(point{a.at.x, y}, point{(a.at.x + b.at.x) / 2, y + a.side*2*out}, point{b.at.x, y})
}

// columnCurve returns the line between boxes in a grid's column, on the left of the end
// nodes.
func (d *drawing) columnCurve(a, b box) curve {
	wide, high := a.size()
	left := a.at.x - wide/2
	if b.at.y-a.at.y < d.stepY*1.01 {
		x := left + endIndent/2
		return straight(point{x, a.at.y + high/2}, point{x, b.at.y - high/2})
	}
	out := min(bulge*(b.at.y-a.at.y), (d.stepX-wide)*0.6)
	return bent(point{left, a.at.y}, point{left - 2*out, (a.at.y + b.at.y) / 2}, point{left, b.at.y})
}
