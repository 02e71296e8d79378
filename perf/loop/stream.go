package loop

import (
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// Stream keeps as many messages under way as it may, on any number of lanes that
// share a completion queue.
type Stream struct {
	Lanes  []*Lane
	CQ     Completions
	Watch  *Watch
	Events bool
	Lossy  bool // messages may get lost

	// Of sending. With a Plan of nothing this side only receives.
	Plan       Plan
	Depth      int     // messages under way on each lane
	List       int     // messages posted at a time; Prepare knows it too
	Moderation int     // messages to a completion, at most Depth
	Rate       float64 // messages per second of all lanes; 0: as many as can be

	// Of receiving. Receives must be posted. Expect is how many messages each
	// lane takes before the loop ends, 0: until the Watch stops.
	Receives bool
	Expect   uint64

	// Sent is called once, when all messages are sent and completed.
	Sent func()

	Out, In Windows // what was sent and what arrived while it counts

	clock    clock
	wait     waiter
	at       progress
	sending  bool
	counting bool
	draining bool
	doneOut  uint64 // of all lanes
	postedN  uint64
	arrived  uint64
	every    uint64 // messages to a completion
	due      []int  // receives to be posted, by lane
}

// sends tells whether this side sends.
func (s *Stream) sends() bool { return s.Plan != Plan{} }

// Run sends and receives. It returns when all is sent and received, or when the
// Watch stops.
func (s *Stream) Run() error {
	s.begin()
	if err := s.run(); err != nil {
		return err
	}
	return s.clock.check()
}

func (s *Stream) run() error {
	defer s.wait.hold()()
	for s.sending || s.Receives {
		if s.Watch.Stopped() { // completions may come without end
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
		if err := s.sort(done); err != nil {
			return err
		}
	}
	return nil
}

// drain takes what has come until the Watch stopped. Receives are posted anew only
// after it: the other side may go on.
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
		if err := s.sort(done); err != nil {
			return err
		}
	}
}

func (s *Stream) begin() {
	s.clock = newClock()
	s.wait = waiter{cq: s.CQ, into: make([]verbs.Completion, 64), watch: s.Watch, events: s.Events}
	s.due = make([]int, len(s.Lanes))
	// Where there is no room for a whole list a completion must be under way.
	s.every = uint64(max(1, min(s.Moderation, s.Depth-s.List+1)))
	s.sending = s.sends()
	s.counting, s.draining, s.doneOut, s.postedN, s.arrived = false, false, 0, 0, 0
	s.at = progress{plan: s.Plan, begin: s.clock.now()}
	s.Out, s.In = Windows{}, Windows{}
	if s.sending && s.Plan.Warmup == 0 && s.Plan.Before == 0 {
		s.count(s.at.begin)
	}
}

// count begins to count what is sent.
func (s *Stream) count(now int64) {
	s.counting = true
	s.Out.start(now)
}

// take returns completions. It waits unless there is more to send.
func (s *Stream) take() ([]verbs.Completion, error) {
	if s.sending && s.held() {
		if s.Events {
			s.doze()
		}
		return s.wait.poll()
	}
	return s.wait.next()
}

// longestDoze is how long a completion, or Stop, may go unseen.
const longestDoze = time.Millisecond

// doze sleeps until the rate lets a message go: who waits for events is not to keep
// a processor busy meanwhile.
func (s *Stream) doze() {
	next := s.at.begin + int64(float64(s.postedN)/s.Rate*1e9)
	time.Sleep(min(time.Duration(next-s.clock.now()), longestDoze))
}

// held tells whether it is the rate, not the depth, that keeps back what is to be
// sent.
func (s *Stream) held() bool {
	if s.Rate == 0 {
		return false
	}
	for _, l := range s.Lanes {
		if s.room(l) > 0 {
			return true
		}
	}
	return false
}

// room returns how many messages a lane may post now.
func (s *Stream) room(l *Lane) int {
	n := s.Depth - int(l.posted-l.completed)
	if s.Plan.Count > 0 {
		n = min(n, int(s.end()-l.posted))
	}
	return min(n, s.List)
}

// end is where each lane stops: before it counts all that warms up has completed.
func (s *Stream) end() uint64 {
	if s.counting {
		return s.Plan.Warmup + s.Plan.Count
	}
	return s.Plan.Warmup
}

// fill posts what may be posted.
func (s *Stream) fill() error {
	over := false
	if s.Plan.Count == 0 || s.Rate > 0 {
		now := s.clock.now()
		over = s.Plan.Count == 0 && s.at.over(now, 0)
		if s.Rate > 0 && !over && float64(s.postedN) > s.Rate*float64(now-s.at.begin)/1e9 {
			return nil
		}
	}
	if over {
		return s.last()
	}
	for again := true; again; {
		again = false
		for _, l := range s.Lanes {
			n := s.room(l)
			if n < s.List && (n <= 0 || s.Plan.Count == 0 || l.posted+uint64(n) < s.end()) {
				continue
			}
			if err := s.post(l, n); err != nil {
				return err
			}
			again = s.Rate == 0
		}
	}
	return nil
}

