package queue

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A Table finds the queue that a completion names by an index. Polling reads it without a lock.
type Table[T any] struct {
	lock    sync.Mutex
	entries atomic.Pointer[[]*T]
}

// Add stores a queue and returns its index, which is below a limit. If all of these are in use,
// the error is ENOMEM.
func (t *Table[T]) Add(q *T, limit uint64) (uint64, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	var entries []*T
	if old := t.entries.Load(); old != nil {
		entries = slices.Clone(*old)
	}
	i := slices.Index(entries, nil)
	if i < 0 {
		i = len(entries)
		entries = append(entries, nil)
	}
	if uint64(i) >= limit {
		return 0, fmt.Errorf("more than %d queues: %w", limit, unix.ENOMEM)
	}
	entries[i] = q
	t.entries.Store(&entries)
	return uint64(i), nil
}

// Remove frees an index.
func (t *Table[T]) Remove(index uint64) {
	t.lock.Lock()
	defer t.lock.Unlock()
	entries := slices.Clone(*t.entries.Load())
	entries[index] = nil
	t.entries.Store(&entries)
}

// Find returns an index's queue, or nil.
func (t *Table[T]) Find(index uint64) *T {
	entries := t.entries.Load()
	if entries == nil || index >= uint64(len(*entries)) {
		return nil
	}
	return (*entries)[index]
}
