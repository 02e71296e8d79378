package loop

import (
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// PingPong has one message under way at a time, on one lane.
type PingPong struct {
	Lane   *Lane
	CQ     Completions
	Watch  *Watch
	Plan   Plan
	Events bool
	Depth  int // sends that the queue pair holds

	// Lossy: messages may get lost, and a round trip that takes longer than the
	// Watch's patience is begun again.
	Lossy bool

	// FollowerMeasures: a side that follows keeps times, too.
	FollowerMeasures bool

	Samples *Samples // of whole round trips; made unless it is there
	Lost    uint64   // round trips that were begun again

	clock   clock
	wait    waiter
	arrived uint64 // of which wait has not returned yet
	in      lastByte
	spent   int    // receives that are to be posted anew
	count   uint64 // of writes
	heard   uint64 // the number of the last write that came, of the other side's
	every   uint64 // messages to a completion
}

// maxLost is how many round trips may get lost in a row.
const maxLost = 10

// sendEvery is how many sends go without a completion at most.
const sendEvery = 32

func (p *PingPong) begin() {
	p.clock = newClock()
	p.wait = waiter{cq: p.CQ, into: make([]verbs.Completion, 16), watch: p.Watch, events: p.Events}
	if p.Samples == nil {
		p.Samples = NewSamples()
	}
	p.arrived, p.spent, p.count, p.heard = 0, 0, 0, 0
	p.every = uint64(max(1, min(sendEvery, p.Depth/2)))
}

// LeadSends sends and waits for the answer, again and again, and keeps the times of
// the whole round trips. Receives must be posted.
func (p *PingPong) LeadSends() error {
	p.begin()
	return p.lead((*PingPong).postSend, (*PingPong).awaitMessage)
}

// FollowSends answers messages: as many as the Plan has, or until the Watch stops.
func (p *PingPong) FollowSends() error {
	p.begin()
	return p.follow((*PingPong).postSend, (*PingPong).awaitMessage)
}

// LeadWrites writes to the other side's memory and waits until it has written to
// this one's: the last byte of each message counts.
func (p *PingPong) LeadWrites() error {
	p.beginWrites()
	return p.lead((*PingPong).postWrite, (*PingPong).awaitWrite)
}

// FollowWrites answers writes.
func (p *PingPong) FollowWrites() error {
	p.beginWrites()
	return p.follow((*PingPong).postWrite, (*PingPong).awaitWrite)
}

// follow answers: as often as the plan has, or until the Watch stops. The times
// that it keeps are from one answer to the next.
func (p *PingPong) follow(post func(*PingPong) error, await func(*PingPong) (bool, error)) error {
	defer p.wait.hold()()
	at := progress{plan: p.Plan, begin: p.clock.now()}
	last, measured := int64(0), false
	for n := uint64(0); p.Plan.Count == 0 || n < p.Plan.Warmup+p.Plan.Count; n++ {
		if p.Watch.Stopped() { // a wait may be too short to see it
			return nil
		}
		if ok, err := await(p); !ok || err != nil {
			return err
		}
		if p.FollowerMeasures {
			now := p.clock.now()
			if measured {
				p.Samples.Add(now - last)
			}
			last, measured = now, at.measures(now, n)
		}
		if err := post(p); err != nil {
			return err
		}
		if err := p.refill(); err != nil {
			return err
		}
	}
	return p.clock.check()
}

// Drain waits until the device has sent all that completes when it has: before the
// lane is prepared anew, or the other side is left alone.
func (p *PingPong) Drain() error {
	for p.Lane.completed < p.Lane.signaled {
		if ok, err := p.take(); !ok || err != nil {
			return err
		}
	}
	return nil
}

func (p *PingPong) beginWrites() {
	p.begin()
	p.in = byteAt(p.Lane.In.Bytes, p.Lane.Size-1)
}

// Single does reads or atomics, one at a time.
func (p *PingPong) Single() error {
	p.begin()
	return p.lead((*PingPong).postSingle, (*PingPong).awaitSingle)
}

// lead posts and waits until the plan is over. A time is that from before a post to
// before the next, so that nothing that a round trip takes is left out; it is kept
// while the next one is under way.
func (p *PingPong) lead(post func(*PingPong) error, await func(*PingPong) (bool, error)) error {
	defer p.wait.hold()()
	at := progress{plan: p.Plan, begin: p.clock.now()}
	last, measured, lost := int64(0), false, 0
	for n := uint64(0); ; n++ {
		now := p.clock.now()
		if at.over(now, n) {
			if measured {
				p.Samples.Add(now - last)
			}
			return errors.Join(p.refill(), p.clock.check())
		}
		if p.Watch.Stopped() { // a wait may be too short to see it
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
				return fmt.Errorf("%w %d times in a row", err, lost)
			}
			p.Lost++
			measured = false
		case err != nil:
			return err
		case !ok:
			return nil
		case lost > 0:
			if err := p.settle(); err != nil {
				return err
			}
			lost, measured = 0, false
		}
	}
}

// StrayTime is how long messages that may get lost may be under way.
const StrayTime = 50 * time.Millisecond