// last posts one message with a completion on lanes where the last one has none,
// and ends sending when all have completed.
func (s *Stream) last() error {
	open := false
	for _, l := range s.Lanes {
		if l.signaled != l.posted {
			if int(l.posted-l.completed) >= s.Depth {
				open = true
				continue
			}
			if err := s.postSignaled(l, 1, true); err != nil {
				return err
			}
		}
		open = open || l.completed != l.posted
	}
	if !open {
		s.finish()
	}
	return nil
}

func (s *Stream) post(l *Lane, n int) error { return s.postSignaled(l, n, false) }

// postSignaled posts n messages, the last of which completes where it must: by the
// moderation, at the end, and where the queue would fill up without.
func (s *Stream) postSignaled(l *Lane, n int, last bool) error {
	end := s.end()
	for i := range n {
		if l.Verify {
			switch l.Message.Opcode {
			case verbs.OpSend, verbs.OpSendWithImm, verbs.OpWrite, verbs.OpWriteWithImm:
				at := l.slot * l.Walk.Step
				Fill(l.Out.Bytes[at:at+l.Size], l.Seed, s.number(l.posted+1))
			}
		}
		l.place(i)
		l.operate(i)
		l.posted++
		on := last || l.posted-l.signaled >= s.every || s.Plan.Count > 0 && l.posted == end
		l.signal(i, l.posted, on)
	}
	s.postedN += uint64(n)
	_, err := l.Queue.PostSend(l.wrs[:n])
	return err
}

func (s *Stream) number(n uint64) uint64 {
	if s.Lossy {
		return 0
	}
	return n
}

// sort takes completions in, up to one that failed.
func (s *Stream) sort(done []verbs.Completion) error {
	sent, came := uint64(0), uint64(0)
	for i := range done {
		c := &done[i]
		if c.Status != verbs.StatusOK {
			return c.Err()
		}
		index := int(c.ID >> idLaneShift)
		l := s.Lanes[index]
		if c.Opcode.Received() {
			if err := s.receive(l); err != nil {
				return err
			}
			came++
			s.due[index]++
			continue
		}
		upTo := c.ID & idCountMask
		// What atomics find goes to one place, so only the last one's can be seen.
		if l.Verify && l.Message.Opcode == verbs.OpRead {
			for n := l.completed + 1; n <= upTo; n++ {
				if err := l.checkResult(n); err != nil {
					return err
				}
			}
		}
		sent += upTo - l.completed
		l.completed = upTo
	}
	if came > 0 && !s.draining {
		if err := s.repost(); err != nil {
			return err
		}
	}
	if sent > 0 || came > 0 {
		s.tell(sent, came)
	}
	return nil
}

// receive looks at a message that has arrived.
func (s *Stream) receive(l *Lane) error {
	l.received++
	if l.Verify {
		at := l.tookSlot*l.InWalk.Step + l.GRH
		if err := Check(l.In.Bytes[at:at+l.Size], l.PeerSeed, s.number(l.received)); err != nil {
			return err
		}
	}
	l.tookSlot = l.InWalk.next(l.tookSlot)
	return nil
}

// repost posts receives in place of those that were used.
func (s *Stream) repost() error {
	for i, n := range s.due {
		if n == 0 {
			continue
		}
		s.due[i] = 0
		if err := s.Lanes[i].Receive(n); err != nil {
			return err
		}
	}
	return nil
}

// tell counts what was sent and what came, and ends what is over.
func (s *Stream) tell(sent, came uint64) {
	now := s.clock.now()
	s.doneOut += sent
	if s.sending && sent > 0 {
		s.countOut(now, sent)
	}
	if came > 0 {
		if s.arrived == 0 {
			s.In.start(now) // from the first on, which is not counted
		} else {
			s.In.add(now, came)
		}
		s.arrived += came
		if s.Expect > 0 && s.arrived >= s.Expect*uint64(len(s.Lanes)) {
			s.Receives = false
		}
	}
}

// countOut counts what was sent, if it is time to.
func (s *Stream) countOut(now int64, sent uint64) {
	lanes := uint64(len(s.Lanes))
	switch {
	case s.counting && (s.Plan.Count > 0 || s.at.measures(now, 0)):
		s.Out.add(now, sent)
	case !s.counting && s.Plan.Count > 0 && s.doneOut >= s.Plan.Warmup*lanes, !s.counting && s.Plan.Count == 0 && s.at.measures(now, 0):
		s.count(now)
	}
	if s.Plan.Count > 0 && s.doneOut >= (s.Plan.Warmup+s.Plan.Count)*lanes {
		s.finish()
	}
}

// finish ends sending.
func (s *Stream) finish() {
	s.sending = false
	if s.Sent != nil {
		s.wait.still.release()
		s.Sent()
		s.wait.hold()
	}
}
