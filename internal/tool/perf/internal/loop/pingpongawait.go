package loop

import (
	"github.com/ibkit/ibkit/verbs"
)

// waiterFor returns the function that waits for the answer of the peer. That returns false
// after the Supervisor has stopped.
func (p *PingPong) waiterFor(v verb) func() (bool, error) {
	switch v {
	case sends:
		return p.awaitMessage
	case writes:
		return p.awaitWrite
	}
	return p.awaitSingle
}

// take waits for completions and processes them.
func (p *PingPong) take() (bool, error) {
	done, err := p.wait.next()
	if err != nil || done == nil {
		return false, err
	}
	return true, p.process(done)
}

// process counts completions. It stops at the first failure.
func (p *PingPong) process(done []verbs.Completion) error {
	for i := range done {
		if done[i].Status != verbs.StatusOK {
			return done[i].Err()
		}
		if done[i].Opcode&verbs.CompletedRecv != 0 { // a call of Received is not inlined
			p.arrived++
		} else {
			p.Flow.complete(done[i].ID)
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
		if err := f.In.check(at, f.Size, f.PeerSeed, f.payload(f.received+1, p.Lossy)); err != nil {
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

// awaitWrite waits for the next write of the peer: the next number or, on a lossy
// transport, any number other than the last.
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
		if spins%pauseEvery == 0 && (spins > memoryPauseAfter || p.wait.super.Yield) {
			p.wait.pause(spins)
		}
	}
	return false
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
