package irdma

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A table finds the queue pair for a completion's context. Polling reads it without a lock.
type table struct {
	lock    sync.Mutex
	entries atomic.Pointer[[]*qp]
}

// add stores a queue pair and returns its context, which is never 0.
func (t *table) add(q *qp) (context uint64) {
	t.lock.Lock()
	defer t.lock.Unlock()
	entries := []*qp{nil}
	if old := t.entries.Load(); old != nil {
		entries = slices.Clone(*old)
	}
	i := slices.Index(entries[1:], nil) + 1
	if i == 0 {
		i = len(entries)
		entries = append(entries, nil)
	}
	entries[i] = q
	t.entries.Store(&entries)
	return uint64(i)
}

// remove frees a context.
func (t *table) remove(context uint64) {
	t.lock.Lock()
	defer t.lock.Unlock()
	entries := slices.Clone(*t.entries.Load())
	entries[context] = nil
	t.entries.Store(&entries)
}

// find returns a context's queue pair, or nil.
func (t *table) find(context uint64) *qp {
	entries := t.entries.Load()
	if entries == nil || context >= uint64(len(*entries)) {
		return nil
	}
	return (*entries)[context]
}
