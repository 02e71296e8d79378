// Package exporter exports a fabric's counters and findings, or the counters on this host's
// ports, as metrics for Prometheus. An [Exporter] sweeps on its own schedule; scrapes
// return the last sweep and its age.
package exporter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/mad"
)

// Names select the metric names.
type Names string

// The names. All but Node require a fabric; Node is for this host's ports.
const (
	Treydock   Names = "treydock"   // as in github.com/treydock/infiniband_exporter and SckyzO's continuation
	Guilbaults Names = "guilbaults" // as in github.com/guilbaults/infiniband-exporter
	Node       Names = "node"       // as in node_exporter's infiniband collector
)

// AllNames are all [Names] values.
var AllNames = []Names{Treydock, Guilbaults, Node}

// Defaults for [Options].
const (
	DefaultInterval = time.Minute
	DefaultTimeout  = time.Minute
)

// staleAfter is the default for Options.MaxAge in intervals.
const staleAfter = 5

// Options configure an [Exporter].
type Options struct {
	Names Names // default: Treydock

	// Fabric has the options for fabric sweeps. Its options for data, windows and baselines
	// do not apply.
	Fabric    counters.Options
	NodeNames *fabric.NameMap

	// PHY reads the registers of modules, cables and switches in each sweep, too, for at most
	// half of Timeout. VendorKey is the key for them.
	PHY       bool
	VendorKey mad.Key

	// Local has the options for sweeps with Node's names.
	Local LocalOptions

	// Interval is the time between two sweep starts (default [DefaultInterval]).
	Interval time.Duration

	// Timeout is the time after which a sweep is abandoned (default
	// [DefaultTimeout]).
	Timeout time.Duration

	// MaxAge is the age from which the last sweep's series are not exported (default: 5
	// intervals and the timeout).
	MaxAge time.Duration

	// AllMetrics adds the metrics that the published dashboards and rules do not use:
	// metrics with Treydock's names, and our own.
	AllMetrics bool

	// TextOnly prepares for a single [Exporter.WriteText] call after each sweep rather than
	// for scrapes, which then take long.
	TextOnly bool

	// Pings are patterns of files with windows of standing probes on this host. PingHosts is a
	// file with the exporters of hosts with such windows, which each sweep judges together.
	Pings     []string
	PingHosts string

	// CheckNodes, if not nil, is called with each sweep's fabric and selected nodes. If it
	// returns an error, the sweep fails.
	CheckNodes func(*fabric.Fabric, []*fabric.Node) error

	// Textfile adds the metric that [Exporter.CountWriteError] counts.
	Textfile bool

	// Swept, if not nil, is called by [Exporter.Run] after each sweep, with its error.
	Swept func(error)

	// Observe, if not nil, is called after each fabric sweep with a result, before Swept.
	Observe func(*FabricSweep)

	// Pages, if not nil, answers requests for other paths than the metrics. Streams is the
	// maximum count of its responses without an end, which have connections of their own.
	Pages   http.Handler
	Streams int

	Version, Commit string // of the program

	Log *slog.Logger // default: no log
}

