package verbs

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// openSIW opens a software iWARP device.
func openSIW(t *testing.T) (*Context, *maker) {
	t.Helper()
	m := &maker{t: t, handle: 100, refuse: map[uint16]unix.Errno{}}
	f := &fake{t: t, driver: DriverSIW, answer: contexts(func(c call) error {
		err := m.answer(c)
		switch {
		case c.Is(uapi.ObjectCQ, uapi.MethodCQCreate):
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.SIWCreateCQResp{NumCQE: 16, Key: 1 << 12}))
		case c.Is(uapi.ObjectQP, uapi.MethodQPCreate):
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.SIWCreateQPResp{NumSQE: 16, NumRQE: 16, SQKey: 2 << 12, RQKey: 3 << 12}))
		}
		return err
	})}
	f.maps = func(_ int64, length int) ([]byte, error) {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]uint64, length/8)))), length), nil
	}
	return openKernel(t, f), m
}

// On iWARP, the kernel's connection manager connects a queue pair, and the registration of
// memory carries a key.
func TestIWARP(t *testing.T) {
	c, m := openSIW(t)
	pd := must(c.AllocPD())(t)
	must(pd.RegisterMR(must(c.NewMemory(100, MemoryOptions{}))(t), AccessLocalWrite))(t)
	if in := m.last(uapi.ObjectDevice, uapi.MethodInvokeWrite).Attr(uapi.AttrUHWIn); in == nil || in.Len != 8 {
		t.Errorf("got driver's data %+v, want 8 bytes", in)
	}
	cq := must(c.CreateCQ(CQInit{Entries: 8}))(t)
	qp := must(pd.CreateQP(QPInit{Type: QPTypeRC, SendCQ: cq, RecvCQ: cq, Cap: QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 1}}))(t)
	if !qp.IWARP() {
		t.Error("got a queue pair of another transport, want iWARP")
	}
	if err := qp.Connect(RemoteQP{QPN: 1}, DefaultParam); !errors.Is(err, errIWARP) {
		t.Errorf("Connect: got %v, want %v", err, errIWARP)
	}
	err := qp.Modify(QPStateInit, QPAttr{Port: new(uint8(1)), Access: new(AccessRemoteWrite)})
	if _, postErr := qp.PostSend(make([]SendWR, 1)); err != nil || !errors.Is(postErr, ErrState) {
		t.Errorf("INIT: got %v, post: got %v, want %v", err, postErr, ErrState)
	}
	var transition *TransitionError
	if err := qp.Modify(QPStateRTR, QPAttr{}); !errors.As(err, &transition) || !strings.Contains(err.Error(), "through the connection manager only") {
		t.Errorf("RTR: got %v, want a transition error that names the connection manager", err)
	}
	if err := qp.Modify(QPStateRTS, QPAttr{SQPSN: new(uint32)}); !errors.As(err, &transition) {
		t.Errorf("RTS with a packet sequence number: got %v, want a transition error", err)
	}
	err = qp.Modify(QPStateRTS, QPAttr{})
	if n, postErr := qp.PostSend([]SendWR{{Opcode: OpSend}}); err != nil || n != 1 || postErr != nil {
		t.Errorf("RTS: got %v, post: got %d, %v, want 1", err, n, postErr)
	}
	if err := errors.Join(qp.Modify(QPStateSQD, QPAttr{}), qp.Modify(QPStateError, QPAttr{})); err != nil {
		t.Errorf("end of the connection: got %v", err)
	}
}
