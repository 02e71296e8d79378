package rxe

import (
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A receiveQueue is a queue pair's or an SRQ's receive work request ring. The
// kernel reads it when a packet arrives, without a doorbell.
type receiveQueue struct {
	ring   ring
	maxSGE int
}

// recvElement returns a receive work request's size in bytes.
func recvElement(maxSGE uint32) int { return uapi.RXERecvWQESize + int(maxSGE)*uapi.RXESGESize }

// post writes work requests into slots and returns their number.
func (q *receiveQueue) post(wrs []provider.RecvWR) (n int, err error) {
	for n < len(wrs) {
		if err = q.fill(&wrs[n]); err != nil {
			break
		}
		n++
	}
	if n > 0 {
		q.ring.publish()
	}
	return n, err
}

func (q *receiveQueue) fill(wr *provider.RecvWR) error {
	if len(wr.SGEs) > q.maxSGE {
		return provider.ErrSGEs
	}
	length, err := provider.Length(wr.SGEs, maxMessage)
	if err != nil {
		return err
	}
	slot, err := q.ring.next()
	if err != nil {
		return err
	}
	wqe := (*uapi.RXERecvWQE)(slot)
	*wqe = uapi.RXERecvWQE{}
	wqe.WRID = wr.ID
	wqe.DMA.Length, wqe.DMA.Resid = length, length
	wqe.DMA.NumSGE = uint32(len(wr.SGEs))
	copySGEs(unsafe.Add(slot, uapi.RXERecvWQESize), wr.SGEs)
	q.ring.advance()
	return nil
}

// maxMessage is a message's maximum length in bytes (InfiniBand Architecture,
// volume 1, 9.7.2: 2^31). The kernel uses the length in the work request and does not add
// up the SGEs.
const maxMessage = 1 << 31

// copySGEs writes SGEs behind a work request's head.
func copySGEs(to unsafe.Pointer, sges []provider.SGE) {
	for i := range sges {
		*(*uapi.RXESGE)(unsafe.Add(to, i*uapi.RXESGESize)) = uapi.RXESGE{
			Addr: sges[i].Addr, Length: sges[i].Length, LKey: sges[i].LKey,
		}
	}
}
