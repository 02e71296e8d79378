package loop

import (
	"time"

	"github.com/ibkit/ibkit/perf/stats"
	"github.com/ibkit/ibkit/verbs"
)

// Stream measures bandwidth: it keeps many messages in flight on any number of flows
// that share a completion queue.
type Stream struct {
	Flows      []*QPFlow
	CQ         Completions
	Supervisor *Supervisor
	Events     bool
	Lossy      bool // the transport may lose messages

	// Sending. With a zero Plan this side only receives.
	Plan       Plan
	Depth      int     // messages in flight on each flow
	List       int     // messages posted at a time, as given to Prepare
	Moderation int     // messages per completion, at most Depth
	Rate       float64 // messages per second of all flows; 0: unlimited

	// Receiving. Receives must be posted. Expect is the number of messages of each
	// flow after which the loop ends; 0 means that it ends with the Supervisor.
	Receives bool
	Expect   uint64

	// Sent is called once, after all messages have completed.
	Sent func()

	Out, In stats.Windows // counted messages sent and received

	clock     clock
	wait      waiter
	at        progress
	sending   bool
	counting  bool
	draining  bool
	completed uint64 // of all flows
	posted    uint64 // of all flows
	arrived   uint64 // of all flows
	every     uint64 // messages per completion
	consumed  []int  // receives to post again, by flow
}

// sends reports whether this side sends.
func (s *Stream) sends() bool { return s.Plan != Plan{} }

// Run sends and receives until all messages are through or the Supervisor stops.
func (s *Stream) Run() error {
	s.begin()
	if err := s.run(); err != nil {
		return err
	}
	return s.clock.check()
}

func (s *Stream) run() error {
	for s.sending || s.Receives {
		if s.Supervisor.Stopped() { // there may never be an empty poll
			return s.drain()
		}
		if s.sending {
			if err := s.fill(); err != nil {
				return err
			}
			if !s.sending && !s.Receives {
				return nil
			}
		}
		done, err := s.take()
		if err != nil {
			return err
		}
		if err := s.process(done); err != nil {
			return err
		}
	}
	return nil
}

// drain processes the completions that are present after the Supervisor has stopped.
// It posts receives again only afterwards, because the peer may go on sending.
func (s *Stream) drain() error {
	s.draining = true
	for {
		done, err := s.wait.poll()
		if err != nil {
			return err
		}
		if len(done) == 0 {
			return s.repost()
		}
		if err := s.process(done); err != nil {
			return err
		}
	}
}

func (s *Stream) begin() {
	s.clock = newClock()
	s.wait = waiter{cq: s.CQ, into: make([]verbs.Completion, 64), super: s.Supervisor, events: s.Events}
	s.consumed = make([]int, len(s.Flows))
	// A completion must be due whenever a whole list does not fit.
	s.every = uint64(max(1, min(s.Moderation, s.Depth-s.List+1)))
	s.sending = s.sends()
	s.counting, s.draining, s.completed, s.posted, s.arrived = false, false, 0, 0, 0
	s.at = progress{plan: s.Plan, begin: s.clock.now()}
	s.Out, s.In = stats.Windows{}, stats.Windows{}
	if s.sending && s.Plan.Warmup == 0 && s.Plan.Before == 0 {
		s.startCounting(s.at.begin)
	}
}

func (s *Stream) startCounting(now int64) {
	s.counting = true
	s.Out.Start(now)
}

// take returns completions. It waits unless only the rate holds back messages.
func (s *Stream) take() ([]verbs.Completion, error) {
	if s.sending && s.rateLimited() {
		if s.Events {
			s.sleep()
		}
		return s.wait.poll()
	}
	return s.wait.next()
}

// maxSleep bounds the delay until a completion or Stop is seen.
const maxSleep = time.Millisecond

// sleep waits until the rate permits the next message, without polling.
func (s *Stream) sleep() {
	next := s.at.begin + int64(float64(s.posted)/s.Rate*1e9)
	time.Sleep(min(time.Duration(next-s.clock.now()), maxSleep))
}

// rateLimited reports whether the rate, and not the depth, holds back messages.
func (s *Stream) rateLimited() bool {
	if s.Rate == 0 {
		return false
	}
	for _, f := range s.Flows {
		if s.room(f) > 0 {
			return true
		}
	}
	return false
}

// room returns the number of messages that a flow may post now.
func (s *Stream) room(f *QPFlow) int {
	n := s.Depth - int(f.posted-f.completed)
	if s.Plan.Count > 0 {
		n = min(n, int(s.end()-f.posted))
	}
	return min(n, s.List)
}

// end returns the number of messages after which each flow pauses: the end of the
// warm-up until that has completed, then the end of the plan.
func (s *Stream) end() uint64 {
	if s.counting {
		return s.Plan.Warmup + s.Plan.Count
	}
	return s.Plan.Warmup
}

