package rxe

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// New returns an open device's provider.
func New(d provider.Device) provider.Provider { return rxe{d} }

type rxe struct{ device provider.Device }

// Close does nothing: a device has no memory besides its queues.
func (p rxe) Close() error { return nil }

// mapRing maps a ring with slots that have at least element bytes.
func (p rxe) mapRing(mi uapi.RXEMMInfo, element int) (ring, error) {
	memory, err := p.device.Map(mi.Offset, int(mi.Size))
	if err != nil {
		return ring{}, err
	}
	r, err := newRing(memory, element)
	if err != nil {
		return ring{}, errors.Join(err, p.device.Unmap(memory))
	}
	return r, nil
}

// NewCQ creates a completion queue.
func (p rxe) NewCQ(_ provider.CQAttr, create provider.Create) (provider.CQ, error) {
	var resp uapi.RXECreateCQResp
	created, err := create(nil, uapi.Bytes(&resp))
	if err != nil {
		return nil, err
	}
	r, err := p.mapRing(resp.MI, wcSize)
	if err != nil {
		return nil, err
	}
	return &cq{device: p.device, notify: p.device.Notifier(created.Handle), ring: r}, nil
}

// NewQP creates a queue pair.
func (p rxe) NewQP(attr provider.QPAttr, create provider.Create) (provider.QP, error) {
	if int(attr.Transport) >= len(allowed) || allowed[attr.Transport] == 0 {
		return nil, fmt.Errorf("queue pair of transport %d: %w", attr.Transport, provider.ErrOpcode)
	}
	var resp uapi.RXECreateQPResp
	created, err := create(nil, uapi.Bytes(&resp))
	if err != nil {
		return nil, err
	}
	sends, err := p.mapRing(resp.SQMI, sendElement(created.Cap))
	if err != nil {
		return nil, err
	}
	q := &qp{device: p.device, bell: p.device.Doorbell(created.Handle), capacity: created.Cap, sq: newSendQueue(attr.Transport, created.Cap, sends)}
	if attr.SRQ == nil {
		q.rq.maxSGE = int(created.Cap.MaxRecvSGE)
		if q.rq.ring, err = p.mapRing(resp.RQMI, recvElement(created.Cap.MaxRecvSGE)); err != nil {
			return nil, errors.Join(err, unmap(p.device, sends))
		}
	}
	return q, nil
}

// NewSRQ creates a shared receive queue.
func (p rxe) NewSRQ(attr provider.SRQAttr, create provider.Create) (provider.SRQ, error) {
	if attr.CQ != nil {
		return nil, fmt.Errorf("shared receive queue of an XRC domain: %w", errors.ErrUnsupported)
	}
	var resp uapi.RXECreateSRQResp
	created, err := create(nil, uapi.Bytes(&resp))
	if err != nil {
		return nil, err
	}
	q := &srq{device: p.device}
	q.queue.maxSGE = int(created.MaxSGE)
	if q.queue.ring, err = p.mapRing(resp.MI, recvElement(created.MaxSGE)); err != nil {
		return nil, err
	}
	return q, nil
}
