package loop

import (
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/perf/stats"
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
}

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
	p.every = uint64(max(1, min(sendEvery, p.Depth/2)))
}

// LeadSends sends messages, waits for each answer, and measures the round trips.
// Receives must be posted.
func (p *PingPong) LeadSends() error {
	p.begin()
	return p.lead((*PingPong).postSend, (*PingPong).awaitMessage)
}

// FollowSends answers messages until the Plan is complete or the Supervisor stops.
func (p *PingPong) FollowSends() error {
	p.begin()
	return p.follow((*PingPong).postSend, (*PingPong).awaitMessage)
}

// LeadWrites writes to the peer's memory, waits until the peer has written to local
// memory, and measures the round trips. The last byte of a message is its number.
func (p *PingPong) LeadWrites() error {
	p.beginWrites()
	return p.lead((*PingPong).postWrite, (*PingPong).awaitWrite)
}

// FollowWrites answers writes until the Plan is complete or the Supervisor stops.
func (p *PingPong) FollowWrites() error {
	p.beginWrites()
	return p.follow((*PingPong).postWrite, (*PingPong).awaitWrite)
}

// Single runs reads or atomics one at a time and measures them.
func (p *PingPong) Single() error {
	p.begin()
	return p.lead((*PingPong).postSingle, (*PingPong).awaitSingle)
}

func (p *PingPong) beginWrites() {
	p.begin()
	p.in = byteAt(p.Flow.In.Bytes, p.Flow.Size-1)
}

