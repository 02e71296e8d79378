package sim

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// An Event is a command that is applied to a fabric in use at a given time.
type Event struct {
	After   time.Duration // since Play
	Packets uint64        // packets sent since Play; 0: After applies
	Command Command
}

// An eventQueue holds the pending events.
type eventQueue struct {
	byTime   schedule
	byPacket []Event // in order
	packets  uint64  // sent since Play
	count    uint64
	played   int // events passed to Play
	pending  int // events passed to Play that are not applied yet

	applying time.Time // time of the event being applied; zero: now

	failed func(error)
}

// Play starts the event clock. An event is applied when the next packet is sent after the
// event time, or on [Fabric.Advance], and acts as if applied at the event time: follow-up
// changes, such as the next change in a flap, count from the event time. failed is called
// with the error if an event cannot be applied, for example a link to a port that is in use.
func (f *Fabric) Play(events []Event, failed func(error)) {
	now := time.Now()
	q := &eventQueue{failed: failed, played: len(events), pending: len(events)}
	f.events = q
	for _, e := range events {
		if e.Packets > 0 {
			q.byPacket = append(q.byPacket, e)
		} else {
			q.add(scheduled{due: now.Add(e.After), command: e.Command, played: true})
		}
	}
	slices.SortStableFunc(q.byPacket, func(x, y Event) int { return cmp.Compare(x.Packets, y.Packets) })
}

func (q *eventQueue) add(s scheduled) {
	s.order = q.count
	heap.Push(&q.byTime, s)
	q.count++
}

// EarlyEvents counts the events from [Fabric.Play] that were applied before the first
// request for counters: no comparison with the first reply shows their changes.
func (f *Fabric) EarlyEvents() int { return f.early }

// countersRead notes the first request for counters.
func (f *Fabric) countersRead() {
	if f.wasRead {
		return
	}
	if f.wasRead = true; f.events != nil {
		f.early = f.events.played - f.events.pending
	}
}

// scheduleAfter applies a command after a time since the event that is being applied, or now.
func (f *Fabric) scheduleAfter(after time.Duration, c Command) {
	if f.events == nil {
		f.Play(nil, func(error) {})
	}
	begin := f.events.applying
	if begin.IsZero() {
		begin = time.Now()
	}
	f.events.add(scheduled{due: begin.Add(after), command: c})
}

// NextEvent returns the time for the next event that does not count packets. It reports
// false if no such event is pending.
func (f *Fabric) NextEvent() (time.Time, bool) {
	if f.events == nil || len(f.events.byTime) == 0 {
		return time.Time{}, false
	}
	return f.events.byTime[0].due, true
}

// Advance applies the events that are due.
func (f *Fabric) Advance() {
	if f.events == nil {
		return
	}
	q, now := f.events, time.Now()
	for len(q.byPacket) > 0 && q.byPacket[0].Packets <= q.packets {
		e := q.byPacket[0]
		q.byPacket = q.byPacket[1:]
		q.apply(f, scheduled{command: e.Command, played: true})
	}
	for len(q.byTime) > 0 && !q.byTime[0].due.After(now) {
		q.apply(f, heap.Pop(&q.byTime).(scheduled))
	}
}

func (q *eventQueue) apply(f *Fabric, s scheduled) {
	q.applying = s.due
	defer func() { q.applying = time.Time{} }()
	if s.played {
		q.pending--
	}
	if err := f.Do(s.command, nil); err != nil && q.failed != nil {
		q.failed(err)
	}
	f.notify()
}

// step applies the events that are due, and counts a packet.
func (f *Fabric) step() {
	if f.events == nil {
		return
	}
	f.Advance()
	f.events.packets++
}

// A scheduled command is applied at a time. Commands with the same time are applied in
// their order.
type scheduled struct {
	due     time.Time
	order   uint64
	command Command
	played  bool // by Play
}

type schedule []scheduled

func (s schedule) Len() int { return len(s) }
func (s schedule) Less(i, j int) bool {
	if s[i].due.Equal(s[j].due) {
		return s[i].order < s[j].order
	}
	return s[i].due.Before(s[j].due)
}
func (s schedule) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *schedule) Push(x any)   { *s = append(*s, x.(scheduled)) }
func (s *schedule) Pop() any {
	old := *s
	last := old[len(old)-1]
	*s = old[:len(old)-1]
	return last
}
