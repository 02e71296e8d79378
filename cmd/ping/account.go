package ping

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ping"
)

// accountText prints the statistics: a table of the targets if there are several, and
// the total.
func (v *view) accountText(r *ping.Result) {
	defer v.expectedText()
	switch len(r.Targets) {
	case 0:
		return
	case 1:
		t := r.Targets[0]
		v.block(fmt.Sprintf("%s (via %v)", t.Name, t.Agent), &t.Stats, r)
		return
	}
	header := append([]string{"TARGET", "VIA", "SENT", "RECEIVED", "LOSS"}, rttHeader...)
	var rows [][]string
	for _, t := range r.Targets {
		s := &t.Stats
		if v.problems && !v.limits.exceeded(s) && s.Late+s.Duplicated == 0 {
			continue
		}
		row := []string{t.Name, t.Agent.String(), fmt.Sprint(s.Sent), fmt.Sprint(s.Received), lossText(s)}
		rows = append(rows, append(append(row, rttTexts(s)...), wrongs(s)))
	}
	out := v.out
	v.separate()
	if len(rows) > 0 {
		if err := render.Table(out, append(header, "PROBLEM"), rows); err != nil {
			return // the writer keeps the error until Flush
		}
		out.WriteByte('\n')
	}
	v.block(fmt.Sprintf("total of %d targets", len(r.Targets)), &r.Total, r)
}

// separate prints an empty line after probes and earlier statistics.
func (v *view) separate() {
	if v.accounted || v.showsProbes() {
		v.out.WriteByte('\n')
	}
	v.accounted = true
}

// block prints the statistics of one target or the total.
func (v *view) block(title string, s *ping.Stats, r *ping.Result) {
	out := v.out
	if len(r.Targets) == 1 {
		v.separate()
	}
	fmt.Fprintf(out, "--- %s ---\n%d sent, %d received", title, s.Sent, s.Received)
	for _, c := range outcomeCounts(s) {
		if c.always || c.n > 0 {
			fmt.Fprintf(out, ", %d %s", c.n, c.name)
		}
	}
	fmt.Fprintf(out, ", %s loss in %s\n", lossText(s), render.Duration(r.Duration))
	if s.Received == 0 {
		return
	}
	var texts []string
	for i, text := range rttTexts(s) {
		texts = append(texts, rttNames[i]+" "+text)
	}
	fmt.Fprintf(out, "round trip %s\n", strings.Join(texts, ", "))
	if v.histogram {
		v.bars(s)
	}
}

// lossText returns the share of lost probes, or that it is absent if none has ended.
func lossText(s *ping.Stats) string {
	if !s.HasResult() {
		return render.Absent
	}
	return render.Percent(s.Loss())
}

// An outcomeCount is the number of probes with one outcome.
type outcomeCount struct {
	n      int
	name   string
	always bool // shown even if 0
}

func outcomeCounts(s *ping.Stats) []outcomeCount {
	return []outcomeCount{
		{s.Lost, "lost", true},
		{s.Late, "late", true},
		{s.Duplicated, "duplicated", true},
		{s.Corrupted, "corrupted", true},
		{s.WrongSource, "from a wrong source", true},
		{s.WrongOUI, "of a wrong OUI", false},
		{s.Refused, "refused", false},
		{s.Unreachable, "unreachable", false},
	}
}

// wrongs returns the counts of failed probes of a target with their names.
func wrongs(s *ping.Stats) string {
	var texts []string
	for _, c := range outcomeCounts(s) {
		if c.n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", c.n, c.name))
		}
	}
	return render.OrAbsent(strings.Join(texts, ", "))
}

// mostBars is the limit of the bars of a histogram.
const mostBars = 12

// bars draws a histogram of round-trip times. The steps have equal ratios, because a
// few slow replies would otherwise leave all others in one step.
func (v *view) bars(s *ping.Stats) {
	var bars []render.Bar
	for _, b := range s.Bars(mostBars) {
		bars = append(bars, render.Bar(b))
	}
	render.Bars(v.out, bars)
}
