// Package timeline delivers values at given times.
package timeline

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Timeline holds values until they are due. It has a separate thread and event file,
// because the runtime's timers may be a millisecond late, which is a long time compared
// with switch delays.
type Timeline[T any] struct {
	event int // readable when the next time has changed

	mu      sync.Mutex // guards the fields below
	waiting queue[T]
	count   uint64
	ended   bool
}

// New returns an empty timeline. [Timeline.Run] starts it.
func New[T any]() (*Timeline[T], error) {
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("open event file: %w", err)
	}
	return &Timeline[T]{event: event}, nil
}

// Add adds a value. Values with the same time are delivered in the order in which
// they were added.
func (t *Timeline[T]) Add(due time.Time, value T) {
	t.mu.Lock()
	heap.Push(&t.waiting, &entry[T]{due: due, order: t.count, value: value})
	t.count++
	first := t.waiting[0].order == t.count-1
	t.mu.Unlock()
	if first {
		t.wake()
	}
}

// End makes Run return. Remaining values are discarded.
func (t *Timeline[T]) End() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.wake()
}

func (t *Timeline[T]) wake() {
	_, _ = unix.Write(t.event, binary.NativeEndian.AppendUint64(nil, 1))
}

// Run delivers values in order until End is called. It must be called once only.
func (t *Timeline[T]) Run(deliver func([]T)) {
	runtime.LockOSThread() // without unlock, so that the thread ends with this goroutine
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	defer unix.Close(t.event)
	var due []T
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

// take returns the values that are due, or the time until the next value (nil: no value).
func (t *Timeline[T]) take(due []T, now time.Time) (_ []T, wait *unix.Timespec, ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.waiting) > 0 && !t.waiting[0].due.After(now) {
		due = append(due, heap.Pop(&t.waiting).(*entry[T]).value)
	}
	if len(t.waiting) > 0 {
		ts := unix.NsecToTimespec(int64(t.waiting[0].due.Sub(now)))
		wait = &ts
	}
	return due, wait, t.ended
}

// An entry is a value with its time.
type entry[T any] struct {
	due   time.Time
	order uint64
	value T
}

type queue[T any] []*entry[T]

func (q queue[T]) Len() int { return len(q) }
func (q queue[T]) Less(i, j int) bool {
	if q[i].due.Equal(q[j].due) {
		return q[i].order < q[j].order
	}
	return q[i].due.Before(q[j].due)
}
func (q queue[T]) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue[T]) Push(x any)   { *q = append(*q, x.(*entry[T])) }
func (q *queue[T]) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return last
}
