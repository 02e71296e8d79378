package efa

import (
	"sync/atomic"

	"github.com/ibkit/ibkit/verbs/internal/queue"
)

// A pool has the free request IDs of a queue. Completions may come in any order. Posting
// takes IDs, polling returns them; both may be concurrent.
type pool struct {
	ids      []uint16 // the size is a power of 2
	taken    uint32   // counts run freely
	returned atomic.Uint32
}

// reset makes a number of IDs free.
func (p *pool) reset(count uint32) {
	p.ids = make([]uint16, queue.RoundUp(count))
	for i := range count {
		p.ids[i] = uint16(i)
	}
	p.taken = 0
	p.returned.Store(count)
}

// empty reports that no ID is free.
func (p *pool) empty() bool { return p.taken == p.returned.Load() }

// take takes a free ID.
func (p *pool) take() uint16 {
	id := p.ids[p.taken&uint32(len(p.ids)-1)]
	p.taken++
	return id
}

// put returns an ID.
func (p *pool) put(id uint16) {
	n := p.returned.Load()
	p.ids[n&uint32(len(p.ids)-1)] = id
	p.returned.Store(n + 1)
}
