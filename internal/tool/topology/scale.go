package topology

import (
	"slices"

	"github.com/ibkit/ibkit/report"
)

// A Scale is the meaning of colours in a picture.
type Scale struct {
	Name    string // "findings"
	nouns   [2]string
	verdict string // without marks
	classes []class
}

// A class is marks with the same colour, line pattern and sign in pictures.
type class struct {
	Colour string    `json:"colour"`
	Dark   string    `json:"dark"` // colour on a dark background
	Fill   string    `json:"-"`    // end node background
	Dash   []float64 `json:"dash"` // line pattern; empty: solid
	Sign   string    `json:"sign"`
	Text   string    `json:"text"`

	kinds []report.Kind
	least float64 // value from which marks have the class
}

// Findings colours cables by their findings. Classes are ordered by severity; the last class
// has all other findings.
var Findings = &Scale{Name: "findings", nouns: [2]string{"problem", "problems"}, classes: []class{
	{"#d97706", "#fbbf24", "#fde68a", []float64{9, 3}, "▲", "slower than possible or planned", []report.Kind{report.Slow, report.Narrow, report.Slower}, 0},
	{"#7c3aed", "#a78bfa", "#ddd6fe", []float64{2, 3}, "◆", "not cabled as planned", []report.Kind{report.MissingCable, report.WrongPeer, report.Swapped, report.UnexpectedCable}, 0},
	{"#b91c1c", "#f87171", "#fecaca", []float64{}, "●", "other problem", nil, 0},
}}

// Utilization colours cables by the busier direction, as a share of the rate.
var Utilization = &Scale{Name: "utilization", nouns: [2]string{"link in use", "links in use"}, verdict: "no link is used by 10 % or more", classes: []class{
	{"#2563eb", "#60a5fa", "#bfdbfe", []float64{}, "▁", "10 % and more", nil, 0.1},
	{"#0f766e", "#2dd4bf", "#99f6e4", []float64{}, "▃", "30 % and more", nil, 0.3},
	{"#d97706", "#fbbf24", "#fde68a", []float64{}, "▅", "60 % and more", nil, 0.6},
	{"#b91c1c", "#f87171", "#fecaca", []float64{}, "█", "90 % and more", nil, 0.9},
}}

// Errors colours cables by their error rate.
var Errors = &Scale{Name: "errors", nouns: [2]string{"link with errors", "links with errors"}, verdict: "no errors between the last two sweeps", classes: []class{
	{"#d97706", "#fbbf24", "#fde68a", []float64{9, 3}, "▂", "errors, fewer than 1 per second", nil, 0},
	{"#c2410c", "#fb923c", "#fed7aa", []float64{4, 2}, "▅", "1 error and more per second", nil, 1},
	{"#b91c1c", "#f87171", "#fecaca", []float64{}, "█", "100 errors and more per second", nil, 100},
}}

// Scales are all scales.
var Scales = []*Scale{Findings, Utilization, Errors}

// Mark returns the mark of a value, the zero Mark if it has no class.
func (s *Scale) Mark(value float64, text string) Mark {
	if value > 0 && value >= s.classes[0].least {
		return Mark{Text: text, value: value}
	}
	return Mark{}
}

// class returns a mark's class index.
func (s *Scale) class(m Mark) int {
	last := len(s.classes) - 1
	if m.value > 0 {
		for last > 0 && m.value < s.classes[last].least {
			last--
		}
		return last
	}
	if i := slices.IndexFunc(s.classes[:last], func(c class) bool { return slices.Contains(c.kinds, m.Kind) }); i >= 0 {
		return i
	}
	return last
}

// order returns a number by which marks are sorted, the worst first.
func (m Mark) order() int {
	if m.value > 0 {
		return -int(m.value * 1000)
	}
	return slices.Index(report.Severities(), m.Severity)
}
