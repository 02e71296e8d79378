package topology

import (
	"cmp"
	"slices"
	"strings"
)

// A rateClass is the cables of a picture with the same rate.
type rateClass struct {
	text   string // "unknown rate" if it is unknown
	gbps   float64
	cables int
	wide   float64 // line width: the faster, the wider
}

// Line widths in pixels.
const (
	narrowLine = 1.0
	widestLine = 3.0
	lineStep   = 0.6 // at most
)

// addRates counts the cables by rate, the fastest first. Each rate has a line width.
func (p *Picture) addRates() {
	p.rates, p.rateOf = nil, nil
	index := map[string]int{}
	texts := make([]string, len(p.current))
	for i, c := range p.current {
		w, s := c.Rate()
		texts[i] = cmp.Or(strings.TrimSpace(textOf(w)+" "+textOf(s)), "unknown rate")
		if c == (Cable{}) {
			texts[i] = "no link"
		}
		if _, known := index[texts[i]]; !known {
			index[texts[i]] = len(p.rates)
			p.rates = append(p.rates, rateClass{text: texts[i], gbps: c.Gbps()})
		}
		p.rates[index[texts[i]]].cables++
	}
	slices.SortStableFunc(p.rates, func(a, b rateClass) int { return cmp.Compare(b.gbps, a.gbps) })
	last := len(p.rates) - 1
	step := min(lineStep, (widestLine-narrowLine)/float64(max(last, 1)))
	for i := range p.rates {
		index[p.rates[i].text] = i
		p.rates[i].wide = narrowLine + step*float64(last-i)
	}
	for _, text := range texts {
		p.rateOf = append(p.rateOf, index[text])
	}
}

// widest returns the line width of cables.
func (p *Picture) widest(cables []int) float64 {
	wide := 0.0
	for _, i := range cables {
		wide = max(wide, p.rates[p.rateOf[i]].wide)
	}
	return wide
}
