package ping

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/internal/inflight"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

const (
	// minLateAfter is the shortest time after which a probe without a reply
	// counts as late and leaves the window.
	minLateAfter = 10 * time.Millisecond

	// maxStagger is the longest time between the first probes to two targets.
	// Replies that arrive while other probes are being sent appear to be late, so
	// the first probes are not sent all at once.
	maxStagger = time.Millisecond

	// lateWindow is added to the timeout that the transport is given. A kernel
	// drops replies after that, which would hide that they are late.
	lateWindow = 2 * time.Second
)

// Run pings targets through a port until Count probes to each have ended, or ctx has. In
// both cases it returns the statistics. An error is a port error. No other code may use the
// port meanwhile.
//
// Each target has its own schedule: a target that does not reply does not delay the
// others. The monotonic clock is read right before a probe is handed to the system,
// and right after its reply is received.
func Run(ctx context.Context, port umad.Port, targets []*Target, o Options) (*Result, error) {
	o.setDefaults()
	result := &Result{Targets: targets, Total: newStats(totalDigits), Start: time.Now()}
	r := newRunner(port, o, result)
	err := r.start(ctx, port, targets)
	result.Duration = r.clock()
	return result, err
}

// newRunner returns a run that adds to a result.
func newRunner(port umad.Port, o Options, result *Result) *runner {
	r := &runner{port: port, attr: port.Attr(), o: o, ids: uint64(rand.Uint32()) << 32, sent: newSent(rand.Uint32()), result: result}
	r.report.Total = &result.Total
	return r
}

