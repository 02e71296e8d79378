package watch

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/counters"
)

// A Differ finds the events between sweeps that another tool makes: changes to links and
// nodes, and counters above their thresholds. The zero value has no sweep before.
type Differ struct{ watch fabricWatch }

// Compare returns the events since the sweep before. A blind sweep has no events, and the
// next sweep is compared with the last sweep that was not blind.
func (d *Differ) Compare(r *counters.Result, names *fabric.NameMap) []*Event {
	if r.Fabric.Blind() != nil {
		return nil
	}
	w := &d.watch
	if w.run == nil {
		w.run = &run{Options: Options{Sources: []Source{Links, Counters}}, queue: queue{wake: make(chan struct{}, 1)}}
		w.gaps, w.gone = newGaps(), map[ib.GUID]*fabric.Node{}
	}
	w.Names, w.Limits = names, r.Limits
	if w.known != nil {
		w.reportChanges(w.known, r.Fabric)
	}
	w.known = r.Fabric
	before := w.raised
	w.raised = map[portKey][]raised{} // findings on ports that are not read any more end silently
	w.compareCounters(r.Nodes, before, false)
	var events []*Event
	_ = w.flush(func(e *Event) error { // without an error of its own
		events = append(events, e)
		return nil
	})
	return events
}
