package sim

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// An Event is something that happens to a fabric while it is in use: a command,
// and when.
type Event struct {
	After   time.Duration // since Play
	Packets uint64        // once so many packets were sent; 0: After counts
	Command Command
}

// An agenda has what is still to happen.
type agenda struct {
	byTime   appointments
	byPacket []Event // the next one first
	packets  uint64  // sent since Play
	count    uint64

	failed func(error)
}

// Play makes events happen from now on. Between packets nobody notices, so they
// happen when the next packet is sent, or on [Fabric.Advance]. failed is told of
// those that could not, such as a link to a port that is taken.
func (f *Fabric) Play(events []Event, failed func(error)) {
	now := time.Now()
	a := &agenda{failed: failed}
	f.agenda = a
	for _, e := range events {
		if e.Packets > 0 {
			a.byPacket = append(a.byPacket, e)
		} else {
			a.add(now.Add(e.After), e.Command)
		}
	}
	slices.SortStableFunc(a.byPacket, func(x, y Event) int { return cmp.Compare(x.Packets, y.Packets) })
}

func (a *agenda) add(due time.Time, c Command) {
	heap.Push(&a.byTime, appointment{due: due, order: a.count, command: c})
	a.count++
}

// later has a command carried out after a time.
func (f *Fabric) later(after time.Duration, c Command) {
	if f.agenda == nil {
		f.Play(nil, func(error) {})
	}
	f.agenda.add(time.Now().Add(after), c)
}

// NextEvent returns when the next event is due that waits for a time; false:
// none does.
func (f *Fabric) NextEvent() (time.Time, bool) {
	if f.agenda == nil || len(f.agenda.byTime) == 0 {
		return time.Time{}, false
	}
	return f.agenda.byTime[0].due, true
}

// Advance makes the events happen that are due.
func (f *Fabric) Advance() {
	if f.agenda == nil {
		return
	}
	a, now := f.agenda, time.Now()
	for len(a.byPacket) > 0 && a.byPacket[0].Packets <= a.packets {
		e := a.byPacket[0]
		a.byPacket = a.byPacket[1:]
		a.carryOut(f, e.Command)
	}
	for len(a.byTime) > 0 && !a.byTime[0].due.After(now) {
		a.carryOut(f, heap.Pop(&a.byTime).(appointment).command)
	}
}

func (a *agenda) carryOut(f *Fabric, c Command) {
	if err := f.Do(c, nil); err != nil && a.failed != nil {
		a.failed(err)
	}
}

// step counts a packet that is sent, and makes happen what is due before it.
func (f *Fabric) step() {
	if f.agenda == nil {
		return
	}
	f.Advance()
	f.agenda.packets++
}

// An appointment is a command that waits for its time.
type appointment struct {
	due     time.Time
	order   uint64
	command Command
}

type appointments []appointment

func (a appointments) Len() int { return len(a) }
func (a appointments) Less(i, j int) bool {
	if a[i].due.Equal(a[j].due) {
		return a[i].order < a[j].order
	}
	return a[i].due.Before(a[j].due)
}
func (a appointments) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *appointments) Push(x any)   { *a = append(*a, x.(appointment)) }
func (a *appointments) Pop() any {
	old := *a
	last := old[len(old)-1]
	*a = old[:len(old)-1]
	return last
}
