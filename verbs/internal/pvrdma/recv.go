package pvrdma

import (
	"errors"
	"fmt"
	"math"
	"os"
	"unsafe"

	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A receiveQueue is a receive work request ring.
type receiveQueue struct {
	ring
	maxSGE int
}

// recvStride returns a receive work request's size.
func recvStride(maxSGE uint32) uint64 {
	return stride(unsafe.Sizeof(uapi.PVRDMARecvHeader{}), maxSGE)
}

// stride returns a work request's size for a header size: a power of 2.
func stride(header uintptr, maxSGE uint32) uint64 {
	size := uint64(header) + uint64(maxSGE)*uint64(unsafe.Sizeof(uapi.PVRDMASGE{}))
	return uint64(queue.RoundUp(uint32(min(size, maxRing))))
}

// post writes work requests and returns their number.
func (q *receiveQueue) post(wrs []provider.RecvWR) (int, error) {
	for i := range wrs {
		if err := q.fill(&wrs[i]); err != nil {
			return i, err
		}
	}
	return len(wrs), nil
}

func (q *receiveQueue) fill(wr *provider.RecvWR) error {
	switch {
	case len(wr.SGEs) > q.maxSGE:
		return provider.ErrSGEs
	case q.entries == nil:
		return provider.ErrFull
	}
	if _, err := provider.Length(wr.SGEs, math.MaxUint32); err != nil {
		return err
	}
	tail, err := q.reserve()
	if err != nil {
		return err
	}
	h := (*uapi.PVRDMARecvHeader)(q.at(tail))
	h.WRID, h.NumSGE = wr.ID, uint32(len(wr.SGEs))
	putSGEs(unsafe.Add(unsafe.Pointer(h), unsafe.Sizeof(*h)), wr.SGEs)
	q.publish(tail)
	return nil
}

// putSGEs writes SGEs behind a header.
func putSGEs(to unsafe.Pointer, sges []provider.SGE) {
	for i, s := range unsafe.Slice((*uapi.PVRDMASGE)(to), len(sges)) {
		s.Addr, s.Length, s.LKey = sges[i].Addr, sges[i].Length, sges[i].LKey
		*(*uapi.PVRDMASGE)(unsafe.Add(to, uintptr(i)*unsafe.Sizeof(s))) = s
	}
}

// A srq is a shared receive queue.
type srq struct {
	device *device
	memory *dmamem.Memory
	queue  receiveQueue
	number uint32
}

// NewSRQ creates a shared receive queue with a RoundSRQ capacity.
func (d *device) NewSRQ(attr provider.SRQAttr, create provider.Create) (provider.SRQ, error) {
	if attr.CQ != nil {
		return nil, fmt.Errorf("shared receive queue of XRC: %w", errors.ErrUnsupported)
	}
	if err := d.ensurePage(); err != nil {
		return nil, err
	}
	r, m, err := d.newRing(attr.MaxWR, recvStride(attr.MaxSGE), os.Getpagesize())
	if err != nil {
		return nil, err
	}
	r.state = &stateOf(m).RX
	in := uapi.PVRDMACreateSRQ{BufAddr: m.Addr(), BufSize: uint32(m.Len())}
	var resp uapi.PVRDMACreateSRQResp
	created, err := create(uapi.Bytes(&in), uapi.Bytes(&resp))
	if err != nil {
		return nil, closing(err, m)
	}
	q := &srq{device: d, memory: m, queue: receiveQueue{r, int(attr.MaxSGE)}, number: resp.SRQN}
	if created.MaxWR != attr.MaxWR {
		return q, fmt.Errorf("shared receive queue: got %d work requests, want %d: %w", created.MaxWR, attr.MaxWR, provider.ErrCorrupt)
	}
	return q, nil
}

// PostRecv fills the ring and writes to the doorbell once.
func (q *srq) PostRecv(wrs []provider.RecvWR) (int, error) {
	n, err := q.queue.post(wrs)
	if n > 0 {
		q.device.ring(uapi.PVRDMAUARSRQ, q.number|uapi.PVRDMAUARSRQRecv)
	}
	return n, err
}

// ModifyIn returns nil: the driver reads no data of its own.
func (q *srq) ModifyIn() []byte { return nil }

// Close releases the ring's memory.
func (q *srq) Close() error { return q.memory.Close() }
