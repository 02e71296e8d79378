package verbs

import (
	"fmt"
	"sync"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A QP is a queue pair. Its two queues may be posted to at the same time.
type QP struct {
	object
	init   QPInit
	number uint32

	// Both are held, send first, to change what follows, one is to read it.
	send, recv sync.Mutex

	queue provider.QP // nil after Close
	state QPState     // that Modify brought it to; the kernel may have gone to QPStateError
}

// QPInit is a queue pair to be made.
type QPInit struct {
	Type      QPType // QPTypeRC, QPTypeUC or QPTypeUD
	SendCQ    *CQ
	RecvCQ    *CQ  // may be SendCQ
	SRQ       *SRQ // nil: the queue pair has a receive queue of its own
	Cap       QPCap
	SignalAll bool // each SendWR completes as if SendSignaled

	// Dedicated is for who has a thread and a processor to itself, with as many
	// more for Go to run other goroutines on (runtime.GOMAXPROCS): posting makes no
	// system call of Go's scheduler, however long a message is. Where a driver moves
	// the data within the call nothing else runs on that processor meanwhile.
	Dedicated bool
}

// CreateQP makes a queue pair, in the state RESET.
func (pd *PD) CreateQP(init QPInit) (*QP, error) {
	op := fmt.Sprintf("create %v QP", init.Type)
	c := pd.context
	switch {
	case c.provider == nil:
		return nil, c.noProvider(op)
	case init.Type != QPTypeRC && init.Type != QPTypeUC && init.Type != QPTypeUD:
		return nil, fmt.Errorf("%s of %s: %w", op, c.name, ErrUnsupported)
	case init.SendCQ == nil || init.RecvCQ == nil:
		return nil, fmt.Errorf("%s of %s: it needs a CQ for each queue", op, c.name)
	}
	parents := []*object{&pd.object, &init.SendCQ.object, &init.RecvCQ.object}
	if init.SRQ != nil {
		parents = append(parents, &init.SRQ.object)
		init.Cap.MaxRecvWR, init.Cap.MaxRecvSGE = 0, 0
	}
	if err := c.makeEvents(); err != nil {
		return nil, err
	}
	o, err := c.newObject(op, uapi.ObjectQP, parents...)
	if err != nil {
		return nil, err
	}
	qp := &QP{object: o, init: init}
	attr := provider.QPAttr{
		Transport: provider.Transport(init.Type), Cap: init.Cap, SRQ: init.SRQ != nil, SignalAll: init.SignalAll, Dedicated: init.Dedicated,
	}
	qp.queue, err = c.provider.NewQP(attr, func(in, out []byte) (provider.Created, error) {
		made, err := qp.create(op, pd, in, out)
		qp.handle, qp.number = made.Handle, made.Number
		return made, err
	})
	if err != nil {
		return nil, qp.fail(qp.destroyQP, c.limit("QPs", err, demands(init.Cap)...))
	}
	return register(&qp.object, qp), nil
}

// demands are what is limited of a queue pair. There is no limit of inline data
// to ask for.
func demands(q QPCap) []demand {
	wrs := func(d DeviceAttr) uint64 { return uint64(d.MaxQPWR) }
	sges := func(d DeviceAttr) uint64 { return uint64(d.MaxSGE) }
	return []demand{
		{"send work requests of a QP", uint64(q.MaxSendWR), wrs}, {"receive work requests of a QP", uint64(q.MaxRecvWR), wrs},
		{"SGEs of a send", uint64(q.MaxSendSGE), sges}, {"SGEs of a receive", uint64(q.MaxRecvSGE), sges},
	}
}

// create is the kernel's part.
func (qp *QP) create(op string, pd *PD, in, out []byte) (provider.Created, error) {
	want := capOf(qp.init.Cap)
	var got uapi.QPCap
	var number, flags uint32
	if qp.init.SignalAll {
		flags |= uapi.QPCreateSignalAll
	}
	r := newRequest(op, uapi.ObjectQP, uapi.MethodQPCreate)
	handle := r.handle(uapi.AttrCreateQPHandle, 0)
	r.handle(uapi.AttrCreateQPPDHandle, pd.handle)
	if qp.init.SRQ != nil {
		r.handle(uapi.AttrCreateQPSRQHandle, qp.init.SRQ.handle)
	}
	r.handle(uapi.AttrCreateQPSendCQHandle, qp.init.SendCQ.handle)
	r.handle(uapi.AttrCreateQPRecvCQHandle, qp.init.RecvCQ.handle)
	r.in(uapi.AttrCreateQPUserHandle, bytesOf(&qp.id))
	r.in(uapi.AttrCreateQPCap, bytesOf(&want))
	r.constant(uapi.AttrCreateQPType, uint64(qp.init.Type))
	r.flags32(uapi.AttrCreateQPFlags, flags)
	r.out(uapi.AttrCreateQPRespCap, bytesOf(&got))
	r.out(uapi.AttrCreateQPRespQPNum, bytesOf(&number))
	r.in(uapi.AttrUHWIn, in)
	r.out(uapi.AttrUHWOut, out)
	if err := qp.context.call(r); err != nil {
		return provider.Created{Handle: noHandle}, err
	}
	qp.init.Cap = QPCap{
		MaxSendWR: got.MaxSendWR, MaxRecvWR: got.MaxRecvWR,
		MaxSendSGE: got.MaxSendSGE, MaxRecvSGE: got.MaxRecvSGE, MaxInline: got.MaxInline,
	}
	return provider.Created{Handle: uint32(createdHandle(handle)), Number: number, Cap: qp.init.Cap}, nil
}

func capOf(c QPCap) uapi.QPCap {
	return uapi.QPCap{
		MaxSendWR: c.MaxSendWR, MaxRecvWR: c.MaxRecvWR,
		MaxSendSGE: c.MaxSendSGE, MaxRecvSGE: c.MaxRecvSGE, MaxInline: c.MaxInline,
	}
}

// Number returns the queue pair's number, 24 bits.
func (qp *QP) Number() uint32 { return qp.number }

// Type returns the type of the queue pair.
func (qp *QP) Type() QPType { return qp.init.Type }

// Cap returns what the queue pair holds, at least what was asked for.
func (qp *QP) Cap() QPCap { return qp.init.Cap }

// PostSend posts send work requests in their order, tells the device once, and
// returns how many were posted. It stops at the first that is refused. It neither
// waits nor allocates.
func (qp *QP) PostSend(wrs []SendWR) (int, error) {
	qp.send.Lock()
	if qp.queue == nil || qp.state < QPStateRTS {
		defer qp.send.Unlock()
		return 0, qp.refuse("post send to")
	}
	n, err := qp.queue.PostSend(wrs)
	qp.send.Unlock()
	return n, err
}

// PostRecv posts receive work requests in their order, and returns how many were
// posted. It stops at the first that is refused. A queue pair in the state RESET
// refuses all.
func (qp *QP) PostRecv(wrs []RecvWR) (int, error) {
	qp.recv.Lock()
	if qp.queue == nil || qp.state < QPStateInit || qp.init.SRQ != nil {
		defer qp.recv.Unlock()
		return 0, qp.refuse("post receive to")
	}
	n, err := qp.queue.PostRecv(wrs)
	qp.recv.Unlock()
	return n, err
}

// refuse says why nothing can be posted.
func (qp *QP) refuse(op string) error {
	switch {
	case qp.queue == nil:
		return closedError(op+" QP", qp.context.name)
	case qp.init.SRQ != nil && qp.state >= QPStateInit:
		return fmt.Errorf("%s QP %#x of %s: it receives from a SRQ", op, qp.number, qp.context.name)
	}
	return fmt.Errorf("%s QP %#x of %s: %w %v", op, qp.number, qp.context.name, ErrState, qp.state)
}

// Close destroys the queue pair. What is still posted never completes; for
// completions bring it to QPStateError and poll first. A second Close is an error.
func (qp *QP) Close() error {
	qp.send.Lock()
	defer qp.send.Unlock()
	qp.recv.Lock()
	defer qp.recv.Unlock()
	return qp.close(qp.destroyQP, qp.finish)
}

func (qp *QP) destroyQP() error {
	var resp uapi.DestroyQPResp
	return qp.destroy(uapi.MethodQPDestroy, uapi.AttrDestroyQPHandle, uapi.AttrDestroyQPResp, bytesOf(&resp))
}

// finish frees what is not the kernel's. Both locks are held.
func (qp *QP) finish() error {
	queue := qp.queue
	qp.queue = nil
	return queue.Close()
}
