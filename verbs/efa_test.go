package verbs

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
)

// efaQueryDevice is the driver's part of QUERY_DEVICE: limits, reads, events and writes.
var efaQueryDevice = uapi.EFAQueryDeviceResp{
	MaxSQWR: 4096, MaxRQWR: 4096, MaxSQSGE: 2, MaxRQSGE: 3, DeviceCaps: uapi.EFADeviceRead | uapi.EFADeviceNotifications | uapi.EFADeviceWrite,
}

// openEFA opens a device with a kernel that creates objects.
func openEFA(t *testing.T) (*Context, *fake, *maker) {
	t.Helper()
	f, m := newMaker(t)
	f.driver = DriverEFA
	f.answer = func(c call) error {
		if c.Is(uapi.ObjectDevice, uapi.MethodGetContext) && !c.Probe {
			if in := uapi.Decode[uapi.EFAAllocUcontextCmd](c.Input(uapi.AttrUHWIn)); in.SupportedCaps != uapi.EFACapTxBatch|uapi.EFACapMinSQWR {
				t.Errorf("got request %+v", in)
			}
			err := contexts(m.answer)(c)
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.EFAAllocUcontextResp{CmdsSuppUdataMask: 3, SubCQsPerCQ: 2, InlineBufSize: 32, MaxLLQSize: 1 << 12}))
			return err
		}
		if cmd, _ := c.Command(); cmd == uapi.CmdExQueryDevice {
			c.Set(uapi.AttrCoreOut, uapi.Bytes(&uapi.ExQueryDeviceResp{Base: uapi.QueryDeviceResp{MaxQPWR: 4096}}))
			if c.Attr(uapi.AttrUHWOut) != nil {
				c.Set(uapi.AttrUHWOut, uapi.Bytes(&efaQueryDevice))
			}
			return nil
		}
		err := m.answer(c)
		switch {
		case c.Is(uapi.ObjectCQ, uapi.MethodCQCreate):
			in := uapi.Decode[uapi.EFACreateCQ](c.Input(uapi.AttrUHWIn))
			entries := binary.NativeEndian.Uint32(c.Attr(uapi.AttrCreateCQCQE).Data[:])
			c.Set(uapi.AttrCreateCQRespCQE, uapi.Bytes(&entries))
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.EFACreateCQResp{
				CompMask: uint32(in.Flags & uapi.EFACQWithChannel), QMmapKey: 1 << 12, QMmapSize: uint64(os.Getpagesize()), DBMmapKey: 2 << 12,
			}))
		case c.Is(uapi.ObjectQP, uapi.MethodQPCreate):
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.EFACreateQPResp{RQMmapSize: uint64(os.Getpagesize())}))
		}
		return err
	}
	f.maps = func(_ int64, length int) ([]byte, error) {
		words := make([]uint64, length/8)
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), length), nil
	}
	return openKernel(t, f), f, m
}

// A queue pair of type SRD goes through its states and sends with an address handle. Its
// queues have power-of-two sizes in the command, and their mappings end with them.
func TestEFA(t *testing.T) {
	c, f, m := openEFA(t)
	pd, channel := must(c.AllocPD())(t), must(c.NewCompChannel())(t)
	cq := must(c.CreateCQ(CQInit{Entries: 9, Channel: channel}))(t)
	last := m.last(uapi.ObjectCQ, uapi.MethodCQCreate)
	if got := binary.NativeEndian.Uint32(last.Attr(uapi.AttrCreateCQCQE).Data[:]); got != 16 {
		t.Errorf("got %d entries in the command, want 16", got)
	}
	if in := uapi.Decode[uapi.EFACreateCQ](last.Input(uapi.AttrUHWIn)); in.Flags != uapi.EFACQWithChannel || in.NumSubCQs != 2 {
		t.Errorf("got request %+v, want events and 2 rings", in)
	}
	qp := must(pd.CreateQP(QPInit{Type: QPTypeSRD, SendCQ: cq, RecvCQ: cq, Cap: QPCap{MaxSendWR: 3, MaxRecvWR: 3, MaxSendSGE: 1, MaxRecvSGE: 1}}))(t)
	if kind := m.last(uapi.ObjectQP, uapi.MethodQPCreate).Number(uapi.AttrCreateQPType); kind != 255 || qp.Cap().MaxSendWR != 4 {
		t.Errorf("got type %d and capacity %+v, want 255 and 4 sends", kind, qp.Cap())
	}
	if err := qp.Connect(RemoteQP{Path: Path{Port: 1}}, ConnParam{QKey: 1}); err != nil {
		t.Fatal(err)
	}
	if n, err := qp.PostSend(make([]SendWR, 1)); n != 0 || !errors.Is(err, ErrAH) && !errors.Is(err, ErrOpcode) {
		t.Errorf("without an address handle: got %d posted and error %v", n, err)
	}
	for _, o := range []closer{qp, cq} {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
	if f.unmapped != 6 {
		t.Errorf("got %d mappings unmapped, want 6", f.unmapped)
	}
	if _, err := pd.CreateQP(QPInit{Type: QPTypeRC, SendCQ: cq, RecvCQ: cq}); err == nil {
		t.Error("RC: got no error")
	}
}

// Send queues are in the adapter's memory, which limits their work requests.
func TestEFA_QueryDevice(t *testing.T) {
	c, _, _ := openEFA(t)
	if got := must(c.QueryDevice())(t); got.MaxQPWR != 64 {
		t.Errorf("got %d work requests of a queue pair, want 64", got.MaxQPWR)
	}
}
