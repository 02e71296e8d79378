package serve

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A timeline keeps packets until they are due. It has a thread and an event file
// of its own: the runtime's timers may be a millisecond late, which is an
// eternity among switches.
type timeline struct {
	event int // readable when there is something new to wait for

	mu      sync.Mutex // over what follows
	waiting deliveries
	count   uint64
	ended   bool
}

func newTimeline() (*timeline, error) {
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("make event file: %w", err)
	}
	return &timeline{event: event}, nil
}

// add keeps a packet until it is due.
func (t *timeline) add(d *delivery) {
	t.mu.Lock()
	heap.Push(&t.waiting, &ordered{delivery: *d, order: t.count})
	t.count++
	first := t.waiting[0].order == t.count-1
	t.mu.Unlock()
	if first {
		t.wake()
	}
}

// end makes run return.
func (t *timeline) end() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.wake()
}

func (t *timeline) wake() {
	_, _ = unix.Write(t.event, binary.NativeEndian.AppendUint64(nil, 1))
}

// run hands over what is due until end is called.
func (t *timeline) run(deliver func([]delivery)) {
	runtime.LockOSThread() // and never unlock it: the thread ends with us
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	defer unix.Close(t.event)
	var due []delivery
	for {
		var wait *unix.Timespec
		var ended bool
		due, wait, ended = t.take(due[:0], time.Now())
		if ended {
			return
		}
		if len(due) > 0 {
			deliver(due)
			continue
		}
		_, _ = unix.Ppoll([]unix.PollFd{{Fd: int32(t.event), Events: unix.POLLIN}}, wait, nil)
		var b [8]byte
		_, _ = unix.Read(t.event, b[:])
	}
}

// take returns what is due, or how long to wait for the next; nil: for ever.
func (t *timeline) take(due []delivery, now time.Time) (_ []delivery, wait *unix.Timespec, ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.waiting) > 0 && !t.waiting[0].due.After(now) {
		d := heap.Pop(&t.waiting).(*ordered).delivery
		d.due = time.Time{}
		due = append(due, d)
	}
	if len(t.waiting) > 0 {
		ts := unix.NsecToTimespec(int64(t.waiting[0].due.Sub(now)))
		wait = &ts
	}
	return due, wait, t.ended
}

// ordered is a delivery among those that are due at the same time.
type ordered struct {
	delivery
	order uint64
}

type deliveries []*ordered

func (d deliveries) Len() int { return len(d) }
func (d deliveries) Less(i, j int) bool {
	if d[i].due.Equal(d[j].due) {
		return d[i].order < d[j].order
	}
	return d[i].due.Before(d[j].due)
}
func (d deliveries) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *deliveries) Push(x any)   { *d = append(*d, x.(*ordered)) }
func (d *deliveries) Pop() any {
	old := *d
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*d = old[:len(old)-1]
	return last
}
