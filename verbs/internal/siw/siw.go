package siw

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// New returns an open device's provider.
func New(d provider.Device) provider.Provider { return &siw{device: d} }

type siw struct {
	device provider.Device
	keys   atomic.Uint32 // registered region count
}

// Close returns nil: a device has no memory besides its queues.
func (p *siw) Close() error { return nil }

// RegisterMR returns a registration's data: the low byte of the region's keys. It
// differs from the previous region's, so that an index's old keys do not stay
// valid.
func (p *siw) RegisterMR() (in, out []byte) {
	return uapi.Bytes(&uapi.SIWRegMR{StagKey: uint8(p.keys.Add(1))}), uapi.Bytes(&uapi.SIWRegMRResp{})
}

// maxElements limits a ring's elements; the driver allows 3.3 million (siw.h,
// SIW_MAX_CQE).
const maxElements = 1 << 24

// mapRing maps a ring with equal-sized elements, followed by extra bytes.
func mapRing[T any](d provider.Device, key uint64, elements uint32, extra int) (ring[T], error) {
	size := int(unsafe.Sizeof(*new(T)))
	if key == uapi.SIWInvalidKey || elements > maxElements || bits.OnesCount32(elements) != 1 {
		return ring[T]{}, fmt.Errorf("map queue: got %d elements at key %#x, want a power of two: %w", elements, key, provider.ErrCorrupt)
	}
	memory, err := d.Map(key, int(elements)*size+extra)
	if err != nil {
		return ring[T]{}, err
	}
	return ring[T]{memory: memory, elements: unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), elements), mask: elements - 1}, nil
}

// A ring is a queue that the process shares with the kernel.
type ring[T any] struct {
	memory   []byte
	elements []T
	mask     uint32 // element count minus 1
	next     uint32 // free-running used element count
}

// at returns the element with a count.
func (r *ring[T]) at(count uint32) *T { return &r.elements[count&r.mask] }

// unmap unmaps a ring unless it is empty.
func (r *ring[T]) unmap(d provider.Device) error {
	if r.memory == nil {
		return nil
	}
	return d.Unmap(r.memory)
}

// NewCQ creates a completion queue.
func (p *siw) NewCQ(_ provider.CQAttr, create provider.Create) (provider.CQ, error) {
	var resp uapi.SIWCreateCQResp
	if _, err := create(nil, uapi.Bytes(&resp)); err != nil {
		return nil, err
	}
	r, err := mapRing[uapi.SIWCQE](p.device, resp.Key, resp.NumCQE, uapi.SIWCQCtrlSize)
	if err != nil {
		return nil, err
	}
	control := (*uapi.SIWCQCtrl)(unsafe.Pointer(&r.memory[len(r.memory)-uapi.SIWCQCtrlSize]))
	return &cq{device: p.device, ring: r, flags: &control.Flags}, nil
}

// NewQP creates a queue pair.
func (p *siw) NewQP(attr provider.QPAttr, create provider.Create) (provider.QP, error) {
	if attr.Transport != provider.RC {
		return nil, fmt.Errorf("queue pair of transport %d on iWARP: %w", attr.Transport, provider.ErrOpcode)
	}
	var resp uapi.SIWCreateQPResp
	created, err := create(nil, uapi.Bytes(&resp))
	if err != nil {
		return nil, err
	}
	q := &qp{device: p.device, capacity: created.Cap, signalAll: attr.SignalAll}
	if q.sq, err = mapRing[uapi.SIWSQE](p.device, resp.SQKey, resp.NumSQE, 0); err != nil {
		return nil, err
	}
	// The kernel reports the capacity that was requested.
	q.capacity.MaxSendWR, q.capacity.MaxInline = resp.NumSQE, uapi.SIWMaxInline
	q.capacity.MaxSendSGE = min(q.capacity.MaxSendSGE, uapi.SIWMaxSGE)
	q.capacity.MaxRecvSGE = min(q.capacity.MaxRecvSGE, uapi.SIWMaxSGE)
	if attr.SRQ == nil && resp.NumRQE > 0 {
		q.capacity.MaxRecvWR = resp.NumRQE
		q.rq.maxSGE = int(q.capacity.MaxRecvSGE)
		if q.rq.ring, err = mapRing[uapi.SIWRQE](p.device, resp.RQKey, resp.NumRQE, 0); err != nil {
			return nil, errors.Join(err, q.sq.unmap(p.device))
		}
	}
	q.bell = p.device.Doorbell(created.Handle)
	return q, nil
}

// NewSRQ creates a shared receive queue.
func (p *siw) NewSRQ(attr provider.SRQAttr, create provider.Create) (provider.SRQ, error) {
	if attr.CQ != nil {
		return nil, fmt.Errorf("shared receive queue of an XRC domain: %w", errors.ErrUnsupported)
	}
	var resp uapi.SIWCreateSRQResp
	created, err := create(nil, uapi.Bytes(&resp))
	if err != nil {
		return nil, err
	}
	q := &srq{device: p.device}
	q.queue.maxSGE = int(min(max(created.MaxSGE, attr.MaxSGE), uapi.SIWMaxSGE))
	if q.queue.ring, err = mapRing[uapi.SIWRQE](p.device, resp.Key, resp.NumRQE, 0); err != nil {
		return nil, err
	}
	return q, nil
}

// NewAH fails: iWARP has no datagrams.
func (p *siw) NewAH(provider.Path, uint32, provider.Create) (any, error) {
	return nil, fmt.Errorf("create address handle on iWARP: %w", errors.ErrUnsupported)
}
