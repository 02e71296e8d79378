package verbs

import (
	"fmt"
	"sync"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A QP is a queue pair. Sends and receives may be posted concurrently.
type QP struct {
	object
	init   QPInit
	number uint32

	// The fields below are read with either lock held and changed with both held; send
	// is locked first.
	send, recv sync.Mutex

	queue provider.QP // nil after Close
	state QPState     // set by Modify; the kernel may have changed it to QPStateError
}

// QPInit are the CreateQP parameters.
type QPInit struct {
	Type      QPType // QPTypeRC, QPTypeUC, QPTypeUD, QPTypeSRD or QPTypeXRCInit
	SendCQ    *CQ
	RecvCQ    *CQ  // may be SendCQ; nil for QPTypeXRCInit, which only sends
	SRQ       *SRQ // nil for its own receive queue
	Cap       QPCap
	SignalAll bool // every SendWR completes as with SendSignaled

	// BlockMulticastLoopback drops received multicast datagrams that the queue pair
	// has sent itself. Few drivers support it; Soft-RoCE does not.
	BlockMulticastLoopback bool
}

// CreateQP creates a queue pair in the state RESET. See [XRCD.CreateQP] for
// QPTypeXRCTarget.
func (pd *PD) CreateQP(init QPInit) (*QP, error) {
	op := "create " + init.Type.String() + " QP"
	c := pd.context
	if c.provider == nil {
		return nil, c.noProvider(op)
	}
	switch init.Type {
	case QPTypeRC, QPTypeUC, QPTypeUD, QPTypeSRD:
		if init.SendCQ == nil || init.RecvCQ == nil {
			return nil, fmt.Errorf("%s of %s: SendCQ and RecvCQ are required", op, c.name)
		}
	case QPTypeXRCInit:
		if init.SendCQ == nil || init.RecvCQ != nil || init.SRQ != nil {
			return nil, fmt.Errorf("%s of %s: SendCQ is required, RecvCQ and SRQ are not allowed", op, c.name)
		}
	default:
		return nil, fmt.Errorf("%s of %s: %w", op, c.name, ErrUnsupported)
	}
	return c.createQP(op, init, pd, nil)
}

// createQP creates a queue pair in a protection domain or an XRC domain.
func (c *Context) createQP(op string, init QPInit, pd *PD, xrcd *XRCD) (*QP, error) {
	parents := make([]*object, 0, 4)
	if pd != nil {
		parents = append(parents, &pd.object)
	}
	if xrcd != nil {
		parents = append(parents, &xrcd.object)
	}
	if init.SendCQ != nil {
		parents = append(parents, &init.SendCQ.object)
	}
	if init.RecvCQ != nil {
		parents = append(parents, &init.RecvCQ.object)
	}
	if init.SRQ != nil {
		parents = append(parents, &init.SRQ.object)
	}
	if init.SRQ != nil || init.RecvCQ == nil {
		init.Cap.MaxRecvWR, init.Cap.MaxRecvSGE = 0, 0
	}
	if r, ok := c.provider.(provider.Rounder); ok {
		init.Cap = r.RoundQP(init.Cap)
	}
	if err := c.ensureEvents(); err != nil {
		return nil, err
	}
	o, err := c.newObject(op, uapi.ObjectQP, parents...)
	if err != nil {
		return nil, err
	}
	qp := &QP{object: o, init: init}
	attr := provider.QPAttr{
		Transport: provider.Transport(init.Type), Cap: init.Cap, SignalAll: init.SignalAll,
	}
	if init.SendCQ != nil {
		attr.SendCQ = init.SendCQ.queue
	}
	if init.RecvCQ != nil {
		attr.RecvCQ = init.RecvCQ.queue
	}
	if init.SRQ != nil {
		attr.SRQ = init.SRQ.queue
	}
	qp.queue, err = c.provider.NewQP(attr, func(in, out []byte) (provider.Created, error) {
		created, err := qp.create(op, pd, xrcd, in, out)
		qp.handle, qp.number = created.Handle, created.Number
		return created, err
	})
	if err != nil {
		return nil, qp.fail(undo(qp.destroyQP, qp.queue != nil, qp.finish), c.limit("QPs", err, demands(init.Cap)...))
	}
	qp.init.Cap = qp.queue.Cap()
	return register(&qp.object, qp), nil
}

// demands are a queue pair's limited resources. Devices report no limit of
// inline data.
func demands(q QPCap) []demand {
	wrs := func(d DeviceAttr) uint64 { return uint64(d.MaxQPWR) }
	sges := func(d DeviceAttr) uint64 { return uint64(d.MaxSGE) }
	return []demand{
		{"send work requests of a QP", uint64(q.MaxSendWR), wrs}, {"receive work requests of a QP", uint64(q.MaxRecvWR), wrs},
		{"SGEs of a send", uint64(q.MaxSendSGE), sges}, {"SGEs of a receive", uint64(q.MaxRecvSGE), sges},
	}
}

// create creates the kernel's object.
func (qp *QP) create(op string, pd *PD, xrcd *XRCD, in, out []byte) (provider.Created, error) {
	want := capOf(qp.init.Cap)
	var got uapi.QPCap
	var number, flags uint32
	if qp.init.SignalAll {
		flags |= uapi.QPCreateSignalAll
	}
	if qp.init.BlockMulticastLoopback {
		flags |= uapi.QPCreateBlockMulticastLoopback
	}
	r := newRequest(op, uapi.ObjectQP, uapi.MethodQPCreate)
	handle := r.handle(uapi.AttrCreateQPHandle, 0)
	if pd != nil {
		r.handle(uapi.AttrCreateQPPDHandle, pd.handle)
	}
	if xrcd != nil {
		r.handle(uapi.AttrCreateQPXRCDHandle, xrcd.handle)
	}
	if qp.init.SRQ != nil {
		r.handle(uapi.AttrCreateQPSRQHandle, qp.init.SRQ.handle)
	}
	if qp.init.SendCQ != nil {
		r.handle(uapi.AttrCreateQPSendCQHandle, qp.init.SendCQ.handle)
	}
	if qp.init.RecvCQ != nil {
		r.handle(uapi.AttrCreateQPRecvCQHandle, qp.init.RecvCQ.handle)
	}
	r.in(uapi.AttrCreateQPUserHandle, uapi.Bytes(&qp.id))
	r.in(uapi.AttrCreateQPCap, uapi.Bytes(&want))
	r.constant(uapi.AttrCreateQPType, uint64(qp.init.Type))
	r.flags32(uapi.AttrCreateQPFlags, flags)
	r.out(uapi.AttrCreateQPRespCap, uapi.Bytes(&got))
	r.out(uapi.AttrCreateQPRespQPNum, uapi.Bytes(&number))
	r.in(uapi.AttrUHWIn, in)
	r.out(uapi.AttrUHWOut, out)
	if err := qp.context.call(r); err != nil {
		return provider.Created{Handle: noHandle}, err
	}
	return provider.Created{Handle: uint32(createdHandle(handle)), Number: number, Cap: QPCap{
		MaxSendWR: got.MaxSendWR, MaxRecvWR: got.MaxRecvWR,
		MaxSendSGE: got.MaxSendSGE, MaxRecvSGE: got.MaxRecvSGE, MaxInline: got.MaxInline,
	}}, nil
}

func capOf(c QPCap) uapi.QPCap {
	return uapi.QPCap{
		MaxSendWR: c.MaxSendWR, MaxRecvWR: c.MaxRecvWR,
		MaxSendSGE: c.MaxSendSGE, MaxRecvSGE: c.MaxRecvSGE, MaxInline: c.MaxInline,
	}
}

// Number returns the queue pair's number, 24 bits.
func (qp *QP) Number() uint32 { return qp.number }

// IWARP reports whether the queue pair belongs to an iWARP device. Its connection is a
// TCP connection, which only the connection manager makes: see package rdmacm.
func (qp *QP) IWARP() bool { return qp.context.IWARP() }

// Type returns the queue pair type.
func (qp *QP) Type() QPType { return qp.init.Type }

// Cap returns the queue pair capacity, which is at least the requested capacity.
func (qp *QP) Cap() QPCap { return qp.init.Cap }

// PostSend posts send work requests in order and rings the doorbell once. It stops
// at the first request that it rejects, and returns the posted request count.
// It does not block or allocate.
func (qp *QP) PostSend(wrs []SendWR) (int, error) {
	qp.send.Lock()
	if qp.queue == nil || qp.state < QPStateRTS || qp.init.SendCQ == nil {
		err := qp.postError("post send to")
		qp.send.Unlock()
		return 0, err
	}
	n, err := qp.queue.PostSend(wrs)
	qp.send.Unlock()
	return n, err
}

// PostRecv posts receive work requests in order. It stops at the first request that
// it rejects, and returns the posted request count. In the state RESET it
// returns ErrState.
func (qp *QP) PostRecv(wrs []RecvWR) (int, error) {
	qp.recv.Lock()
	if qp.queue == nil || qp.state < QPStateInit || qp.init.RecvCQ == nil || qp.init.SRQ != nil {
		err := qp.postError("post receive to")
		qp.recv.Unlock()
		return 0, err
	}
	n, err := qp.queue.PostRecv(wrs)
	qp.recv.Unlock()
	return n, err
}

// postError returns the reason why work requests cannot be posted.
func (qp *QP) postError(op string) error {
	switch {
	case qp.queue == nil:
		return closedError(op+" QP", qp.context.name)
	case qp.init.SendCQ == nil, qp.init.RecvCQ == nil && qp.state >= QPStateRTS:
		return fmt.Errorf("%s QP %#x of %s: a QP of type %v has no such queue", op, qp.number, qp.context.name, qp.init.Type)
	case qp.init.SRQ != nil && qp.state >= QPStateInit:
		return fmt.Errorf("%s QP %#x of %s: the QP receives from an SRQ", op, qp.number, qp.context.name)
	}
	return fmt.Errorf("%s QP %#x of %s: %w %v", op, qp.number, qp.context.name, ErrState, qp.state)
}

// Close destroys the queue pair. Posted work requests do not complete: to receive
// their completions, change to QPStateError and poll before Close. A second Close
// returns fs.ErrClosed.
func (qp *QP) Close() error {
	qp.send.Lock()
	defer qp.send.Unlock()
	qp.recv.Lock()
	defer qp.recv.Unlock()
	return qp.close(qp.destroyQP, qp.finish)
}

// destroyQP destroys the kernel's object.
func (qp *QP) destroyQP() error {
	var resp uapi.DestroyQPResp
	return qp.destroy(uapi.MethodQPDestroy, uapi.AttrDestroyQPHandle, uapi.AttrDestroyQPResp, uapi.Bytes(&resp))
}

// finish releases the provider's queues. The caller holds both locks.
func (qp *QP) finish() error {
	queue := qp.queue
	qp.queue = nil
	defer qp.lockCQs()()
	return queue.Close()
}

// lockCQs locks the completion queues, so that the provider can remove completions of the
// queue pair, and returns a function that unlocks them.
func (qp *QP) lockCQs() (unlock func()) {
	a, b := qp.init.SendCQ, qp.init.RecvCQ
	switch {
	case a == nil:
		return func() {}
	case b == nil:
		b = a
	}
	if a == b {
		a.lock.Lock()
		return a.lock.Unlock
	}
	if a.id > b.id { // the same order for all queue pairs
		a, b = b, a
	}
	a.lock.Lock()
	b.lock.Lock()
	return func() {
		b.lock.Unlock()
		a.lock.Unlock()
	}
}
