// Package page serves a fabric's state as web pages and JSON documents: problems, links with
// their last rates, nodes and events, from another tool's sweeps. Requests do not change the
// fabric, and only the paths between two nodes need queries besides the sweeps.
package page

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/internal/tool/exporter"
	"github.com/ibkit/ibkit/internal/tool/top"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/internal/tool/watch"
	"github.com/ibkit/ibkit/umad"
)

// Options configure a [Page].
type Options struct {
	Interval time.Duration // between sweeps
	Version  string        // of the program

	// NextStep returns a next step with the flags of the fabric. nil: unchanged.
	NextStep func(string) string

	// Visit calls a function with a client, without delay to a sweep, for the paths between
	// two nodes. nil: there is no such page.
	Visit func(context.Context, func(context.Context, *umad.Client) error) error
}

// A Page is the pages of a fabric. Its methods may be called by several goroutines at the
// same time, except Swept and Failed.
type Page struct {
	opts    Options
	mux     http.Handler
	state   atomic.Pointer[state] // nil: before the first sweep
	failure atomic.Pointer[string]
	plan    atomic.Pointer[topology.Plan] // nil: no plan
	streams streams
	routes  *routes

	pictures pictures

	// For Swept.
	seen   map[findingKey]time.Time
	differ watch.Differ

	mu      sync.Mutex // guards the members below
	history history
	events  events
	totals  []total
}

// New returns a page before the first sweep.
func New(o Options) *Page {
	p := &Page{opts: o, routes: newRoutes()}
	p.mux = p.handler()
	return p
}

// SetPlan makes later sweeps compare the cabling with a plan. It may be called during a sweep.
func (p *Page) SetPlan(plan *topology.Plan) { p.plan.Store(plan) }

// Swept adds a sweep. It does not wait for clients.
func (p *Page) Swept(s *exporter.FabricSweep) {
	next := newState(s, p.opts, p.plan.Load())
	p.seen = next.findSince(p.seen)
	added := p.differ.Compare(s.Result, s.Names)
	p.mu.Lock()
	p.history.add(next.sample)
	p.events.add(added)
	p.addTotal(next.sample)
	next.report.Sweep.Events = p.events.sequence
	p.mu.Unlock()
	p.failure.Store(nil)
	p.state.Store(next)
	p.routes.reset()
	p.streams.publish(next.report.Sweep)
}

// Failed notes that a sweep had no result: the pages show the sweep before, and the error.
// The nil error is ignored.
func (p *Page) Failed(err error) {
	if err == nil {
		return
	}
	text := err.Error()
	p.failure.Store(&text)
	notice := Notice{Failure: &text}
	if s := p.state.Load(); s != nil {
		notice = s.report.Sweep
		notice.Failure = &text
	}
	p.streams.publish(notice)
}

// A total is the sums of a sweep.
type total struct {
	at               time.Time
	transmit, errors float64
}

// addTotal adds a sweep's sums. The first sweep has no rates.
func (p *Page) addTotal(s *top.Sample) {
	if s.Window == 0 {
		return
	}
	if len(p.totals) == historyLength {
		p.totals = append(p.totals[:0], p.totals[1:]...)
	}
	p.totals = append(p.totals, total{s.Time, s.Totals.Xmit, s.Totals.Errors})
}
