package topology

import "math"

// A curve is a cable's line, a quadratic Bézier curve. The line is straight if the
// control point is in the middle.
type curve struct{ from, control, to point }

func straight(from, to point) curve {
	return curve{from, point{(from.x + to.x) / 2, (from.y + to.y) / 2}, to}
}

// isStraight reports whether the curve is a straight line.
func (c curve) isStraight() bool { return c == straight(c.from, c.to) }

// at returns the place at t, 0 at the beginning and 1 at the end.
func (c curve) at(t float64) point {
	u := 1 - t
	return point{
		u*u*c.from.x + 2*u*t*c.control.x + t*t*c.to.x,
		u*u*c.from.y + 2*u*t*c.control.y + t*t*c.to.y,
	}
}

// bulge is a curve's height per length.
const bulge = 0.15

// curve returns the line between two boxes. Lines in a row or column of a grid bend
// around the boxes between their ends.
func (d *drawing) curve(a, b box) curve {
	switch {
	case a.row != a.at.y && b.row == b.at.y:
		return endCurve(a, b)
	case b.row != b.at.y && a.row == a.at.y:
		return endCurve(b, a)
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

// endCurve returns the line from an end node to a switch other than the switch above it.
// It leaves the row on the right, between the columns.
func endCurve(end, to box) curve {
	const start, gap = 3, 14
	wide, _ := end.size()
	_, high := to.size()
	from := point{end.at.x + wide/2 + start, end.at.y}
	if to.at.y == end.row {
		out := max(3*math.Abs(end.at.y-end.row), bulge*math.Abs(end.at.x-to.at.x))
		edge := to.at.y + end.side*high/2
		return curve{from, point{from.x + gap, edge + end.side*2*out}, point{to.at.x, edge}}
	}
	edge := to.at.y - math.Copysign(high/2, to.at.y-end.at.y)
	return curve{from, point{from.x + gap, end.at.y + 0.75*(edge-end.at.y)}, point{to.at.x, edge}}
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
	return curve{point{a.at.x, y}, point{(a.at.x + b.at.x) / 2, y + a.side*2*out}, point{b.at.x, y}}
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
	return curve{point{left, a.at.y}, point{left - 2*out, (a.at.y + b.at.y) / 2}, point{left, b.at.y}}
}
