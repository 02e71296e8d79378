package verbs

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// QPAttr are the attributes that Modify changes: all fields that are not nil.
//
//	err := qp.Modify(verbs.QPStateInit, verbs.QPAttr{Port: new(uint8(1)), …})
type QPAttr struct {
	CurState        *QPState // the state that the caller assumes
	EnableSQDNotify *bool    // EventSQDrained
	Access          *Access  // peer rights
	PKeyIndex       *uint16
	Port            *uint8
	QKey            *uint32 // for datagrams
	Path            *Path
	PathMTU         *ib.MTU // at most PortAttr.ActiveMTU, which not every driver checks
	Timeout         *uint8  // time until a packet is sent again: 4.096 µs · 2^n, 5 bits; 0: never
	RetryCount      *uint8  // retries after Timeout, 3 bits; Soft-RoCE retries forever if it is 7 (rxe_comp.c) and does not detect a dead peer
	RNRRetry        *uint8  // retries if the peer has no receive posted, 3 bits; 7: forever
	RQPSN           *uint32
	MaxRdAtomic     *uint8 // this queue pair's outstanding reads and atomics
	AltPath         *AltPath
	MinRNRTimer     *uint8 // the peer's RNR retry delay: specification, Table 45, 5 bits
	SQPSN           *uint32
	MaxDestRdAtomic *uint8 // the peer's outstanding reads and atomics
	PathMigState    *uint8
	DestQPN         *uint32
}

// AltPath is the path that a queue pair migrates to.
type AltPath struct {
	Path      Path
	PKeyIndex uint16
	Timeout   uint8
}

// set copies an attribute to the kernel's structure unless it is nil.
func set[T, F any](mask *qpAttrMask, bit qpAttrMask, v *T, field *F, convert func(T) F) {
	if v != nil {
		*mask |= bit
		*field = convert(*v)
	}
}

func same[T any](v T) T { return v }

func flag(v bool) uint8 {
	if v {
		return 1
	}
	return 0
}

// core returns the kernel's structure and its mask.
func (a QPAttr) core() (uapi.ModifyQP, qpAttrMask) {
	var b uapi.ModifyQP
	var m qpAttrMask
	set(&m, maskCurState, a.CurState, &b.CurState, func(s QPState) uint8 { return uint8(s) })
	set(&m, maskEnableSQDNotify, a.EnableSQDNotify, &b.EnSQDAsyncNotify, flag)
	set(&m, maskAccess, a.Access, &b.AccessFlags, func(f Access) uint32 { return uint32(f) })
	set(&m, maskPKeyIndex, a.PKeyIndex, &b.PKeyIndex, same)
	set(&m, maskPort, a.Port, &b.PortNum, same)
	set(&m, maskQKey, a.QKey, &b.QKey, same)
	set(&m, maskPath, a.Path, &b.Dest, destOf)
	set(&m, maskPathMTU, a.PathMTU, &b.PathMTU, func(v ib.MTU) uint8 { return uint8(v) })
	set(&m, maskTimeout, a.Timeout, &b.Timeout, same)
	set(&m, maskRetryCount, a.RetryCount, &b.RetryCnt, same)
	set(&m, maskRNRRetry, a.RNRRetry, &b.RNRRetry, same)
	set(&m, maskRQPSN, a.RQPSN, &b.RQPSN, same)
	set(&m, maskMaxRdAtomic, a.MaxRdAtomic, &b.MaxRdAtomic, same)
	set(&m, maskMinRNRTimer, a.MinRNRTimer, &b.MinRNRTimer, same)
	set(&m, maskSQPSN, a.SQPSN, &b.SQPSN, same)
	set(&m, maskMaxDestRdAtomic, a.MaxDestRdAtomic, &b.MaxDestRdAtomic, same)
	set(&m, maskPathMigState, a.PathMigState, &b.PathMigState, same)
	set(&m, maskDestQPN, a.DestQPN, &b.DestQPNum, same)
	if p := a.AltPath; p != nil {
		m |= maskAltPath
		b.AltDest, b.AltPortNum = destOf(p.Path), p.Path.Port
		b.AltPKeyIndex, b.AltTimeout = p.PKeyIndex, p.Timeout
	}
	return b, m
}

// Modify changes the queue pair state, or attributes within a state. If the
// specification does not allow the change, it returns a TransitionError without
// calling the kernel. A Path's Port must be the queue pair's port;
// otherwise the kernel returns EINVAL.
func (qp *QP) Modify(to QPState, attr QPAttr) error {
	core, mask := attr.core()
	return qp.modify(to, core, mask)
}

