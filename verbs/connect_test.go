package verbs

import (
	"slices"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
)

// Connect sends the attributes that each state change needs, by type, in the masks of
// libibverbs.
func TestQP_Connect(t *testing.T) {
	peer := RemoteQP{QPN: 0x22, PSN: 5, Path: Path{Port: 1, DLID: 7}, MTU: ib.MTU1024}
	param := ConnParam{PSN: 6, Access: AccessRemoteRead, QKey: 9, Timeout: 14, RetryCount: 6, RNRRetry: 7, MinRNRTimer: 12, MaxRdAtomic: 2, MaxDestRdAtomic: 3}
	for _, test := range []struct {
		kind  QPType
		begun bool // the queue pair is in INIT
		masks []uint32
	}{
		{QPTypeRC, false, []uint32{0x39, 0x129181 | 0x8000, 0x12e01}},
		{QPTypeRC, true, []uint32{0x129181 | 0x8000, 0x12e01}},
		{QPTypeUC, false, []uint32{0x39, 0x101181, 0x10001}},
		{QPTypeUD, false, []uint32{0x71, 0x1, 0x10001}},
	} {
		t.Run(test.kind.String(), func(t *testing.T) {
			c, _, m := openMaker(t)
			pd := must(c.AllocPD())(t)
			cq := must(c.CreateCQ(CQInit{Entries: 8}))(t)
			qp := must(pd.CreateQP(QPInit{Type: test.kind, SendCQ: cq, RecvCQ: cq, Cap: QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 1, MaxRecvSGE: 1}}))(t)
			if test.begun {
				if err := qp.Init(1, param); err != nil {
					t.Fatal(err)
				}
			}
			m.cores = nil
			if err := qp.Connect(peer, param); err != nil || qp.State() != QPStateRTS {
				t.Fatalf("got state %v, %v, want RTS", qp.State(), err)
			}
			var masks []uint32
			var last uapi.ModifyQP
			for _, core := range m.cores {
				last = uapi.Decode[uapi.ModifyQP](core)
				masks = append(masks, last.AttrMask)
			}
			if !slices.Equal(masks, test.masks) {
				t.Errorf("got masks %#x, want %#x", masks, test.masks)
			}
			if last.SQPSN != 6 || last.RQPSN != 5 || last.DestQPNum != 0x22 || last.Dest.DLID != 7 || last.PathMTU != uint8(ib.MTU1024) ||
				last.Timeout != 14 || last.MaxRdAtomic != 2 || last.MaxDestRdAtomic != 3 || last.QKey != 9 {
				t.Errorf("got %+v, want the values of %+v and %+v", last, peer, param)
			}
		})
	}
}
