package counters

import (
	"time"
)

// A Delta compares two samples on a port.
type Delta struct {
	before, now *Sample

	// A counter part is smaller than before, because someone cleared it. Its other counters
	// may have been cleared, too, and have no increase. Tools that clear traffic clear
	// errors, too, by default.
	ErrorsCleared, TrafficCleared, DetailsCleared bool
}

// A Change is a counter's change.
type Change struct {
	Before, Now Value
	Increase    uint64
	Window      time.Duration // between the two replies

	// Saturated reports that the counter is at its largest value: the increase is a
	// lower bound.
	Saturated bool
}

// Delta compares a port's last two samples. It is nil without two samples.
func (p *Port) Delta() *Delta {
	if p.Now == nil || p.Before == nil {
		return nil
	}
	return NewDelta(p.Before, p.Now)
}

// NewDelta compares two samples on the same port.
func NewDelta(before, now *Sample) *Delta {
	d := &Delta{before: before, now: now}
	for c := range numCounters {
		a, b, ok := d.values(c)
		if !ok || b.N >= a.N {
			continue
		}
		switch {
		case c.IsDetail():
			d.DetailsCleared = true
		case c.IsTraffic():
			d.TrafficCleared = true
		default:
			d.ErrorsCleared = true
		}
	}
	d.ErrorsCleared = d.ErrorsCleared || d.TrafficCleared
	d.DetailsCleared = d.DetailsCleared || d.TrafficCleared
	return d
}

// values returns a counter in both samples. A counter with a field width that the agent
// changed cannot be compared.
func (d *Delta) values(c Counter) (before, now Value, ok bool) {
	before, hadIt := d.before.Value(c)
	now, hasIt := d.now.Value(c)
	return before, now, hadIt && hasIt && before.Width == now.Width
}

// cleared reports whether a counter's part was cleared.
func (d *Delta) cleared(c Counter) bool {
	switch {
	case c.IsDetail():
		return d.DetailsCleared
	case c.IsTraffic():
		return d.TrafficCleared
	}
	return d.ErrorsCleared
}

// Change returns a counter's change. It reports false if the counter is missing in a
// sample, was cleared in between, or if no time passed.
func (d *Delta) Change(c Counter) (Change, bool) {
	before, now, ok := d.values(c)
	window := now.At.Sub(before.At)
	if !ok || window <= 0 || d.cleared(c) {
		return Change{}, false
	}
	return Change{Before: before, Now: now, Increase: now.N - before.N, Window: window, Saturated: now.Saturated()}, true
}

// PerSecond returns a counter's rate. It reports false as [Delta.Change] does, and for a
// counter that is saturated.
func (d *Delta) PerSecond(c Counter) (float64, bool) {
	ch, ok := d.Change(c)
	if !ok || ch.Saturated {
		return 0, false
	}
	return float64(ch.Increase) / ch.Window.Seconds(), true
}

// Window returns the time between the samples.
func (d *Delta) Window() time.Duration { return d.now.At().Sub(d.before.At()) }