// start runs until all probes to the targets have ended, or ctx ends, which is not an
// error. port is the port without a wrapper.
func (r *runner) start(ctx context.Context, port umad.Port, targets []*Target) error {
	digits := targetDigits(len(r.result.Targets))
	stagger := min(r.o.Interval/time.Duration(max(len(targets), 1)), maxStagger)
	for i, t := range targets {
		t.Stats = newStats(digits)
		t.first = identity{}
		t.prepare(&r.o, &r.attr)
		if r.o.Count > 0 {
			r.next.push(slot{target: t, due: time.Duration(i) * stagger})
		}
	}
	if err := waitInThread(port); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, port.Interrupt)()
	defer r.forwardStatusRequests()()
	if err := r.run(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// Significant digits of histograms. Two digits use 25 kB and a single digit uses 3.5 kB,
// which matters with thousands of targets.
const (
	totalDigits = 3
	manyTargets = 256
)

func targetDigits(targets int) int {
	switch {
	case targets == 1:
		return totalDigits
	case targets <= manyTargets:
		return 2
	}
	return 1
}

// runner is the run state.
type runner struct {
	port   umad.Port
	attr   umad.PortAttr
	o      Options
	ids    uint64 // upper half of the IDs in probe data
	result *Result
	sent   *inflight.Tracker[probe]

	next    schedule // probes to be sent, by time
	retries schedule // probes to be sent again, at once
	paused  schedule // probes that follow an unreachable probe; due later than all probes in next

	in, out umad.Message
	report  Probe
	info    mad.NodeInfo
	limited bool          // the window delays a probe that is due
	full    bool          // the port had no room at the last attempt
	shown   bool          // Done was called after the last Idle call
	wake    time.Duration // last Recv deadline

	statusRequested atomic.Bool
}

// clock returns the time since the run started.
func (r *runner) clock() time.Duration { return time.Since(r.result.Start) }

// run sends and receives until all probes have ended.
func (r *runner) run(ctx context.Context) error {
	for ctx.Err() == nil {
		r.expire(r.clock())
		if err := r.send(); err != nil {
			return err
		}
		if r.statusRequested.Swap(false) {
			r.result.Duration = r.clock()
			r.o.Status(r.result)
		}
		if r.sent.Outstanding()+r.next.len+r.retries.len+r.paused.len == 0 {
			return r.drain()
		}
		if r.shown && r.o.Idle != nil {
			if r.poll() {
				continue
			}
			r.shown = false
			r.o.Idle()
		}
		if err := r.recv(r.until()); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// poll processes a waiting packet, if any, and reports whether it processed a packet.
func (r *runner) poll() bool {
	if r.port.Recv(&r.in, past) != nil {
		return false // a permanent error is returned again by the next Recv
	}
	r.receive(r.clock())
	return true
}

// drain processes the packets that arrived together with the last replies.
func (r *runner) drain() error {
	for r.poll() {
	}
	if r.shown && r.o.Idle != nil {
		r.o.Idle()
	}
	return nil
}

// recv waits for a packet and processes it.
func (r *runner) recv(until time.Duration) error {
	// An early deadline does no harm, and setting a new deadline for each packet takes time.
	if now := r.clock(); r.wake <= now || r.wake > until {
		r.wake = until
	}
	err := r.port.Recv(&r.in, r.result.Start.Add(r.wake))
	switch {
	case err == nil:
		r.receive(r.clock())
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("ping: %w", err)
	}
	return nil
}

// until returns when the run has to act if it receives nothing before.
func (r *runner) until() time.Duration {
	now := r.clock()
	next := now + time.Hour
	if e := r.sent.Oldest(); e != nil {
		next = e.Sent + r.o.Timeout
	}
	if r.paused.len > 0 {
		next = min(next, r.paused.first().due)
	}
	switch {
	case r.full:
		next = min(next, now+fullPause)
	case r.limited:
		if e := r.sent.OldestOnTime(); e != nil {
			next = min(next, e.Sent+r.lateAfter())
		}
	case r.next.len > 0:
		next = min(next, r.next.first().due)
	}
	return next
}

// lateAfter returns the time after which a probe without a reply counts as late.
func (r *runner) lateAfter() time.Duration { return max(minLateAfter, 8*r.result.Total.Avg()) }

// expire ends the probes that waited too long. If the window delays other probes, expire
// removes the late probes from the window.
func (r *runner) expire(now time.Duration) {
	if e := r.sent.Oldest(); e != nil && now-e.Sent >= r.o.Timeout {
		// Replies may be waiting if the process itself was delayed.
		for r.poll() {
		}
		for e = r.sent.Oldest(); e != nil && now-e.Sent >= r.o.Timeout; e = r.sent.Oldest() {
			r.lost(e)
		}
	}
	if !r.limited {
		return
	}
	late := r.lateAfter()
	for e := r.sent.OldestOnTime(); e != nil && now-e.Sent >= late; e = r.sent.OldestOnTime() {
		r.sent.Release(e)
	}
}

// lost ends an attempt without a reply, and schedules the next attempt if any is left.
func (r *runner) lost(e *entry) {
	r.sent.Expire(e)
	if r.o.Trace != nil {
		r.trace(umad.EventTimedOut, e, nil, 0, umad.ErrTimeout)
	}
	p := &e.Data
	if int(p.attempt) < r.o.Attempts {
		r.retries.push(slot{target: p.target, seq: p.seq, attempts: p.attempt})
		return
	}
	r.ended(e, Lost, 0, umad.ErrTimeout)
}

// ended counts a probe that has ended, and without an interval schedules the next probe.
func (r *runner) ended(e *entry, o Outcome, rtt time.Duration, err error) {
	t, seq := e.Data.target, e.Data.seq
	r.count(e, o, rtt, err)
	if r.o.Interval > 0 {
		return
	}
	if o == Unreachable {
		// Wait as if the reply was lost: otherwise the run would spin.
		r.plan(&r.paused, t, seq+1, r.clock()+r.o.Timeout)
		return
	}
	r.plan(&r.next, t, seq+1, r.clock())
}

// plan schedules a probe, unless all probes to the target were sent.
func (r *runner) plan(queue *schedule, t *Target, seq int, due time.Duration) {
	if seq < r.o.Count && (r.o.Deadline <= 0 || due < r.o.Deadline) {
		queue.push(slot{target: t, seq: seq, due: due})
	}
}

// count counts an outcome and reports it.
func (r *runner) count(e *entry, o Outcome, rtt time.Duration, err error) {
	t := e.Data.target
	t.Stats.count(o, rtt)
	r.result.Total.count(o, rtt)
	if r.o.Done == nil {
		return
	}
	p := &r.report
	p.Target, p.Seq, p.Outcome, p.RTT, p.Err = t, e.Data.seq, o, rtt, err
	p.Sent = r.result.Start.Add(e.Sent)
	r.o.Done(p)
	r.shown = true
	p.Host, p.Node = nil, 0
}

// forwardStatusRequests interrupts the run for each status request, until the
// returned function is called.
func (r *runner) forwardStatusRequests() (stop func()) {
	if r.o.StatusRequests == nil || r.o.Status == nil {
		return func() {}
	}
	end := make(chan struct{})
	go func() {
		for {
			select {
			case <-end:
				return
			case <-r.o.StatusRequests:
				r.statusRequested.Store(true)
				r.port.Interrupt()
			}
		}
	}()
	return func() { close(end) }
}