// settle takes what else comes after round trips that were lost. An answer that was
// but late would be taken for that of the next message, and so would all after it.
func (p *PingPong) settle() error {
	for end := Now() + int64(StrayTime); Now() < end && !p.Watch.Stopped(); {
		done, err := p.wait.poll()
		if err != nil {
			return err
		}
		if err := p.sort(done); err != nil {
			return err
		}
	}
	for p.arrived > 0 {
		if _, err := p.awaitMessage(); err != nil {
			return err
		}
	}
	if p.in.word != nil {
		p.heard += uint64(p.in.load() - byte(p.heard))
	}
	return nil
}

// postSend sends the next message.
func (p *PingPong) postSend() error {
	l := p.Lane
	if l.Verify {
		at := l.slot * l.Walk.Step
		Fill(l.Out.Bytes[at:at+l.Size], l.Seed, p.number(l.posted+1))
	}
	return p.post()
}

// number is what a message's payload is made of. Where messages get lost nobody
// can tell which one it is.
func (p *PingPong) number(n uint64) uint64 {
	if p.Lossy {
		return 0
	}
	return n
}

// post sends with a completion now and then, for which there is always room.
func (p *PingPong) post() error {
	l := p.Lane
	for l.posted-l.completed >= uint64(p.Depth) {
		if ok, err := p.take(); !ok || err != nil {
			return err
		}
	}
	return l.send(l.posted+1-l.signaled >= p.every)
}

// take waits for completions and sorts them.
func (p *PingPong) take() (bool, error) {
	done, err := p.wait.next()
	if err != nil || done == nil {
		return false, err
	}
	return true, p.sort(done)
}

// sort takes completions in, up to one that failed.
func (p *PingPong) sort(done []verbs.Completion) error {
	for i := range done {
		if done[i].Status != verbs.StatusOK {
			return done[i].Err()
		}
		if done[i].Opcode.Received() {
			p.arrived++
		} else {
			p.Lane.completed = done[i].ID & idCountMask
		}
	}
	return nil
}

// awaitMessage waits for the next message and looks at it. False: the Watch has
// stopped.
func (p *PingPong) awaitMessage() (bool, error) {
	for p.arrived == 0 {
		if ok, err := p.take(); !ok || err != nil {
			return false, err
		}
	}
	p.arrived--
	l := p.Lane
	if l.Verify {
		at := l.tookSlot*l.InWalk.Step + l.GRH
		if err := Check(l.In.Bytes[at:at+l.Size], l.PeerSeed, p.number(l.received+1)); err != nil {
			return false, err
		}
	}
	l.tookSlot = l.InWalk.next(l.tookSlot)
	l.received++
	p.spent++
	if l.Waiting > p.spent {
		return true, nil // there are others until the next message is on its way
	}
	return true, p.refill()
}

// refill posts receives in place of those that were used.
func (p *PingPong) refill() error {
	n := p.spent
	p.spent = 0
	p.Lane.Waiting -= n
	return p.Lane.Receive(n)
}

// postWrite writes the next message. Its last byte is never the one before.
func (p *PingPong) postWrite() error {
	l := p.Lane
	p.count++
	if l.Verify {
		Fill(l.Out.Bytes[:l.Size-1], l.Seed, p.count)
	}
	l.Out.Bytes[l.Size-1] = byte(p.count)
	return p.post()
}

// awaitWrite waits until the other side has written: the number that is due or,
// where some get lost, any but the one before.
func (p *PingPong) awaitWrite() (bool, error) {
	l := p.Lane
	number := byte(p.heard)
	if !p.Lossy {
		number++
	}
	since := int64(0)
	for spins := 1; (p.in.load() == number) == p.Lossy; spins++ {
		if spins%restEvery == 0 {
			p.wait.rest(spins)
		}
		if spins%clockEvery != 0 { // a poll takes as long as many of these
			continue
		}
		p.wait.still.turn(clockEvery)
		if p.Watch.Stopped() {
			return false, nil
		}
		// A write that failed shows in the queue only.
		done, err := p.wait.poll()
		if err != nil {
			return false, err
		}
		if err := p.sort(done); err != nil {
			return false, err
		}
		if p.Watch.Patience > 0 {
			if since, err = p.wait.impatient(since); err != nil {
				return false, err
			}
		}
	}
	l.received++
	p.heard += uint64(p.in.load() - byte(p.heard))
	if l.Verify {
		return true, Check(l.In.Bytes[:l.Size-1], l.PeerSeed, p.heard)
	}
	return true, nil
}

// postSingle posts a read or an atomic.
func (p *PingPong) postSingle() error {
	p.Lane.operate(0)
	return p.Lane.send(true)
}

// awaitSingle waits for its completion.
func (p *PingPong) awaitSingle() (bool, error) {
	l := p.Lane
	for l.completed < l.posted {
		if ok, err := p.take(); !ok || err != nil {
			return false, err
		}
	}
	if l.Verify {
		return true, l.checkResult(l.completed)
	}
	return true, nil
}
