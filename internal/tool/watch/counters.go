package watch

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// A raised finding is a finding that was reported and has not ended.
type raised struct {
	kind    report.Kind
	counter counters.Counter
}

// readCounters reads the counters and reports ports with new findings, and ports with
// findings that ended.
func (w *fabricWatch) readCounters(ctx context.Context) error {
	w.nextPass = time.Now().Add(w.Window)
	err := w.sweeper.Read(ctx)
	switch {
	case err != nil && (!w.began || errors.Is(err, umad.ErrDeviceRemoved) || ctx.Err() != nil):
		return err
	case err != nil:
		w.lose(Counters, err)
		return nil
	}
	before := w.raised
	w.raised = map[portKey][]raised{} // findings on ports that are not read any more end silently
	unanswered := w.unanswered()
	if unanswered != nil {
		w.lose(Counters, unanswered)
		maps.Copy(w.raised, before)
	} else {
		w.works(Counters, "")
	}
	w.compareCounters(w.sweeper.Nodes(), before, unanswered != nil)
	return nil
}

// compareCounters reports the changes on ports, given the findings before. With onlyRead,
// ports without a reply do not change.
func (w *fabricWatch) compareCounters(nodes []*counters.Node, before map[portKey][]raised, onlyRead bool) {
	for _, n := range nodes {
		for _, p := range n.Ports {
			key := keyOf(p.Port)
			if onlyRead && p.Now == nil {
				continue
			}
			if now := w.portCounters(p, before[key]); len(now) > 0 {
				w.raised[key] = now
			} else {
				delete(w.raised, key)
			}
		}
	}
}

// unanswered returns an error if only ports on the local node were read: its link may be
// down.
func (w *fabricWatch) unanswered() error {
	f := w.sweeper.Fabric()
	if blind := f.Blind(); blind != nil {
		return blind
	}
	for _, n := range w.sweeper.Nodes() {
		for _, p := range n.Ports {
			if p.Now != nil && p.Node != f.Start {
				return nil
			}
		}
	}
	return errors.New("read counters: no port of another node was read")
}

// portCounters reports a port's changes, given the findings before, and returns the current
// findings.
func (w *fabricWatch) portCounters(p *counters.Port, before []raised) (now []raised) {
	d := p.Delta()
	if d == nil && p.Now != nil {
		return before // there is no window
	}
	for _, f := range w.Limits.Findings(p) {
		key := raised{f.Kind, f.Counter}
		switch {
		case f.Kind == report.Cleared:
			w.counterEvent(p, d, f, report.CountersCleared, report.Info)
			continue
		case !f.IsProblem():
			continue
		case !slices.Contains(before, key):
			w.counterEvent(p, d, f, report.CounterRaised, f.Severity())
		}
		now = append(now, key)
	}
	for _, key := range before {
		switch {
		case slices.Contains(now, key):
		case p.Now == nil: // without a reply, nothing has ended
			now = append(now, key)
		default:
			w.counterEvent(p, d, counters.Finding{Kind: key.kind, Counter: key.counter}, report.CounterSettled, report.Recovery)
		}
	}
	return now
}

// counterEvent reports a finding.
func (w *fabricWatch) counterEvent(p *counters.Port, d *counters.Delta, f counters.Finding, kind report.EventKind, severity report.Severity) {
	found := f.Report(p, w.Names)
	e := newEvent(Counters, kind, severity, found.Detail).about(w.portPlace(p.Port), p.Port.Node)
	c := &CounterChange{Kind: found.Kind}
	e.Data.Counter = c
	if p.Now != nil {
		e.Time = p.Now.At()
	}
	if p.Peer != nil {
		e.Data.Peer = w.portPlace(p.Peer)
	}
	if f.Class != 0 {
		c.Class = new(f.Class.String())
	}
	if d != nil {
		c.Window = new(d.Window().Seconds())
	}
	if f.Kind != report.Cleared && f.Kind != report.Disappeared {
		c.Name = new(f.Counter.String())
		if p.Now != nil {
			if v, ok := p.Now.Value(f.Counter); ok {
				c.Value = &v.N
			}
		}
		if d != nil {
			if ch, ok := d.Change(f.Counter); ok {
				c.Increase = &ch.Increase
			}
			if rate, ok := d.PerSecond(f.Counter); ok {
				c.Rate = &rate
			}
		}
	}
	if kind == report.CounterSettled {
		e.Detail = settledText(f)
	}
	w.add(e)
}

// settledText describes a finding's end.
func settledText(f counters.Finding) string {
	if f.Kind == report.Disappeared {
		return "the port responds again"
	}
	return f.Counter.String() + ": below the threshold in the last window"
}
