package page

import (
	"fmt"
	"math"
	"strings"
)

// Sizes of a spark line in its own units.
const (
	sparkWide = 120.0
	sparkHigh = 28.0
)

// spark writes a line of values, the newest at the right, as an SVG element. NaN is a gap.
// most is the value at the top; 0: the largest value. With fewer than two values it writes an
// empty line.
func (m *markup) spark(name string, values []float64, most float64) {
	if most == 0 {
		for _, v := range values {
			if v > most {
				most = v
			}
		}
	}
	label := name
	if len(values) > 0 {
		label += fmt.Sprintf(": the largest value is %s", significant(largest(values)))
	}
	m.begin("svg", "class", "spark", "viewBox", fmt.Sprintf("0 0 %g %g", sparkWide, sparkHigh), "preserveAspectRatio", "none", "role", "img", "aria-label", label)
	m.begin("line", "class", "base", "x1", "0", "x2", fmt.Sprint(sparkWide), "y1", fmt.Sprint(sparkHigh-1), "y2", fmt.Sprint(sparkHigh-1))
	m.end("line")
	for _, points := range segments(values, most) {
		m.begin("polyline", "points", points)
		m.end("polyline")
	}
	m.end("svg")
}

// segments returns the points of the lines between gaps.
func segments(values []float64, most float64) []string {
	step := sparkWide / math.Max(float64(historyLength-1), 1)
	left := sparkWide - step*float64(len(values)-1)
	var all []string
	var line []string
	flush := func() {
		if len(line) > 0 {
			all = append(all, strings.Join(line, " "))
		}
		line = nil
	}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			flush()
			continue
		}
		share := 0.0
		if most > 0 {
			share = math.Min(v/most, 1)
		}
		x, y := left+step*float64(i), sparkHigh-1-share*(sparkHigh-3)
		if len(line) == 0 { // a single point is a short line
			line = append(line, fmt.Sprintf("%.1f,%.1f", x-step/2, y))
		}
		line = append(line, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	flush()
	return all
}

func largest(values []float64) float64 {
	most := 0.0
	for _, v := range values {
		if v > most {
			most = v
		}
	}
	return most
}
