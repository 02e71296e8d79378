package rdmacm

import (
	"github.com/ibkit/ibkit/verbs"
)

// InitQP changes a queue pair to the state INIT, for the ID's port. Receives can
// be posted from then on. The ID needs a device: its address must be resolved, or it
// is a connection request's ID. A queue pair for datagrams changes to RTS, and
// stays there: it may serve several IDs.
func (id *ID) InitQP(qp *verbs.QP) error {
	if id.qpType == verbs.QPTypeUD && qp.State() == verbs.QPStateRTS {
		return nil
	}
	attr, err := id.InitQPAttr(verbs.QPStateInit)
	if err != nil {
		return err
	}
	if err := qp.Modify(verbs.QPStateInit, attr); err != nil {
		return err
	}
	if id.qpType != verbs.QPTypeUD {
		id.prepared.Store(qp)
		return nil
	}
	if err := qp.Modify(verbs.QPStateRTR, verbs.QPAttr{}); err != nil {
		return err
	}
	return qp.Modify(verbs.QPStateRTS, verbs.QPAttr{SQPSN: new(uint32(0))})
}

// ReadyQP changes a queue pair to the state RTS with the connection's
// parameters, before Accept or after EventConnectResponse. The state may be RESET or INIT
// before. reads overrides the count for outstanding reads and atomics that the connection
// manager has negotiated; nil accepts them.
//
// On iWARP the kernel changes the queue pair with the connection. There, ReadyQP before
// Accept changes to INIT as InitQP does, and ReadyQP after EventEstablished, which both
// sides must call, records that the state is RTS.
func (id *ID) ReadyQP(qp *verbs.QP, reads *ConnParam) error {
	switch {
	case !qp.IWARP():
	case id.established.Load():
		return qp.Modify(verbs.QPStateRTS, verbs.QPAttr{})
	default:
		return id.InitQP(qp)
	}
	// The peer's rights are known only with the request, so that a client sets the
	// INIT attributes again (the kernel's ib_cm_init_qp_attr and cma_ib_init_qp_attr).
	if !id.passive || id.prepared.Load() != qp || qp.State() != verbs.QPStateInit {
		if err := id.InitQP(qp); err != nil {
			return err
		}
	}
	for _, state := range []verbs.QPState{verbs.QPStateRTR, verbs.QPStateRTS} {
		attr, err := id.InitQPAttr(state)
		if err != nil {
			return err
		}
		if reads != nil && attr.MaxDestRdAtomic != nil {
			attr.MaxDestRdAtomic = &reads.ResponderResources
		}
		if reads != nil && attr.MaxRdAtomic != nil {
			attr.MaxRdAtomic = &reads.InitiatorDepth
		}
		if err := qp.Modify(state, attr); err != nil {
			return err
		}
	}
	return nil
}
