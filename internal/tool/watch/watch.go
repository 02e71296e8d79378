// Package watch reports changes in a fabric and on the local RDMA devices as a single event
// stream: differences between sweeps, notices from the subnet manager, counters above their
// thresholds, and kernel events.
package watch

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options for [Run].
type Options struct {
	// Sources are the event sources. Sources in Required must work at the start: Run
	// returns the error from a source that does not.
	Sources, Required []Source

	// Fabric is the fabric to watch, for all sources but Local.
	Fabric fabric.Source

	SMLID ib.LID  // of subnet administration, for Traps; 0: the local port's manager
	SMKey mad.Key // for Traps; 0: as an untrusted subscriber

	Names *fabric.NameMap

	Interval time.Duration // between link checks (default 10 s)
	Rescan   time.Duration // between full fabric scans (default 5 min)
	Window   time.Duration // between counter passes (default 30 s), also of Local
	Limits   counters.Limits

	Sysfs string    // root of sysfs for Local; "": the system's
	RoCE  roce.Host // queries for Local; its Sysfs is not used

	// Accept selects the events; nil: all. Others are not stored.
	Accept func(*Event) bool

	// Known, if not nil, is called with the first scan's fabric, before the event SourceUp
	// for Links, Traps and Counters is passed on. Other events may be passed on at the same
	// time.
	Known func(*fabric.Fabric)

	Count    int           // event count after which Run ends, without events about the stream; 0: unlimited
	Duration time.Duration // after which Run ends; 0: unlimited
}

// A Summary has the counts for [Run].
type Summary struct {
	Events  int // that were passed on, without events about the stream
	Dropped int // that were not stored
	Losses  int // times that a source stopped working
	Stats   umad.Stats
}

// Complete reports whether no event from the sources that worked at the start can have been
// missed.
func (s *Summary) Complete() bool { return s.Dropped == 0 && s.Losses == 0 }

const (
	defaultInterval = 10 * time.Second
	defaultRescan   = 5 * time.Minute
	defaultWindow   = 30 * time.Second

	// queueSize limits the events that wait for emit.
	queueSize = 8192
)

// Run passes events to emit until ctx ends, the options' count or time is reached, or emit
// returns an error, which Run returns. A ctx that ends is not an error. Events are stored
// while emit runs, up to a limit.
func Run(ctx context.Context, o Options, emit func(*Event) error) (*Summary, error) {
	o.Interval = cmp.Or(o.Interval, defaultInterval)
	o.Rescan = cmp.Or(o.Rescan, defaultRescan)
	o.Window = cmp.Or(o.Window, defaultWindow)
	if o.Duration > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, o.Duration)
		defer end()
	}
	ctx, stop := context.WithCancel(ctx)
	r := &run{Options: o, queue: queue{wake: make(chan struct{}, 1)}, failed: make(chan error, 2)}
	var sources sync.WaitGroup
	if r.has(Links) || r.has(Traps) || r.has(Counters) {
		r.begin(ctx, &sources, r.watchFabric)
	}
	if r.has(Local) {
		r.begin(ctx, &sources, r.watchLocal)
	}
	err := r.deliver(ctx, emit)
	stop()
	sources.Wait()
	if err == nil {
		err = r.flush(emit) // events that were stored while the sources ended
	}
	r.summary.Dropped, r.summary.Losses = int(r.dropped.Load()), int(r.losses.Load())
	return &r.summary, err
}

// A run is a call to Run.
type run struct {
	Options
	queue   queue
	running int // sources
	failed  chan error

	summary         Summary
	dropped, losses atomic.Int64
	number          uint64
	enough          bool
}

func (r *run) has(s Source) bool      { return slices.Contains(r.Sources, s) }
func (r *run) requires(s Source) bool { return slices.Contains(r.Required, s) }

// begin runs a source until ctx ends.
func (r *run) begin(ctx context.Context, sources *sync.WaitGroup, source func(context.Context) error) {
	r.running++
	sources.Go(func() { r.failed <- source(ctx) })
}

// deliver passes events on until the end.
func (r *run) deliver(ctx context.Context, emit func(*Event) error) error {
	var errs []error
	for {
		if err := r.flush(emit); err != nil {
			return err
		}
		if r.enough {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case err := <-r.failed:
			if r.running--; err == nil || ctx.Err() != nil {
				return r.flush(emit)
			}
			errs = append(errs, err)
			if _, fatal := errors.AsType[*requiredError](err); fatal || r.running == 0 {
				return errors.Join(errs...)
			}
		case <-r.queue.wake:
		}
	}
}

// flush passes on the events that were stored.
func (r *run) flush(emit func(*Event) error) error {
	for !r.enough {
		e, dropped, ok := r.queue.take()
		if dropped > 0 {
			r.dropped.Add(int64(dropped))
			d := newEvent(Self, report.Dropped, report.Unknown, "events came faster than they were processed")
			d.Time, d.Data.Count = time.Now(), &dropped
			if err := r.pass(d, emit); err != nil {
				return err
			}
		}
		if !ok {
			return nil
		}
		if err := r.pass(e, emit); err != nil {
			return err
		}
	}
	return nil
}

// pass passes an event on.
func (r *run) pass(e *Event, emit func(*Event) error) error {
	r.number++
	e.Schema, e.Sequence = Schema, r.number
	if !e.Kind.IsState() {
		r.summary.Events++
		r.enough = r.Count > 0 && r.summary.Events == r.Count
	}
	return emit(e)
}

// add stores an event that the options accept.
func (r *run) add(e *Event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if e.Kind.IsState() || r.Accept == nil || r.Accept(e) {
		r.queue.add(e)
	}
}

// up reports that a source works.
func (r *run) up(s Source, text string) {
	r.add(newEvent(s, report.SourceUp, report.Recovery, text))
}

// lost reports that a source does not work.
func (r *run) lost(s Source, err error) {
	r.add(newEvent(s, report.SourceLost, report.Unknown, err.Error()))
}

// A requiredError ends the stream.
type requiredError struct{ error }

func (e *requiredError) Unwrap() error { return e.error }

// A queue stores events up to a limit. It is safe for concurrent use.
type queue struct {
	mu      sync.Mutex
	events  []*Event
	dropped int // since the last take
	wake    chan struct{}
}

func (q *queue) add(e *Event) {
	q.mu.Lock()
	if len(q.events) < queueSize {
		q.events = append(q.events, e)
	} else {
		q.dropped++
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take returns the first event, and the count of events dropped after the last stored event
// once the queue is empty.
func (q *queue) take() (e *Event, dropped int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.events) == 0 {
		dropped, q.dropped = q.dropped, 0
		q.events = nil
		return nil, dropped, false
	}
	e, q.events = q.events[0], q.events[1:]
	return e, 0, true
}