// lead posts and waits until the plan is complete. A sample is the time from before
// one post to before the next, so that it covers all work of a round trip. It is
// recorded while the next message is in flight.
func (p *PingPong) lead(post func(*PingPong) error, await func(*PingPong) (bool, error)) error {
	at := progress{plan: p.Plan, begin: p.clock.now()}
	last, measured, lost := int64(0), false, 0
	for n := uint64(0); ; n++ {
		now := p.pause()
		if at.over(now, n) {
			if measured {
				p.Samples.Add(now - last)
			}
			return errors.Join(p.refill(), p.clock.check())
		}
		if p.Supervisor.Stopped() { // waits may be too short to see it
			return nil
		}
		if err := post(p); err != nil {
			return err
		}
		if measured {
			p.Samples.Add(now - last)
		}
		if err := p.refill(); err != nil {
			return err
		}
		last, measured = now, at.measures(now, n)
		ok, err := await(p)
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

// pause waits for the Gap and returns the time.
func (p *PingPong) pause() int64 {
	now := p.clock.now()
	for end := now + int64(p.Gap); now < end; {
		now = p.clock.now()
	}
	return now
}

// follow answers messages. With FollowerMeasures it measures the time between
// consecutive messages.
func (p *PingPong) follow(post func(*PingPong) error, await func(*PingPong) (bool, error)) error {
	at := progress{plan: p.Plan, begin: p.clock.now()}
	last, measured := int64(0), false
	for n := uint64(0); p.Plan.Count == 0 || n < p.Plan.Warmup+p.Plan.Count; n++ {
		if p.Supervisor.Stopped() { // waits may be too short to see it
			return nil
		}
		if ok, err := await(p); !ok || err != nil {
			return err
		}
		now := int64(0)
		if p.FollowerMeasures || p.Gap > 0 {
			now = p.pause()
		}
		if err := post(p); err != nil {
			return err
		}
		if p.FollowerMeasures {
			if measured {
				p.Samples.Add(now - last)
			}
			last, measured = now, at.measures(now, n)
		}
		if err := p.refill(); err != nil {
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

// postSend sends the next message.
func (p *PingPong) postSend() error {
	f := p.Flow
	if f.Verify {
		at := f.sendSlot * f.Ring.Stride
		Fill(f.Out.Bytes[at:at+f.Size], f.Seed, p.payload(f.posted+1))
	}
	return p.post()
}

// payload returns the count that the payload of message n is made of. It is 0 for
// lossy transports, whose receiver does not know n.
func (p *PingPong) payload(n uint64) uint64 {
	if p.Lossy {
		return 0
	}
	return n
}

// post sends a message. Every p.every-th message generates a completion, and so does
// the last one, which Drain waits for.
func (p *PingPong) post() error {
	f := p.Flow
	for f.posted-f.completed >= uint64(p.Depth) {
		if ok, err := p.take(); !ok || err != nil {
			return err
		}
	}
	n := f.posted + 1
	return f.send(n-f.signaled >= p.every || n == p.Plan.Warmup+p.Plan.Count)
}

// take waits for completions and processes them.
func (p *PingPong) take() (bool, error) {
	done, err := p.wait.next()
	if err != nil || done == nil {
		return false, err
	}
	return true, p.process(done)
}

// process counts completions. It stops at the first one that failed.
func (p *PingPong) process(done []verbs.Completion) error {
	for i := range done {
		if done[i].Status != verbs.StatusOK {
			return done[i].Err()
		}
		if done[i].Opcode.Received() {
			p.arrived++
		} else {
			p.Flow.completed = done[i].ID & idCountMask
		}
	}
	return nil
}

// awaitMessage waits for the next message and verifies it. It returns false after the
// Supervisor has stopped.
func (p *PingPong) awaitMessage() (bool, error) {
	for p.arrived == 0 {
		if ok, err := p.take(); !ok || err != nil {
			return false, err
		}
	}
	p.arrived--
	f := p.Flow
	if f.Verify {
		at := f.recvSlot*f.InRing.Stride + f.GRH
		if err := Check(f.In.Bytes[at:at+f.Size], f.PeerSeed, p.payload(f.received+1)); err != nil {
			return false, err
		}
	}
	f.recvSlot = f.InRing.next(f.recvSlot)
	f.received++
	p.consumed++
	if f.RecvPosted > p.consumed {
		return true, nil // refill can wait until the next message is in flight
	}
	return true, p.refill()
}

// refill posts the consumed receives again.
func (p *PingPong) refill() error {
	n := p.consumed
	p.consumed = 0
	p.Flow.RecvPosted -= n
	return p.Flow.Receive(n)
}

// postWrite writes the next message. Its last byte differs from the previous one.
func (p *PingPong) postWrite() error {
	f := p.Flow
	p.count++
	if f.Verify {
		Fill(f.Out.Bytes[:f.Size-1], f.Seed, p.count)
	}
	f.Out.Bytes[f.Size-1] = byte(p.count)
	return p.post()
}

// awaitWrite waits for the next write of the peer: the next number or, on a lossy
// transport, any other number than the last one.
func (p *PingPong) awaitWrite() (bool, error) {
	number := byte(p.lastRemote)
	if !p.Lossy {
		number++
	}
	since := int64(0)
	for !p.pollMemory(number) {
		if p.Supervisor.Stopped() {
			return false, nil
		}
		// A failed write shows only in the completion queue.
		done, err := p.wait.poll()
		if err != nil {
			return false, err
		}
		if err := p.process(done); err != nil {
			return false, err
		}
		if since, err = p.wait.checkStall(since); err != nil {
			return false, err
		}
	}
	f := p.Flow
	f.received++
	p.lastRemote += uint64(p.in.load() - byte(p.lastRemote))
	if f.Verify {
		return true, Check(f.In.Bytes[:f.Size-1], f.PeerSeed, p.lastRemote)
	}
	return true, nil
}

// pollMemory polls the last byte of the message, at most memoryBurst times, and
// reports whether the awaited write has arrived.
func (p *PingPong) pollMemory(number byte) bool {
	for spins := 1; spins < memoryBurst; spins++ {
		if (p.in.load() == number) != p.Lossy {
			return true
		}
		if spins%pauseEvery == 0 {
			p.wait.pause(spins)
		}
	}
	return false
}

// postSingle posts a read or an atomic.
func (p *PingPong) postSingle() error {
	p.Flow.setOperands(0)
	return p.Flow.send(true)
}

// awaitSingle waits for the completion of a read or an atomic.
func (p *PingPong) awaitSingle() (bool, error) {
	f := p.Flow
	for f.completed < f.posted {
		if ok, err := p.take(); !ok || err != nil {
			return false, err
		}
	}
	if f.Verify {
		return true, f.verifyResult(f.completed)
	}
	return true, nil
}
