package loop

import (
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/stats"
	"github.com/ibkit/ibkit/verbs"
)

// PingPong measures latency: one message at a time is in flight on one flow.
type PingPong struct {
	Flow       *QPFlow
	CQ         Completions
	Supervisor *Supervisor
	Plan       Plan
	Events     bool
	Depth      int // capacity of the send queue

	// Gap is a pause before each message. It is part of the measured time.
	Gap time.Duration

	// Lossy is set for transports that may lose messages. A round trip that takes
	// longer than StallTimeout then counts as lost and is started again.
	Lossy bool

	// FollowerMeasures makes a following side measure times as well.
	FollowerMeasures bool

	// Quiet is the time that a leading side waits, without pause, before its first
	// message. The activity of other threads, caused by the exchange before the test,
	// ends meanwhile.
	Quiet time.Duration

	Samples *stats.Samples // times of whole round trips; allocated if nil
	Lost    uint64         // lost round trips

	clock      clock
	wait       waiter
	arrived    uint64 // messages that no call has returned yet
	in         sharedByte
	consumed   int    // receives to post again
	count      uint64 // of own writes
	lastRemote uint64 // count of the last write of the peer
	every      uint64 // messages per completion
	single     bool   // each message generates a completion
	prepared   bool   // the next message is prepared
	times      []int64
}

// Quiet is a sufficient time for PingPong.Quiet: the monitor thread of Go's scheduler
// wakes up every 20 µs after activity, and after 20 ms without any only every 10 ms.
const Quiet = 30 * time.Millisecond

// maxTimes is the largest message count with times added to Samples after the loop.
// Longer loops add each time while the next message is in flight.
const maxTimes = 1 << 16

// A verb is the operation of a PingPong.
type verb uint8

const (
	sends   verb = iota // answered by sends
	writes              // answered by writes
	singles             // reads and atomics, which the responder's device answers
)

// maxLost is the number of consecutive lost round trips that ends a test.
const maxLost = 10

// sendEvery is the largest number of sends per completion.
const sendEvery = 32

func (p *PingPong) begin() {
	p.clock = newClock()
	p.wait = waiter{cq: p.CQ, into: make([]verbs.Completion, 16), super: p.Supervisor, events: p.Events}
	if p.Samples == nil {
		p.Samples = stats.NewSamples()
	}
	p.arrived, p.consumed, p.count, p.lastRemote = 0, 0, 0, 0
	p.every, p.single, p.prepared = uint64(max(1, min(sendEvery, p.Depth/2))), p.Flow.Unordered, false
	if p.times = nil; p.Plan.Count > 0 && p.Plan.Count <= maxTimes {
		p.times = make([]int64, p.Plan.Count)
		for i := range p.times { // each page fault would delay a message
			p.times[i] = -1
		}
		p.times = p.times[:0]
	}
}

// sample records the time of a round trip.
func (p *PingPong) sample(ns int64) {
	if len(p.times) < cap(p.times) {
		p.times = append(p.times, ns)
		return
	}
	p.Samples.Add(ns)
}

// addTimes adds the recorded times to Samples.
func (p *PingPong) addTimes() {
	for _, ns := range p.times {
		p.Samples.Add(ns)
	}
	p.times = p.times[:0]
}

// quiet waits for the time of Quiet. It polls, so that the code of the loop is in the
// caches of the processor.
func (p *PingPong) quiet() error {
	for end := p.clock.now() + int64(p.Quiet); p.Quiet > 0 && p.clock.now() < end && !p.Supervisor.Stopped(); {
		done, err := p.wait.poll()
		if err == nil {
			err = p.process(done)
		}
		if err != nil {
			return err
		}
		p.wait.pause(1)
	}
	return nil
}

// LeadSends sends messages, waits for each answer, and measures the round trips.
// Receives must be posted.
func (p *PingPong) LeadSends() error {
	p.begin()
	return p.lead(sends)
}

// FollowSends answers messages until the Plan is complete or the Supervisor stops.
func (p *PingPong) FollowSends() error {
	p.begin()
	return p.follow(sends)
}

// LeadWrites writes to the peer's memory, waits until the peer has written to local
// memory, and measures the round trips. The last byte of a message is its number.
func (p *PingPong) LeadWrites() error {
	p.beginWrites()
	return p.lead(writes)
}

// FollowWrites answers writes until the Plan is complete or the Supervisor stops.
func (p *PingPong) FollowWrites() error {
	p.beginWrites()
	return p.follow(writes)
}

// Single runs reads or atomics one at a time and measures them.
func (p *PingPong) Single() error {
	p.begin()
	p.single = true
	return p.lead(singles)
}

func (p *PingPong) beginWrites() {
	p.begin()
	p.in = byteAt(p.Flow.In.Bytes, p.Flow.Size-1)
}

