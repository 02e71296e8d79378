package loop

import (
	"cmp"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/stats"
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
	Burst      int     // with Rate: messages posted without a pause; 0: 1
	Batch      int     // completions per poll; 0: 64

	// Receiving. Receives must be posted. Expect is the number of messages of each
	// flow after which the loop ends; 0 means that it ends with the Supervisor.
	Receives bool
	Expect   uint64

	// Sent is called once, after all messages have completed.
	Sent func()

	// Progress, unless nil, is the number of messages that have completed, or that
	// have arrived at a side that only receives. Other goroutines may read it.
	Progress *atomic.Uint64

	Out, In stats.Windows // counted messages sent and received
	Peak    *stats.Peak   // of the sent messages; nil: not measured

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
	list      int    // receives posted at a time
	burst     int    // messages that the current burst has left
	nextBurst int64  // earliest start of the next burst
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
	s.wait = waiter{cq: s.CQ, into: make([]verbs.Completion, cmp.Or(s.Batch, 64)), super: s.Supervisor, events: s.Events}
	s.consumed = make([]int, len(s.Flows))
	s.list, s.burst = 1, 0
	if len(s.Flows) > 0 {
		s.list = max(1, s.Flows[0].RecvList)
	}
	// A completion must be due whenever a whole list does not fit.
	s.every = uint64(max(1, min(s.Moderation, s.Depth-s.List+1)))
	s.sending = s.sends()
	s.counting, s.draining, s.completed, s.posted, s.arrived = false, false, 0, 0, 0
	s.at = progress{plan: s.Plan, begin: s.clock.now()}
	s.nextBurst = s.at.begin
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
func (s *Stream) sleep() { time.Sleep(min(time.Duration(s.nextBurst-s.clock.now()), maxSleep)) }

// maxBehind is the time without messages that later bursts may make up for.
const maxBehind = time.Millisecond

// startBurst starts the next burst if it is due, and reports whether a burst is in
// progress.
func (s *Stream) startBurst(now int64) bool {
	if s.burst > 0 {
		return true
	}
	if now < s.nextBurst {
		return false
	}
	s.burst = max(1, s.Burst)
	gap := int64(float64(s.burst) / s.Rate * 1e9)
	s.nextBurst = max(s.nextBurst, now-max(gap, int64(maxBehind))) + gap
	return true
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
		if s.Rate > 0 && !over && !s.startBurst(now) {
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
			if s.Rate > 0 {
				if s.burst -= n; s.burst <= 0 {
					s.burst = 0
					return nil
				}
			}
			again = true
		}
	}
	return nil
}

// postLast posts another message, with a completion, on each flow that ended without a
// completion. It ends sending when all messages have completed.
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
// moderation requires it, or if it is the last message of the plan.
func (s *Stream) post(f *QPFlow, n int, last bool) error {
	end := s.end()
	if s.Peak != nil && s.counting {
		s.Peak.Posted(s.clock.now(), s.posted)
	}
	for i := range n {
		if f.Verify {
			if err := f.fill(f.payload(f.posted+1, s.Lossy)); err != nil {
				return err
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

// process counts completions. It stops at the first failure.
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
			if err := s.receive(f, int(c.ID&idCountMask)); err != nil {
				return err
			}
			received++
			s.consumed[index]++
			continue
		}
		n := f.complete(c.ID)
		// Atomics return their values to a single slot, so that only the last is visible.
		if f.Verify && f.Message.Opcode == verbs.OpRead {
			for n := f.completed - n + 1; n <= f.completed; n++ {
				if err := f.verifyResult(n); err != nil {
					return err
				}
			}
		}
		sent += n
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

// receive verifies a message that has arrived in a slot.
func (s *Stream) receive(f *QPFlow, slot int) error {
	f.received++
	// The peer may write to a slot again before its last message is seen here.
	if f.Verify && f.Message.Opcode != verbs.OpWriteWithImm {
		at := slot*f.InRing.Stride + f.GRH
		return f.In.check(at, f.Size, f.PeerSeed, f.payload(f.received, s.Lossy))
	}
	return nil
}

// repost posts the consumed receives again.
func (s *Stream) repost() error {
	for i, n := range s.consumed {
		n -= n % s.list
		if n == 0 {
			continue
		}
		s.consumed[i] -= n
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
	if s.Progress != nil && s.sends() {
		s.Progress.Store(s.completed)
	}
	if s.sending && sent > 0 {
		if s.Peak != nil {
			s.Peak.Completed(now, s.completed)
		}
		s.recordSent(now, sent)
	}
	if received > 0 {
		if s.arrived == 0 {
			s.In.Start(now) // the first messages start the clock and do not count
		} else {
			s.In.Add(now, received)
		}
		s.arrived += received
		if s.Progress != nil && !s.sends() {
			s.Progress.Store(s.arrived)
		}
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
