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

// TestGuestTransitions asks the kernel for each change between states that can be
// reached at will, and wants it to say what this package would.
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
	// All that a change may need.
	all := QPAttr{
		PKeyIndex: new(uint16), Port: new(uint8(1)), Access: new(Access), QKey: new(uint32(1)), Path: &path, PathMTU: new(ib.MTU(3)),
		DestQPN: new(uint32(99)), RQPSN: new(uint32), MaxDestRdAtomic: new(uint8(1)), MinRNRTimer: new(uint8(1)),
		Timeout: new(uint8(14)), RetryCount: new(uint8(1)), RNRRetry: new(uint8(1)), SQPSN: new(uint32), MaxRdAtomic: new(uint8(1)),
	}
	core, _ := all.core()
	ways := map[QPState][]QPState{
		QPStateReset: {}, QPStateInit: {QPStateInit}, QPStateRTR: {QPStateInit, QPStateRTR}, QPStateRTS: {QPStateInit, QPStateRTR, QPStateRTS},
		QPStateSQD: {QPStateInit, QPStateRTR, QPStateRTS, QPStateSQD}, QPStateError: {QPStateInit, QPStateError},
	}
	for kind, known := range transitions {
		change := func(qp *QP, from, to QPState) error {
			ask := core
			ask.QPHandle, ask.State, ask.AttrMask = qp.handle, uint8(to), uint32(known[stateChange{from, to}].needs|maskState)
			return qp.invoke(fmt.Sprintf("bring QP from %v to %v", from, to), uapi.CmdModifyQP, bytesOf(&ask), nil, nil, nil)
		}
		for from, way := range ways {
			for to := QPStateReset; to <= QPStateError; to++ {
				qp := must(pd.CreateQP(QPInit{
					Type: kind, SendCQ: cq, RecvCQ: cq, Cap: QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
				}))(t)
				at := QPStateReset
				for _, next := range way {
					if err := change(qp, at, next); err != nil {
						t.Fatalf("%v: %v", kind, err)
					}
					at = next
				}
				for from == QPStateSQD && must(qp.Query())(t).SQDraining {
					// Soft-RoCE goes nowhere but to ERR from here.
				}
				ours := checkTransition(kind, from, to, known[stateChange{from, to}].needs)
				theirs := change(qp, from, to)
				if (ours == nil) != (theirs == nil) || theirs != nil && !errors.Is(theirs, unix.EINVAL) {
					t.Errorf("%v from %v to %v: here %v, in the kernel %v", kind, from, to, ours, theirs)
				}
				if err := qp.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