// lead posts and waits until the plan is complete. A sample is the time from before
// one post to before the next, so that it covers all work of a round trip. It is
// recorded while the next message is in flight.
func (p *PingPong) lead(verb verb) error {
	defer p.addTimes()
	if err := p.quiet(); err != nil {
		return err
	}
	await := p.waiterFor(verb)
	at := progress{plan: p.Plan, begin: p.clock.now()}
	last, measured, lost := int64(0), false, 0
	for n := uint64(0); ; n++ {
		if p.Gap > 0 {
			p.pause()
		}
		raw, now, over := p.clock.raw(), int64(0), false
		if p.Plan.Count > 0 {
			over = at.over(0, n)
		} else {
			now = p.clock.nanoseconds(raw)
			over = at.over(now, n)
		}
		if over {
			if measured {
				p.sample(p.clock.nanoseconds(raw) - last)
			}
			return errors.Join(p.refill(), p.clock.check())
		}
		if err := p.post(verb); err != nil {
			return err
		}
		now = p.clock.nanoseconds(raw)
		if measured {
			p.sample(now - last)
		}
		if ok, err := p.proceed(); !ok || err != nil {
			return err
		}
		last, measured = now, at.measures(now, n)
		ok, err := await()
		switch {
		case p.Lossy && errors.Is(err, ErrStalled):
			if lost++; lost == maxLost {
				return fmt.Errorf("%w, %d times in a row", err, lost)
			}
			p.Lost++
			measured = false
		case err != nil:
			return err
		case !ok:
			return nil
		case lost > 0:
			if err := p.discardLate(); err != nil {
				return err
			}
			lost, measured = 0, false
		}
	}
}

// proceed does the work that can be done while a message is in flight: it posts
// receives and prepares the next message. It returns false after the Supervisor has
// stopped, which waits may be too short to see.
func (p *PingPong) proceed() (bool, error) {
	if p.Supervisor.Stopped() {
		return false, nil
	}
	if err := p.refill(); err != nil {
		return false, err
	}
	// The check of a payload needs the memory of the message in flight.
	if p.Flow.Verify || p.Plan.Count > 0 && p.Flow.posted >= p.Plan.Warmup+p.Plan.Count {
		return true, nil
	}
	return p.prepare()
}

// pause waits for the Gap.
func (p *PingPong) pause() {
	for end := p.clock.now() + int64(p.Gap); p.clock.now() < end; {
	}
}

// follow answers messages. With FollowerMeasures it measures the time between
// consecutive messages.
func (p *PingPong) follow(verb verb) error {
	defer p.addTimes()
	await := p.waiterFor(verb)
	at := progress{plan: p.Plan, begin: p.clock.now()}
	last, measured := int64(0), false
	for n := uint64(0); p.Plan.Count == 0 || n < p.Plan.Warmup+p.Plan.Count; n++ {
		if ok, err := await(); !ok || err != nil {
			return err
		}
		if p.Gap > 0 {
			p.pause()
		}
		raw := int64(0)
		if p.FollowerMeasures {
			raw = p.clock.raw()
		}
		if err := p.post(verb); err != nil {
			return err
		}
		if p.FollowerMeasures {
			now := p.clock.nanoseconds(raw)
			if measured {
				p.sample(now - last)
			}
			last, measured = now, at.measures(now, n)
		}
		if ok, err := p.proceed(); !ok || err != nil {
			return err
		}
	}
	return p.clock.check()
}

// Drain waits for the completions that are due. It must be called before the flow is
// prepared again or the connection ends.
func (p *PingPong) Drain() error {
	for p.Flow.completed < p.Flow.signaled {
		if ok, err := p.take(); !ok || err != nil {
			return err
		}
	}
	return nil
}

// LateWindow is the time after which a message of a lossy transport counts as lost
// for good.
const LateWindow = 50 * time.Millisecond

// discardLate consumes messages that arrive late after lost round trips. Otherwise
// each would count as the answer to the message after it.
func (p *PingPong) discardLate() error {
	for end := Now() + int64(LateWindow); Now() < end && !p.Supervisor.Stopped(); {
		done, err := p.wait.poll()
		if err != nil {
			return err
		}
		if err := p.process(done); err != nil {
			return err
		}
	}
	for p.arrived > 0 {
		if _, err := p.awaitMessage(); err != nil {
			return err
		}
	}
	if p.in.word != nil {
		p.lastRemote += uint64(p.in.load() - byte(p.lastRemote))
	}
	return nil
}

// stamp writes the next message into memory, as far as its verb requires it.
func (p *PingPong) stamp(v verb) error {
	f := p.Flow
	if v == writes { // the last byte differs from the previous byte
		p.count++
		if f.Verify {
			Fill(f.Out.Bytes[:f.Size-1], f.Seed, p.count)
		}
		f.Out.Bytes[f.Size-1] = byte(p.count) // without End: memory that is polled is coherent
		return nil
	}
	if v == singles {
		f.setOperands(0)
	}
	if f.Verify { // the message is not prepared yet
		return f.fill(f.payload(f.posted+1, p.Lossy))
	}
	return nil
}

// prepare prepares the next message. Every p.every-th message generates a completion,
// and so does the last message, which Drain waits for. It returns false after the
// Supervisor has stopped.
func (p *PingPong) prepare() (bool, error) {
	f := p.Flow
	for f.posted-f.completed >= uint64(p.Depth) {
		if ok, err := p.take(); !ok || err != nil {
			return false, err
		}
	}
	n := f.posted + 1
	f.prepare(p.single || n-f.signaled >= p.every || n == p.Plan.Warmup+p.Plan.Count)
	p.prepared = true
	return true, nil
}

// post sends the next message.
func (p *PingPong) post(v verb) error {
	f := p.Flow
	if v != sends || f.Verify {
		if err := p.stamp(v); err != nil {
			return err
		}
	}
	if !p.prepared {
		if ok, err := p.prepare(); !ok || err != nil {
			return err
		}
	}
	p.prepared = false
	f.posted++
	if f.request {
		f.signaled = f.posted
	}
	_, err := f.Queue.PostSend(f.wrs[:1])
	return err
}
