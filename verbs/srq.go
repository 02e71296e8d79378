package verbs

import (
	"fmt"
	"sync"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// An SRQ is a receive queue that several queue pairs share.
type SRQ struct {
	object
	init   SRQInit
	number uint32

	lock  sync.Mutex
	queue provider.SRQ // nil after Close
}

// SRQInit are the CreateSRQ parameters, or an SRQ's actual values.
type SRQInit struct {
	MaxWR  uint32 // work requests
	MaxSGE uint32 // SGEs per work request
	Limit  uint32 // EventSRQLimitReached is sent once if fewer work requests are left; 0: never

	// For a queue in an XRC domain, both or neither. CQ gets its completions, and their
	// Completion.QPN is from the domain's queue pair.
	XRCD *XRCD
	CQ   *CQ
}

// CreateSRQ creates a shared receive queue.
func (pd *PD) CreateSRQ(init SRQInit) (*SRQ, error) {
	op := fmt.Sprintf("create SRQ of %d work requests", init.MaxWR)
	c := pd.context
	if c.provider == nil {
		return nil, c.noProvider(op)
	}
	parents := []*object{&pd.object}
	switch {
	case init.XRCD != nil && init.CQ != nil:
		parents = append(parents, &init.XRCD.object, &init.CQ.object)
	case init.XRCD != nil || init.CQ != nil:
		return nil, fmt.Errorf("%s of %s: an XRC domain requires a CQ, and a CQ an XRC domain", op, c.name)
	}
	if err := c.ensureEvents(); err != nil {
		return nil, err
	}
	o, err := c.newObject(op, uapi.ObjectSRQ, parents...)
	if err != nil {
		return nil, err
	}
	attr := provider.SRQAttr{MaxWR: init.MaxWR, MaxSGE: init.MaxSGE}
	if r, ok := c.provider.(provider.Rounder); ok {
		attr = r.RoundSRQ(attr)
		init.MaxWR, init.MaxSGE = attr.MaxWR, attr.MaxSGE
	}
	if init.CQ != nil {
		attr.CQ = init.CQ.queue
	}
	s := &SRQ{object: o, init: init}
	s.queue, err = c.provider.NewSRQ(attr, func(in, out []byte) (provider.Created, error) {
		created, err := s.create(op, pd, in, out)
		s.handle, s.number = created.Handle, created.Number
		return created, err
	})
	if err != nil {
		return nil, s.fail(undo(s.destroySRQ, s.queue != nil, s.finish), c.limit("SRQs", err,
			demand{"work requests of an SRQ", uint64(init.MaxWR), func(d DeviceAttr) uint64 { return uint64(d.MaxSRQWR) }},
			demand{"SGEs of an SRQ", uint64(init.MaxSGE), func(d DeviceAttr) uint64 { return uint64(d.MaxSRQSGE) }}))
	}
	return register(&s.object, s), nil
}

// create creates the kernel's object.
func (s *SRQ) create(op string, pd *PD, in, out []byte) (provider.Created, error) {
	var number uint32
	got := s.init
	r := newRequest(op, uapi.ObjectSRQ, uapi.MethodSRQCreate)
	handle := r.handle(uapi.AttrCreateSRQHandle, 0)
	r.handle(uapi.AttrCreateSRQPDHandle, pd.handle)
	r.in(uapi.AttrCreateSRQUserHandle, uapi.Bytes(&s.id))
	r.in(uapi.AttrCreateSRQMaxWR, uapi.Bytes(&s.init.MaxWR))
	r.in(uapi.AttrCreateSRQMaxSGE, uapi.Bytes(&s.init.MaxSGE))
	r.in(uapi.AttrCreateSRQLimit, uapi.Bytes(&s.init.Limit))
	kind := uint64(srqBasic)
	if s.init.XRCD != nil {
		kind = srqXRC
		r.handle(uapi.AttrCreateSRQXRCDHandle, s.init.XRCD.handle)
		r.handle(uapi.AttrCreateSRQCQHandle, s.init.CQ.handle)
		r.out(uapi.AttrCreateSRQRespSRQNum, uapi.Bytes(&number))
	}
	r.constant(uapi.AttrCreateSRQType, kind)
	r.out(uapi.AttrCreateSRQRespMaxWR, uapi.Bytes(&got.MaxWR))
	r.out(uapi.AttrCreateSRQRespMaxSGE, uapi.Bytes(&got.MaxSGE))
	r.in(uapi.AttrUHWIn, in)
	r.out(uapi.AttrUHWOut, out)
	if err := s.context.call(r); err != nil {
		return provider.Created{Handle: noHandle}, err
	}
	s.init = got
	return provider.Created{Handle: uint32(createdHandle(handle)), Number: number, MaxWR: got.MaxWR, MaxSGE: got.MaxSGE}, nil
}

// The types in enum ib_uverbs_srq_type: IB_UVERBS_SRQT_BASIC and IB_UVERBS_SRQT_XRC.
const (
	srqBasic = 0
	srqXRC   = 1
)

// Number returns the number for a queue in an XRC domain, which senders need, 24 bits. It
// is 0 for other queues.
func (s *SRQ) Number() uint32 { return s.number }

// Cap returns the queue capacity.
func (s *SRQ) Cap() SRQInit { return s.init }

// PostRecv posts receive work requests in order. It stops at the first request that
// it rejects, and returns the posted request count.
func (s *SRQ) PostRecv(wrs []RecvWR) (int, error) {
	s.lock.Lock()
	if s.queue == nil {
		s.lock.Unlock()
		return 0, closedError("post to SRQ", s.context.name)
	}
	n, err := s.queue.PostRecv(wrs)
	s.lock.Unlock()
	return n, err
}

// srqLimit is IB_SRQ_LIMIT in enum ib_srq_attr_mask.
const srqLimit = 1 << 1

// SetLimit arms EventSRQLimitReached, which is sent once when fewer than n work
// requests are left.
func (s *SRQ) SetLimit(n uint32) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.queue == nil {
		return closedError("set limit of SRQ", s.context.name)
	}
	core := uapi.ModifySRQ{SRQHandle: s.handle, AttrMask: srqLimit, SRQLimit: n}
	err := s.invoke(fmt.Sprintf("set limit %d of SRQ", n), uapi.CmdModifySRQ, uapi.Bytes(&core), nil, s.queue.ModifyIn(), nil)
	if l, ok := s.queue.(provider.Limiter); ok && err == nil {
		l.SetLimit(n)
	}
	return err
}