// fill posts as many messages as possible.
func (s *Stream) fill() error {
	over := false
	if s.Plan.Count == 0 || s.Rate > 0 {
		now := s.clock.now()
		over = s.Plan.Count == 0 && s.at.over(now, 0)
		if s.Rate > 0 && !over && float64(s.posted) > s.Rate*float64(now-s.at.begin)/1e9 {
			return nil
		}
	}
	if over {
		return s.postLast()
	}
	for again := true; again; {
		again = false
		for _, f := range s.Flows {
			n := s.room(f)
			if n < s.List && (n <= 0 || s.Plan.Count == 0 || f.posted+uint64(n) < s.end()) {
				continue
			}
			if err := s.post(f, n, false); err != nil {
				return err
			}
			again = s.Rate == 0
		}
	}
	return nil
}

// postLast posts one more message, with a completion, on each flow whose last message
// has no completion. It ends sending when all messages have completed.
func (s *Stream) postLast() error {
	open := false
	for _, f := range s.Flows {
		if f.signaled != f.posted {
			if int(f.posted-f.completed) >= s.Depth {
				open = true
				continue
			}
			if err := s.post(f, 1, true); err != nil {
				return err
			}
		}
		open = open || f.completed != f.posted
	}
	if !open {
		s.finish()
	}
	return nil
}

// post posts n messages. A message generates a completion if last is set, if the
// moderation requires one, or if it is the last message of the plan.
func (s *Stream) post(f *QPFlow, n int, last bool) error {
	end := s.end()
	for i := range n {
		if f.Verify {
			switch f.Message.Opcode {
			case verbs.OpSend, verbs.OpSendWithImm, verbs.OpWrite, verbs.OpWriteWithImm:
				at := f.sendSlot * f.Ring.Stride
				Fill(f.Out.Bytes[at:at+f.Size], f.Seed, s.payload(f.posted+1))
			}
		}
		f.place(i)
		f.setOperands(i)
		f.posted++
		on := last || f.posted-f.signaled >= s.every || s.Plan.Count > 0 && f.posted == end
		f.signal(i, f.posted, on)
	}
	s.posted += uint64(n)
	_, err := f.Queue.PostSend(f.wrs[:n])
	return err
}

// payload returns the count that the payload of message n is made of. It is 0 for
// lossy transports, whose receiver does not know n.
func (s *Stream) payload(n uint64) uint64 {
	if s.Lossy {
		return 0
	}
	return n
}

// process counts completions. It stops at the first one that failed.
func (s *Stream) process(done []verbs.Completion) error {
	sent, received := uint64(0), uint64(0)
	for i := range done {
		c := &done[i]
		if c.Status != verbs.StatusOK {
			return c.Err()
		}
		index := int(c.ID >> idFlowShift)
		f := s.Flows[index]
		if c.Opcode.Received() {
			if err := s.receive(f); err != nil {
				return err
			}
			received++
			s.consumed[index]++
			continue
		}
		upTo := c.ID & idCountMask
		// Atomics return their values to one slot, so that only the last is visible.
		if f.Verify && f.Message.Opcode == verbs.OpRead {
			for n := f.completed + 1; n <= upTo; n++ {
				if err := f.verifyResult(n); err != nil {
					return err
				}
			}
		}
		sent += upTo - f.completed
		f.completed = upTo
	}
	if received > 0 && !s.draining {
		if err := s.repost(); err != nil {
			return err
		}
	}
	if sent > 0 || received > 0 {
		s.record(sent, received)
	}
	return nil
}

// receive verifies a message that has arrived.
func (s *Stream) receive(f *QPFlow) error {
	f.received++
	if f.Verify {
		at := f.recvSlot*f.InRing.Stride + f.GRH
		if err := Check(f.In.Bytes[at:at+f.Size], f.PeerSeed, s.payload(f.received)); err != nil {
			return err
		}
	}
	f.recvSlot = f.InRing.next(f.recvSlot)
	return nil
}

// repost posts the consumed receives again.
func (s *Stream) repost() error {
	for i, n := range s.consumed {
		if n == 0 {
			continue
		}
		s.consumed[i] = 0
		if err := s.Flows[i].Receive(n); err != nil {
			return err
		}
	}
	return nil
}

// record counts messages and ends directions that are complete.
func (s *Stream) record(sent, received uint64) {
	now := s.clock.now()
	s.completed += sent
	if s.sending && sent > 0 {
		s.recordSent(now, sent)
	}
	if received > 0 {
		if s.arrived == 0 {
			s.In.Start(now) // the first messages start the clock and do not count
		} else {
			s.In.Add(now, received)
		}
		s.arrived += received
		if s.Expect > 0 && s.arrived >= s.Expect*uint64(len(s.Flows)) {
			s.Receives = false
		}
	}
}

// recordSent counts sent messages within the plan.
func (s *Stream) recordSent(now int64, sent uint64) {
	flows := uint64(len(s.Flows))
	switch {
	case s.counting && (s.Plan.Count > 0 || s.at.measures(now, 0)):
		s.Out.Add(now, sent)
	case !s.counting && s.Plan.Count > 0 && s.completed >= s.Plan.Warmup*flows, !s.counting && s.Plan.Count == 0 && s.at.measures(now, 0):
		s.startCounting(now)
	}
	if s.Plan.Count > 0 && s.completed >= (s.Plan.Warmup+s.Plan.Count)*flows {
		s.finish()
	}
}

// finish ends sending.
func (s *Stream) finish() {
	s.sending = false
	if s.Sent != nil {
		s.Sent()
	}
}
