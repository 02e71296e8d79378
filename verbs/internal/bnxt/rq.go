package bnxt

import (
	"sync/atomic"

	"github.com/ibkit/ibkit/verbs/provider"
)

// A receiveQueue is a receive work request ring.
type receiveQueue struct {
	ring   []slot
	ids    []uint64 // by entry
	step   uint32   // slots of an entry
	next   uint32   // entry
	epoch  uint32
	maxSGE int

	posted atomic.Uint32 // a count
	done   atomic.Uint32 // a count
	oldest uint32        // entry: for polling
}

// reset discards all work requests.
func (q *receiveQueue) reset() {
	q.next, q.oldest = 0, 0
	q.posted.Store(0)
	q.done.Store(0)
}

// bell returns the index for the doorbell.
func (q *receiveQueue) bell() uint32 { return q.next | q.epoch<<bellEpoch }

// post writes work requests and returns their number. An entry stays free.
func (q *receiveQueue) post(wrs []provider.RecvWR) (n int, err error) {
	posted := q.posted.Load()
	for ; n < len(wrs); n++ {
		wr := &wrs[n]
		if err = checkReceive(wr, q.maxSGE); err != nil {
			break
		}
		if posted+uint32(n)-q.done.Load() >= uint32(len(q.ids))-1 {
			err = provider.ErrFull
			break
		}
		putReceive(q.ring[q.next*q.step:][:q.step], wr, q.next, min(1, int(q.step-headerSlots)))
		q.ids[q.next] = wr.ID
		if q.next++; q.next == uint32(len(q.ids)) {
			q.next = 0
			q.epoch ^= 1
		}
	}
	q.posted.Store(posted + uint32(n))
	return n, err
}

// checkReceive rejects work requests that the adapter would misinterpret.
func checkReceive(wr *provider.RecvWR, sges int) error {
	if len(wr.SGEs) > sges {
		return provider.ErrSGEs
	}
	_, err := provider.Length(wr.SGEs, maxMessage)
	return err
}

// putReceive writes a work request with the number that its completion has. A queue pair's ring
// has at least an SGE, unless its entries have no room for any.
func putReceive(to []slot, wr *provider.RecvWR, number uint32, least int) {
	size := headerSlots + max(len(wr.SGEs), least)
	to[0].set(opReceive|uint64(size)<<wqeSlots, uint64(number))
	to[1].set(0, 0)
	for i := range wr.SGEs {
		s := &wr.SGEs[i]
		to[headerSlots+i].set(s.Addr, uint64(s.Length)<<32|uint64(s.LKey))
	}
	if len(wr.SGEs) == 0 && least > 0 {
		to[headerSlots].set(0, 0)
	}
}

// pop removes the oldest work request and stores its ID.
func (q *receiveQueue) pop(c *provider.Completion) bool {
	if q.posted.Load() == q.done.Load() {
		return false
	}
	c.ID = q.ids[q.oldest]
	if q.oldest++; q.oldest == uint32(len(q.ids)) {
		q.oldest = 0
	}
	q.done.Add(1)
	return true
}
