package mlx5

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A table finds queue pairs by the user index in completions. Polling reads it without a
// lock.
type table struct {
	lock    sync.Mutex
	entries atomic.Pointer[[]*qp]
}

// maxIndex is the maximum number of queue pairs of a device: user indices have 24 bits,
// and the last one means that there is no index.
const maxIndex = 1<<24 - 1

// add stores a queue pair and returns its index, or false if there are too many.
func (t *table) add(q *qp) (index uint32, ok bool) {
	t.lock.Lock()
	defer t.lock.Unlock()
	var entries []*qp
	if old := t.entries.Load(); old != nil {
		entries = slices.Clone(*old)
	}
	i := slices.Index(entries, nil)
	if i < 0 {
		i = len(entries)
		entries = append(entries, nil)
	}
	if i >= maxIndex {
		return 0, false
	}
	entries[i] = q
	t.entries.Store(&entries)
	return uint32(i), true
}

// remove frees the index of a queue pair.
func (t *table) remove(index uint32) {
	t.lock.Lock()
	defer t.lock.Unlock()
	entries := slices.Clone(*t.entries.Load())
	entries[index] = nil
	t.entries.Store(&entries)
}

// find returns the queue pair of an index, or nil.
func (t *table) find(index uint32) *qp {
	entries := t.entries.Load()
	if entries == nil || uint64(index) >= uint64(len(*entries)) {
		return nil
	}
	return (*entries)[index]
}