// Query returns the queue's capacity and limit in the kernel.
func (s *SRQ) Query() (SRQInit, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.queue == nil {
		return SRQInit{}, closedError("query SRQ", s.context.name)
	}
	core := uapi.QuerySRQ{SRQHandle: s.handle}
	var resp uapi.QuerySRQResp
	if err := s.invoke("query SRQ", uapi.CmdQuerySRQ, uapi.Bytes(&core), uapi.Bytes(&resp), nil, nil); err != nil {
		return SRQInit{}, err
	}
	return SRQInit{MaxWR: resp.MaxWR, MaxSGE: resp.MaxSGE, Limit: resp.SRQLimit}, nil
}

// Close destroys the queue. It returns ErrBusy while queue pairs use the queue, and
// fs.ErrClosed if it is closed already.
func (s *SRQ) Close() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.close(s.destroySRQ, s.finish)
}

func (s *SRQ) destroySRQ() error {
	var resp uapi.DestroyQPResp
	return s.destroy(uapi.MethodSRQDestroy, uapi.AttrDestroySRQHandle, uapi.AttrDestroySRQResp, uapi.Bytes(&resp))
}

// finish releases the provider's queue. The caller holds s.lock.
func (s *SRQ) finish() error {
	queue := s.queue
	s.queue = nil
	if cq := s.init.CQ; cq != nil { // the provider removes completions from it
		cq.lock.Lock()
		defer cq.lock.Unlock()
	}
	return queue.Close()
}