// modify changes the state with the attributes that a mask selects.
func (qp *QP) modify(to QPState, core uapi.ModifyQP, mask qpAttrMask) error {
	qp.send.Lock()
	defer qp.send.Unlock()
	qp.recv.Lock()
	defer qp.recv.Unlock()
	if qp.queue == nil {
		return closedError(qp.change(to), qp.context.name)
	}
	err := checkTransition(qp.init.Type, qp.IWARP(), qp.state, to, mask)
	if err != nil && to == QPStateRTR && qp.IWARP() {
		err = fmt.Errorf("%w: %w", errIWARP, err)
	}
	if err != nil {
		return fmt.Errorf("modify QP %#x of %s: %w", qp.number, qp.context.name, err)
	}
	core.QPHandle, core.State, core.AttrMask = qp.handle, uint8(to), uint32(mask|maskState)
	// On iWARP, the connection has changed the kernel's state to RTS. A call would lock the
	// queue pair, and siw ignores data that arrives meanwhile (siw_qp.c,
	// siw_qp_llp_data_ready).
	if !qp.IWARP() || to != QPStateRTS {
		if err := qp.invoke("change QP", uapi.CmdModifyQP, uapi.Bytes(&core), nil, nil, nil); err != nil {
			if call, ok := errors.AsType[*CallError](err); ok {
				call.Op = qp.change(to)
			}
			if mask&maskPath != 0 {
				err = qp.context.explainPath(pathOf(core.Dest), err)
			}
			return err
		}
	}
	qp.state = to
	if s, ok := qp.queue.(provider.Sequencer); ok {
		s.Sequence(sequence(core, mask))
	}
	f, flushes := qp.queue.(provider.Flusher)
	switch unlock := qp.lockCQs; {
	case to == QPStateReset:
		defer unlock()()
		qp.queue.Reset()
	case to == QPStateError && flushes:
		defer unlock()()
		f.Flush()
	}
	return nil
}

// sequence returns the first packet's number and the packets' largest payload in bytes, or nil.
func sequence(core uapi.ModifyQP, mask qpAttrMask) (first, payload *uint32) {
	if mask&maskSQPSN != 0 {
		first = &core.SQPSN
	}
	if mask&maskPathMTU != 0 {
		payload = new(uint32(ib.MTU(core.PathMTU).Bytes()))
	}
	return first, payload
}

// change returns the operation for Modify errors.
func (qp *QP) change(to QPState) string { return fmt.Sprintf("change QP %#x to %v", qp.number, to) }

// QPStatus is a queue pair's state in the kernel, in QPAttr units.
type QPStatus struct {
	State           QPState
	CurState        QPState
	Cap             QPCap
	Access          Access
	PKeyIndex       uint16
	Port            uint8
	QKey            uint32
	Path            Path
	PathMTU         ib.MTU
	Timeout         uint8
	RetryCount      uint8
	RNRRetry        uint8
	RQPSN           uint32
	SQPSN           uint32
	MaxRdAtomic     uint8
	MaxDestRdAtomic uint8
	MinRNRTimer     uint8
	PathMigState    uint8
	DestQPN         uint32
	AltPath         AltPath
	SQDraining      bool
	SignalAll       bool
}

// State returns the state that Modify has set. The kernel may have changed it to
// QPStateError: see Query.
func (qp *QP) State() QPState {
	qp.send.Lock()
	defer qp.send.Unlock()
	return qp.state
}

// queryAll selects all attributes.
const queryAll = maskDestQPN<<1 - 1

// Query returns the queue pair's state and attributes in the kernel.
func (qp *QP) Query() (QPStatus, error) {
	op := fmt.Sprintf("query QP %#x", qp.number)
	qp.send.Lock()
	defer qp.send.Unlock()
	if qp.queue == nil {
		return QPStatus{}, closedError(op, qp.context.name)
	}
	core := uapi.QueryQP{QPHandle: qp.handle, AttrMask: uint32(queryAll)}
	var r uapi.QueryQPResp
	if err := qp.invoke(op, uapi.CmdQueryQP, uapi.Bytes(&core), uapi.Bytes(&r), nil, nil); err != nil {
		return QPStatus{}, err
	}
	return qpStatus(r), nil
}

func qpStatus(r uapi.QueryQPResp) QPStatus {
	alt := pathOf(r.AltDest)
	alt.Port = r.AltPortNum
	return QPStatus{
		State: QPState(r.State), CurState: QPState(r.CurState),
		Cap: QPCap{
			MaxSendWR: r.MaxSendWR, MaxRecvWR: r.MaxRecvWR, MaxSendSGE: r.MaxSendSGE, MaxRecvSGE: r.MaxRecvSGE,
			MaxInline: r.MaxInline,
		},
		Access: Access(r.AccessFlags), PKeyIndex: r.PKeyIndex, Port: r.PortNum, QKey: r.QKey,
		Path: pathOf(r.Dest), PathMTU: ib.MTU(r.PathMTU), Timeout: r.Timeout, RetryCount: r.RetryCnt, RNRRetry: r.RNRRetry,
		RQPSN: r.RQPSN, SQPSN: r.SQPSN, MaxRdAtomic: r.MaxRdAtomic, MaxDestRdAtomic: r.MaxDestRdAtomic,
		MinRNRTimer: r.MinRNRTimer, PathMigState: r.PathMigState, DestQPN: r.DestQPNum,
		AltPath:    AltPath{Path: alt, PKeyIndex: r.AltPKeyIndex, Timeout: r.AltTimeout},
		SQDraining: r.SQDraining != 0, SignalAll: r.SQSigAll != 0,
	}
}
