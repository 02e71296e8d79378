// Package chart draws line charts as SVG (Scalable Vector Graphics 1.1), as HTML pages
// with SVG, or as PNG.
package chart

import (
	"fmt"
	"math"
	"strconv"
)

// A Chart is a line set over two axes.
type Chart struct {
	Title, X, Y string
	XTick       func(float64) string // returns the label at an X position; nil: the number
	XWhole      bool                 // the X axis has labels at whole numbers only
	Series      []Series
}

// A Series is a line with a name.
type Series struct {
	Name   string
	Points []Point
}

// A Point is a point on a line.
type Point struct{ X, Y float64 }

// Sizes in pixels.
const (
	width, height = 860, 420
	left, right   = 80, 240 // for labels and line names
	top, bottom   = 40, 60
	maxNames      = 18
	nameHeight    = 18
	maxDots       = 60 // maximum points on a line with dots
	titleSize     = 15
	textSize      = 12
)

// MaxSeries is the count of lines with different colours.
const MaxSeries = 8

// colours can be distinguished by people with colour blindness (Okabe and Ito, 2008).
var colours = [MaxSeries]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"}

const gridColour = "#e0e0e0"

// align is a text's position relative to a point.
type align int

const (
	atStart align = iota
	atMiddle
	atEnd
)

// A canvas is a drawing surface. Y grows downwards.
type canvas interface {
	line(points []Point, width float64, colour string)
	dot(at Point, radius float64, colour, about string)
	// text draws upwards and centred if upright is set.
	text(at Point, size int, a align, upright bool, text string)
}

// drawAll draws charts below each other.
func drawAll(c canvas, charts []Chart) {
	for i, one := range charts {
		one.draw(moved{c, float64(i * height)})
	}
}

// moved is a canvas with a vertical offset.
type moved struct {
	canvas
	by float64
}

func (m moved) line(points []Point, width float64, colour string) {
	lower := make([]Point, len(points))
	for i, p := range points {
		lower[i] = Point{p.X, p.Y + m.by}
	}
	m.canvas.line(lower, width, colour)
}

func (m moved) dot(at Point, radius float64, colour, about string) {
	m.canvas.dot(Point{at.X, at.Y + m.by}, radius, colour, about)
}

func (m moved) text(at Point, size int, a align, upright bool, text string) {
	m.canvas.text(Point{at.X, at.Y + m.by}, size, a, upright, text)
}

// bounds returns the value range. Y starts at 0.
func (c Chart) bounds() (x0, x1, y1 float64) {
	x0, x1 = math.Inf(1), math.Inf(-1)
	for _, s := range c.Series {
		for _, p := range s.Points {
			x0, x1, y1 = min(x0, p.X), max(x1, p.X), max(y1, p.Y)
		}
	}
	if x0 > x1 {
		return 0, 1, 1
	}
	return x0, x1, y1
}

func (c Chart) draw(on canvas) {
	x0, x1, y1 := c.bounds()
	x := newAxis(x0, x1, left, width-left-right, c.XWhole)
	y := newAxis(0, y1, height-bottom, -(height - top - bottom), false)
	on.text(Point{left, 22}, titleSize, atStart, false, c.Title)
	name := c.XTick
	if name == nil {
		name = number
	}
	for _, v := range x.ticks() {
		on.line([]Point{{x.at(v), top}, {x.at(v), height - bottom}}, 1, gridColour)
		on.text(Point{x.at(v), height - bottom + 18}, textSize, atMiddle, false, name(v))
	}
	for _, v := range y.ticks() {
		on.line([]Point{{left, y.at(v)}, {width - right, y.at(v)}}, 1, gridColour)
		on.text(Point{left - 8, y.at(v) + 4}, textSize, atEnd, false, number(v))
	}
	on.text(Point{left + (width-left-right)/2, height - bottom + 42}, textSize, atMiddle, false, c.X)
	on.text(Point{16, height / 2}, textSize, atMiddle, true, c.Y)
	for i, s := range c.Series {
		colour := colours[i%len(colours)]
		points := make([]Point, len(s.Points))
		for j, p := range s.Points {
			points[j] = Point{x.at(p.X), y.at(p.Y)}
		}
		on.line(points, 1.5, colour)
		if len(points) <= maxDots {
			for j, p := range points {
				on.dot(p, 2.5, colour, fmt.Sprintf("%s, %s: %s %s", s.Name, name(s.Points[j].X), number(s.Points[j].Y), c.Y))
			}
		}
		c.name(on, i, colour)
	}
}

// name draws the line's name beside the chart, up to maxNames per chart.
func (c Chart) name(on canvas, i int, colour string) {
	y, text := float64(top+i*nameHeight), c.Series[i].Name
	switch more := len(c.Series) - maxNames; {
	case i > maxNames || i == maxNames && more == 1:
		return
	case i == maxNames:
		on.text(Point{width - right + 38, y + 4}, textSize, atStart, false, fmt.Sprintf("and %d more", more))
		return
	}
	on.line([]Point{{width - right + 12, y}, {width - right + 32, y}}, 3, colour)
	on.text(Point{width - right + 38, y + 4}, textSize, atStart, false, text)
}

// number formats an axis label.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }
