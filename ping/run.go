package ping

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

const (
	// minPatience is how long a probe counts against the window at least, if no
	// answer comes.
	minPatience = 10 * time.Millisecond

	// mostSpacing is how far apart the first probes to two targets are at most.
	// An answer that comes while others are sent looks late: so not all are sent
	// at once.
	mostSpacing = time.Millisecond

	// afterlife is how much longer than the run itself the transport is told to
	// wait for an answer. A kernel drops what comes later, which then would not
	// be known to be late.
	afterlife = 2 * time.Second
)

// Run pings targets through a port, which nothing else may use meanwhile, until
// Count probes to each have ended or ctx has: the result is there in either case.
// An error is the port's.
//
// Each target has a schedule of its own: one that does not answer costs the
// others nothing. Times are taken right before a probe is handed to the system
// and right after its answer was, by the monotonic clock.
func Run(ctx context.Context, port umad.Port, targets []*Target, o Options) (*Result, error) {
	o.setDefaults()
	r := &runner{port: port, attr: port.Attr(), o: o, ids: uint64(rand.Uint32()) << 32, flights: newFlights(rand.Uint32())}
	r.result = &Result{Targets: targets, Total: newStats(totalDigits), Began: time.Now()}
	r.probe.Total = &r.result.Total
	digits := targetDigits(len(targets))
	spacing := min(o.Interval/time.Duration(max(len(targets), 1)), mostSpacing)
	for i, t := range targets {
		t.Stats = newStats(digits)
		t.seen = identity{}
		t.prepare(&o, &r.attr)
		if o.Count > 0 {
			r.turns.push(turn{target: t, due: time.Duration(i) * spacing})
		}
	}
	if err := waitInThread(port); err != nil {
		return r.result, err
	}
	defer context.AfterFunc(ctx, port.Interrupt)()
	defer r.listenToAsk()()
	err := r.run(ctx)
	r.result.Took = r.clock()
	if ctx.Err() != nil {
		err = nil
	}
	return r.result, err
}

// Digits that histograms keep. Two take 25 kB and one 3.5, which counts where
// there are thousands of targets.
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

// runner is a run under way.
type runner struct {
	port   umad.Port
	attr   umad.PortAttr
	o      Options
	ids    uint64 // upper half of what ibkit's servers send back
	result *Result

	flights
	turns   turns
	retries turns // due at once
	paused  turns // due later than turns can be

	in, out umad.Message
	probe   Probe
	info    mad.NodeInfo
	limited bool          // the window keeps a turn that is due
	full    bool          // the way out, when it was tried last
	shown   bool          // Done was called since Idle was
	wake    time.Duration // what Recv was told last

	asked atomic.Bool
}

// clock returns the time since the run began.
func (r *runner) clock() time.Duration { return time.Since(r.result.Began) }

// run sends and receives until all probes have ended.
func (r *runner) run(ctx context.Context) error {
	for ctx.Err() == nil {
		r.expire(r.clock())
		if err := r.send(); err != nil {
			return err
		}
		if r.asked.Swap(false) {
			r.result.Took = r.clock()
			r.o.Status(r.result)
		}
		if r.waiting+r.turns.len+r.retries.len+r.paused.len == 0 {
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

// poll takes in a packet, if there is one, and reports whether there was.
func (r *runner) poll() bool {
	if r.port.Recv(&r.in, past) != nil {
		return false // an error that lasts comes again
	}
	r.receive(r.clock())
	return true
}

// drain takes in what came beside the last answers.
func (r *runner) drain() error {
	for r.poll() {
	}
	if r.shown && r.o.Idle != nil {
		r.o.Idle()
	}
	return nil
}

// recv waits for a packet and takes it in.
func (r *runner) recv(until time.Duration) error {
	// A deadline that is a bit early does no harm, and to set a new one for each
	// packet costs.
	if now := r.clock(); r.wake <= now || r.wake > until {
		r.wake = until
	}
	err := r.port.Recv(&r.in, r.result.Began.Add(r.wake))
	switch {
	case err == nil:
		r.receive(r.clock())
	case !errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("ping: %w", err)
	}
	return nil
}

// until returns when there is something to do if nothing comes in before.
func (r *runner) until() time.Duration {
	now := r.clock()
	next := now + time.Hour
	if f := r.first(); f != nil {
		next = f.sent + r.o.Timeout
	}
	if r.paused.len > 0 {
		next = min(next, r.paused.first().due)
	}
	switch {
	case r.full:
		next = min(next, now+fullPause)
	case r.limited:
		if f := r.firstQuick(); f != nil {
			next = min(next, f.sent+r.patience())
		}
	case r.turns.len > 0:
		next = min(next, r.turns.first().due)
	}
	return next
}

// patience is how long a probe may take before it counts as slow.
func (r *runner) patience() time.Duration { return max(minPatience, 8*r.result.Total.Avg()) }

// expire ends the probes that waited too long, and takes their place in the
// window from those that are slow.
func (r *runner) expire(now time.Duration) {
	if f := r.first(); f != nil && now-f.sent >= r.o.Timeout {
		// Where the process itself was held up, answers may lie here.
		for r.poll() {
		}
		for f = r.first(); f != nil && now-f.sent >= r.o.Timeout; f = r.first() {
			r.lost(f)
		}
	}
	if !r.limited {
		return
	}
	patience := r.patience()
	for f := r.firstQuick(); f != nil && now-f.sent >= patience; f = r.firstQuick() {
		r.release(f)
	}
}

// lost ends a probe that nobody answered, or sends it again.
func (r *runner) lost(f *flight) {
	r.end(f, givenUp)
	if r.o.Trace != nil {
		r.trace(umad.EventTimedOut, f, nil, 0, umad.ErrTimeout)
	}
	if int(f.attempt) < r.o.Attempts {
		r.retries.push(turn{target: f.target, seq: f.seq, attempt: f.attempt})
		return
	}
	r.ended(f, Lost, 0, umad.ErrTimeout)
}

// ended accounts for a probe that has ended, and has the next one sent where
// that is what it waits for.
func (r *runner) ended(f *flight, o Outcome, rtt time.Duration, err error) {
	r.count(f, o, rtt, err)
	if r.o.Interval > 0 {
		return
	}
	if o == Unreachable {
		// As if nobody had answered: else it would go round and round.
		r.schedule(&r.paused, f.target, f.seq+1, r.clock()+r.o.Timeout)
		return
	}
	r.schedule(&r.turns, f.target, f.seq+1, r.clock())
}

// schedule has a probe sent, unless all were.
func (r *runner) schedule(queue *turns, t *Target, seq int, due time.Duration) {
	if seq < r.o.Count && (r.o.Deadline <= 0 || due < r.o.Deadline) {
		queue.push(turn{target: t, seq: seq, due: due})
	}
}

// count accounts for what became of a probe, or came beside it, and shows it.
func (r *runner) count(f *flight, o Outcome, rtt time.Duration, err error) {
	f.target.Stats.count(o, rtt)
	r.result.Total.count(o, rtt)
	if r.o.Done == nil {
		return
	}
	p := &r.probe
	p.Target, p.Seq, p.Outcome, p.RTT, p.Err = f.target, f.seq, o, rtt, err
	p.Sent = r.result.Began.Add(f.sent)
	r.o.Done(p)
	r.shown = true
	p.Host, p.Node = nil, 0
}

// listenToAsk has the run call Status when it is asked to, until the function
// that it returns is called.
func (r *runner) listenToAsk() (stop func()) {
	if r.o.Ask == nil || r.o.Status == nil {
		return func() {}
	}
	end := make(chan struct{})
	go func() {
		for {
			select {
			case <-end:
				return
			case <-r.o.Ask:
				r.asked.Store(true)
				r.port.Interrupt()
			}
		}
	}()
	return func() { close(end) }
}
