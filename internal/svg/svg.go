// Package svg draws lines over two axes, as SVG (Scalable Vector Graphics 1.1).
package svg

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// A Chart is one drawing.
type Chart struct {
	Title, X, Y string
	XTick       func(float64) string // names a place on the X axis; nil: its number
	Series      []Series
}

// A Series is a line.
type Series struct {
	Name   string
	Points []Point
}

// A Point is one of a line.
type Point struct{ X, Y float64 }

// Sizes in pixels.
const (
	width, height = 860, 420
	left, right   = 80, 220 // for the numbers, and for the names of lines
	top, bottom   = 40, 60
	maxNames      = 18
)

// colours are told apart by people who do not see all of them (Okabe and Ito, 2008).
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"}

// Document returns charts one below the other.
func Document(charts []Chart) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", width, height*len(charts))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#ffffff"/>`+"\n")
	for i, c := range charts {
		fmt.Fprintf(&b, `<g transform="translate(0 %d)">`+"\n", i*height)
		c.draw(&b)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// Page returns charts as a page of HTML.
func Page(title string, charts []Chart) string {
	return fmt.Sprintf("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>%s</title>\n<body>\n%s</body>\n</html>\n",
		html.EscapeString(title), Document(charts))
}

// axis is a range of values and where it is drawn.
type axis struct {
	from, to, step float64
	begin, length  float64 // pixels; a negative length goes upwards
}

// newAxis returns one whose steps are round numbers.
func newAxis(from, to, begin, length float64) axis {
	if !(to > from) {
		to = from + 1
	}
	step := math.Pow(10, math.Floor(math.Log10(to-from)))
	for (to-from)/step < 4 {
		step /= 2
	}
	return axis{math.Floor(from/step) * step, math.Ceil(to/step) * step, step, begin, length}
}

func (a axis) at(v float64) float64 { return a.begin + (v-a.from)/(a.to-a.from)*a.length }

// ticks are the values that are named.
func (a axis) ticks() []float64 {
	var all []float64
	for i := 0; i < 20; i++ {
		v := a.from + float64(i)*a.step
		if v > a.to+a.step/1e3 {
			break
		}
		all = append(all, v)
	}
	return all
}

// bounds returns the least and the greatest values. Y begins at 0.
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

func (c Chart) draw(b *strings.Builder) {
	x0, x1, y1 := c.bounds()
	x := newAxis(x0, x1, left, width-left-right)
	y := newAxis(0, y1, height-bottom, -(height - top - bottom))
	fmt.Fprintf(b, `<text x="%d" y="22" font-size="15">%s</text>`+"\n", left, html.EscapeString(c.Title))
	name := c.XTick
	if name == nil {
		name = number
	}
	for _, v := range x.ticks() {
		fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#e0e0e0"/>`, x.at(v), top, x.at(v), height-bottom)
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x.at(v), height-bottom+18, html.EscapeString(name(v)))
	}
	for _, v := range y.ticks() {
		fmt.Fprintf(b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#e0e0e0"/>`, left, y.at(v), width-right, y.at(v))
		fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", left-8, y.at(v)+4, number(v))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", left+(width-left-right)/2, height-bottom+42, html.EscapeString(c.X))
	fmt.Fprintf(b, `<text x="16" y="%d" text-anchor="middle" transform="rotate(-90 16 %d)">%s</text>`+"\n", height/2, height/2, html.EscapeString(c.Y))
	for i, s := range c.Series {
		colour := colours[i%len(colours)]
		var points []string
		for _, p := range s.Points {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x.at(p.X), y.at(p.Y)))
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.Join(points, " "), colour)
		if i < maxNames {
			fmt.Fprintf(b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-width="3"/>`, width-right+12, top+i*18, width-right+32, top+i*18, colour)
			fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", width-right+38, top+i*18+4, html.EscapeString(s.Name))
		}
	}
}

// number is short and exact enough for an axis.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }
