//go:build inguest

package verbs

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
)

// TestGuestTransitions compares the transition table with the kernel, for all
// states that can be reached on demand.
func TestGuestTransitions(t *testing.T) {
	c := must(Open("rxe0", "/dev/infiniband/uverbs0"))(t)
	defer c.Close()
	pd, cq := must(c.AllocPD())(t), must(c.CreateCQ(CQInit{Entries: 8}))(t)
	var path Path
	for _, e := range must(c.GIDTable())(t) {
		if e.Type == GIDTypeRoCEv2 && e.GID.Is4In6() {
			path = Path{DGID: e.GID, SGIDIndex: uint8(e.Index), HopLimit: 1, Port: 1}
		}
	}
	// All attributes that a change may need.
	all := QPAttr{
		PKeyIndex: new(uint16), Port: new(uint8(1)), Access: new(Access), QKey: new(uint32(1)), Path: &path, PathMTU: new(ib.MTU1024),
		DestQPN: new(uint32(99)), RQPSN: new(uint32), MaxDestRdAtomic: new(uint8(1)), MinRNRTimer: new(uint8(1)),
		Timeout: new(uint8(14)), RetryCount: new(uint8(1)), RNRRetry: new(uint8(1)), SQPSN: new(uint32), MaxRdAtomic: new(uint8(1)),
	}
	core, _ := all.core()
	paths := map[QPState][]QPState{
		QPStateReset: {}, QPStateInit: {QPStateInit}, QPStateRTR: {QPStateInit, QPStateRTR}, QPStateRTS: {QPStateInit, QPStateRTR, QPStateRTS},
		QPStateSQD: {QPStateInit, QPStateRTR, QPStateRTS, QPStateSQD}, QPStateError: {QPStateInit, QPStateError},
	}
	for _, kind := range []QPType{QPTypeRC, QPTypeUC, QPTypeUD} { // all that Soft-RoCE has
		known := transitions[kind]
		change := func(qp *QP, from, to QPState) error {
			request := core
			request.QPHandle, request.State, request.AttrMask = qp.handle, uint8(to), uint32(known[stateChange{from, to}].needs|maskState)
			return qp.invoke(fmt.Sprintf("change QP from %v to %v", from, to), uapi.CmdModifyQP, uapi.Bytes(&request), nil, nil, nil)
		}
		for from, path := range paths {
			for to := QPStateReset; to <= QPStateError; to++ {
				qp := must(pd.CreateQP(QPInit{
					Type: kind, SendCQ: cq, RecvCQ: cq, Cap: QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
				}))(t)
				at := QPStateReset
				for _, next := range path {
					if err := change(qp, at, next); err != nil {
						t.Fatalf("%v: %v", kind, err)
					}
					at = next
				}
				for from == QPStateSQD && must(qp.Query())(t).SQDraining {
					// In this state, Soft-RoCE changes only to ERR.
				}
				ours := checkTransition(kind, false, from, to, known[stateChange{from, to}].needs)
				theirs := change(qp, from, to)
				if (ours == nil) != (theirs == nil) || theirs != nil && !errors.Is(theirs, unix.EINVAL) {
					t.Errorf("%v from %v to %v: got error %v, the kernel returns %v", kind, from, to, ours, theirs)
				}
				if err := qp.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
