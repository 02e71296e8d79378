package ping

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ping"
)

// accountText prints what became of the probes: a table of the targets where
// there are several, and the sum.
func (v *view) accountText(r *ping.Result) {
	if len(r.Targets) == 1 {
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
		row := []string{t.Name, t.Agent.String(), fmt.Sprint(s.Sent), fmt.Sprint(s.Received), percent(s.Loss())}
		rows = append(rows, append(append(row, rttTexts(s)...), wrongs(s)))
	}
	out := v.out
	out.WriteByte('\n')
	if len(rows) > 0 {
		if err := render.Table(out, append(header, "WRONG"), rows); err != nil {
			return // the writer keeps it, and tells at the end
		}
		out.WriteByte('\n')
	}
	v.block(fmt.Sprintf("total of %d targets", len(r.Targets)), &r.Total, r)
}

// block prints one account in full.
func (v *view) block(title string, s *ping.Stats, r *ping.Result) {
	out := v.out
	if len(r.Targets) == 1 {
		out.WriteByte('\n')
	}
	fmt.Fprintf(out, "--- %s ---\n%d sent, %d received", title, s.Sent, s.Received)
	for _, c := range outcomeCounts(s) {
		if c.always || c.n > 0 {
			fmt.Fprintf(out, ", %d %s", c.n, c.name)
		}
	}
	fmt.Fprintf(out, ", %s loss in %s\n", percent(s.Loss()), rttText(r.Duration))
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

// percent writes a share with up to four digits.
func percent(share float64) string { return fmt.Sprintf("%.4g%%", 100*share) }

// An outcomeCount is how often something became of probes.
type outcomeCount struct {
	n      int
	name   string
	always bool // is shown where there was none too
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

// wrongs returns what was wrong with a target, each by its name.
func wrongs(s *ping.Stats) string {
	var texts []string
	for _, c := range outcomeCounts(s) {
		if c.n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", c.n, c.name))
		}
	}
	if len(texts) == 0 {
		return "-"
	}
	return strings.Join(texts, ", ")
}

// How a histogram is drawn.
const (
	mostBars = 12
	barWidth = 40
)

// bars draws how the round trips are distributed. The steps are of equal ratio,
// for a few slow ones would press all others into one.
func (v *view) bars(s *ping.Stats) {
	bars := s.Bars(mostBars)
	longest := 0
	for _, b := range bars {
		longest = max(longest, b.Count)
	}
	for _, b := range bars {
		n := (b.Count*barWidth + longest - 1) / longest
		line := fmt.Sprintf("%9s to %-9s %-*s %d", rttText(b.From), rttText(b.To), barWidth, strings.Repeat("#", n), b.Count)
		fmt.Fprintf(v.out, "%s (%s)\n", line, percent(float64(b.Count)/float64(s.Received)))
	}
}
