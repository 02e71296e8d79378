package counters

import (
	"fmt"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/report"
)

// A Finding is an observation about a port. Tables, metrics and classic names evaluate its
// counter and class; [Finding.Report] returns the report.Finding with the port's name.
type Finding struct {
	Kind    report.Kind
	Counter Counter // 0 for Cleared and Disappeared
	Class   Class   // 0: none
	Meaning string
	Value   uint64 // the counter's value, or its increase with InWindow

	InWindow bool
}

// IsProblem reports whether the finding is an error. A saturated XmitWait is not: its share
// in the demand is unknown.
func (f Finding) IsProblem() bool { return f.Kind != report.Saturated || f.Counter != XmitWait }

// Severity returns the severity in the vocabulary of all commands.
func (f Finding) Severity() report.Severity {
	if !f.IsProblem() {
		return report.Info
	}
	return f.Kind.Info().Severity
}

// Text returns the finding without its meaning.
func (f Finding) Text() string {
	switch f.Kind {
	case report.Cleared:
		return "cleared"
	case report.Disappeared:
		return "no reply"
	}
	sign := ""
	if f.InWindow {
		sign = "+"
	}
	text := fmt.Sprintf("%v %s%d", f.Counter, sign, f.Value)
	if f.Kind == report.Saturated {
		text += " (saturated)"
	}
	return text
}

// Limits decide which values are findings.
type Limits struct {
	Thresholds Thresholds

	// Wait is the part of a link's rate, or without a window of its demand, that may
	// be lost by waiting: it applies to XmitWait unless a threshold is given.
	Wait float64

	// BER are the rules for bit error rates; nil: none.
	BER []BERRule
}

// DefaultWait is the default for Limits.Wait.
const DefaultWait = 0.01

// minLost is how many bytes must be lost by waiting before an idle link's share has a
// meaning.
const minLost = 1 << 20

// exceeds applies a counter's threshold. For increases in a window it is 0 unless a file
// has another limit.
func (l *Limits) exceeds(c Counter, v uint64, inWindow bool) bool {
	if inWindow && !l.Thresholds.IsGiven(c) {
		return v > 0
	}
	return l.Thresholds.Exceeds(c, v)
}

// Findings returns a port's findings, the worst first.
func (l *Limits) Findings(p *Port) []Finding {
	if p.Now == nil {
		if p.Before != nil {
			return []Finding{{Kind: report.Disappeared, Meaning: "the port was read before, and did not respond again"}}
		}
		return nil
	}
	d := p.Delta()
	all := fecFindings(p, d)
	for _, c := range bySeverity {
		if f, ok := l.finding(p, d, c); ok {
			all = append(all, f)
		}
	}
	if d != nil {
		all = append(all, l.windowFindings(p, d)...)
	}
	for i := range all {
		all[i].Kind = all[i].kind()
	}
	return all
}

// kind returns the kind by the class and the window of a finding above a threshold.
func (f Finding) kind() report.Kind {
	switch {
	case f.Kind != report.Exceeded:
		return f.Kind
	case f.Class == Congestion:
		return report.Congested
	case f.InWindow:
		return report.Increased
	}
	return report.Exceeded
}

// fecFindings returns a finding for blocks with errors that were not corrected.
func fecFindings(p *Port, d *Delta) []Finding {
	v, ok := p.Now.Value(FECUncorrectable)
	f := Finding{
		Kind: report.Exceeded, Counter: FECUncorrectable, Class: Cable, Value: v.N,
		Meaning: "bit errors that error correction did not repair",
	}
	if d != nil {
		var ch Change
		if ch, ok = d.Change(FECUncorrectable); ok {
			f.Value, f.InWindow = ch.Increase, true
		}
	}
	if !ok || f.Value == 0 {
		return nil
	}
	return []Finding{f}
}

// finding checks a counter.
func (l *Limits) finding(p *Port, d *Delta, c Counter) (Finding, bool) {
	v, ok := p.Now.Value(c)
	if !ok {
		return Finding{}, false
	}
	why := causeOf(c, p.Now)
	f := Finding{Kind: report.Exceeded, Counter: c, Class: why.class, Meaning: why.meaning, Value: v.N}
	switch {
	case v.Saturated():
		f.Kind = report.Saturated
		return f, true
	case c == XmitWait && !l.Thresholds.IsGiven(c):
		ok := l.waits(p, d, &f)
		return f, ok
	case d == nil:
		return f, l.exceeds(c, v.N, false)
	}
	ch, ok := d.Change(c)
	f.Value, f.InWindow = ch.Increase, true
	if c == LinkDowned && ch.Increase > 0 && p.State() > ib.PortDown {
		f.Kind, f.Meaning = report.Flapped, "the link went down and came up again"
	}
	return f, ok && l.exceeds(c, ch.Increase, true)
}

// waits checks the time for which a port waited.
func (l *Limits) waits(p *Port, d *Delta, f *Finding) bool {
	if d == nil {
		part, lost, ok := p.Waited()
		if !ok || lost < minLost || part < l.Wait {
			return false
		}
		f.Meaning = fmt.Sprintf("packets waited for the peer: %.1f %% of the demand", part*100)
		return true
	}
	ch, measured := d.Change(XmitWait)
	lost, ok := p.LostBandwidth(d)
	if !measured || !ok || lost < l.Wait || lost == 0 {
		return false
	}
	f.Value, f.InWindow = ch.Increase, true
	f.Meaning = fmt.Sprintf("packets waited for the peer: %.1f %% of the bandwidth lost", lost*100)
	return true
}

// windowFindings returns the findings that only a window shows.
func (l *Limits) windowFindings(p *Port, d *Delta) []Finding {
	var all []Finding
	if b, ok := p.SymbolBER(d); ok {
		for _, r := range l.BER {
			if b.Judge(r) == BERExceeded {
				all = append(all, Finding{
					Kind: report.BitErrors, Counter: SymbolErrors, Class: Cable, Value: b.Errors, InWindow: true,
					Meaning: fmt.Sprintf("more errors than %.0e allows in %v", r.Limit, r.Window.Round(time.Minute)),
				})
				break
			}
		}
	}
	if d.ErrorsCleared || d.TrafficCleared || d.DetailsCleared {
		all = append(all, Finding{Kind: report.Cleared, Meaning: "counters were cleared between the samples"})
	}
	return all
}