func (o Options) withDefaults() Options {
	if o.Names == "" {
		o.Names = Treydock
	}
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxAge <= 0 {
		o.MaxAge = staleAfter*o.Interval + o.Timeout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// grace is the time for which an abandoned sweep may still end.
const grace = time.Second

// maxHung is the maximum count of abandoned sweeps that have not ended: each holds a
// sweep's memory and a file descriptor.
const maxHung = 3

// The errors for sweeps without a result.
var (
	ErrAbandoned = errors.New("the sweep did not end in time")
	ErrSkipped   = fmt.Errorf("%d earlier sweeps have not ended yet", maxHung)
)

// An Exporter sweeps and holds the last sweep's metrics. Its methods may be called by
// several goroutines at the same time, except [Exporter.Sweep] and [Exporter.Run].
type Exporter struct {
	opts   Options
	source source
	self   *self
	last   atomic.Pointer[page]
	hung   atomic.Int32

	reloaded atomic.Pointer[fabricSource] // in place of source; nil: not reloaded
	visits   chan visit
}

// A source reads a sweep's data. before is the last sweep, or nil.
type source interface {
	sweep(ctx context.Context, before sweep) (sweep, error)
}

// A sweep is a single sweep's data.
type sweep interface {
	info() sweepInfo
	write(e *encoder)
}

// New returns an exporter without metrics.
func New(o Options) *Exporter {
	o = o.withDefaults()
	e := &Exporter{opts: o, visits: make(chan visit)}
	if o.Names == Node {
		e.source = &localSource{o.Local, e.newPingSource()}
	} else {
		e.source = e.newFabricSource(o)
	}
	e.self = newSelf(e)
	return e
}

// Run sweeps until ctx ends, and returns ctx's error.
func (e *Exporter) Run(ctx context.Context) error {
	var last sweep
	var before sweepInfo
	next := time.Now()
	for {
		err := e.sweepOnce(ctx, &last)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			now := last.info()
			e.logChanges(before, now)
			before = now
		}
		if err != nil {
			e.opts.Log.Error("sweep failed", "err", err)
		}
		if e.opts.Swept != nil {
			e.opts.Swept(err)
		}
		// A sweep that took longer than the interval delays the later sweeps.
		next = next.Add(e.opts.Interval)
		if now := time.Now(); next.Before(now) {
			next = now
		}
		if err := e.wait(ctx, next); err != nil {
			return err
		}
	}
}

// Sweep sweeps once. It returns an error if the sweep had no result; the metrics are then
// the previous sweep's.
func (e *Exporter) Sweep(ctx context.Context) error {
	var last sweep
	return e.sweepOnce(ctx, &last)
}

// Partial reports whether data from the last sweep is missing.
func (e *Exporter) Partial() bool {
	p := e.last.Load()
	return p == nil || p.info.partial
}

// Blind returns the reason why the last sweep found no other node than the local one, or nil.
func (e *Exporter) Blind() error {
	if p := e.last.Load(); p != nil {
		return p.info.blind
	}
	return nil
}

// Failures returns the last sweep's requests without a valid response, with their node
// names.
func (e *Exporter) Failures() []error {
	if p := e.last.Load(); p != nil {
		return p.info.failures
	}
	return nil
}

// An outcome is a sweep's end.
type outcome struct {
	sweep sweep
	page  *page
	err   error
}

// sweepOnce sweeps once and replaces last.
func (e *Exporter) sweepOnce(ctx context.Context, last *sweep) error {
	if e.hung.Load() >= maxHung {
		e.self.swept(resultSkipped, nil)
		return ErrSkipped
	}
	limited, cancel := context.WithTimeout(ctx, e.opts.Timeout)
	defer cancel()
	done := make(chan outcome, 1)
	e.hung.Add(1)
	go func() {
		defer e.hung.Add(-1)
		done <- e.read(limited, *last)
	}()
	var o outcome
	select {
	case o = <-done:
	case <-limited.Done():
		// The sweep ends when its context does, unless a system call hangs.
		wait := time.NewTimer(grace)
		select {
		case o = <-done:
		case <-wait.C:
			o.err = ErrAbandoned
		}
		wait.Stop()
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil && o.err != nil:
		o.err = fmt.Errorf("%w: limit %v", ErrAbandoned, e.opts.Timeout)
		e.self.swept(resultAbandoned, nil)
		return o.err
	case o.err != nil:
		e.self.swept(resultFailed, nil)
	case o.page.info.partial:
		e.self.swept(resultPartial, &o.page.info)
	default:
		e.self.swept(resultComplete, &o.page.info)
	}
	if o.err == nil {
		*last = o.sweep
		e.last.Store(o.page)
		e.observe(o.sweep)
	}
	return o.err
}

// read sweeps and encodes the metrics.
func (e *Exporter) read(ctx context.Context, before sweep) outcome {
	began := time.Now()
	s, err := e.currentSource().sweep(ctx, before)
	if err != nil {
		return outcome{err: err}
	}
	p, err := newPage(s, time.Since(began), e.opts.TextOnly)
	return outcome{s, p, err}
}
