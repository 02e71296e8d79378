package verbs

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// A maker is the kernel part that creates Soft-RoCE objects, on plain
// memory.
type maker struct {
	t      *testing.T
	handle uint32
	made   []uint16 // created object kinds
	closed []uint16
	refuse map[uint16]unix.Errno // error for creating or destroying an object kind
	calls  []call

	refuseClose unix.Errno // error for destroying an object

	limits uapi.QPCap // capacity that a queue pair requested
	cores  [][]byte   // other commands' structures
}

// openMaker opens a device with a kernel that creates objects.
func openMaker(t *testing.T) (*Context, *fake, *maker) {
	t.Helper()
	f, m := newMaker(t)
	return openKernel(t, f), f, m
}

func newMaker(t *testing.T) (*fake, *maker) {
	m := &maker{t: t, handle: 100, refuse: map[uint16]unix.Errno{}}
	f := &fake{t: t, driver: DriverRXE, answer: contexts(m.answer)}
	f.maps = func(offset int64, length int) ([]byte, error) {
		words := make([]uint64, length/8)
		b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), length)
		head := (*uapi.RXEQueueBuf)(unsafe.Pointer(unsafe.SliceData(b)))
		head.Log2ElemSize, head.IndexMask = 9, 15
		return b, nil
	}
	return f, m
}

// commands are the commands that create objects.
var commands = map[uint64]uint16{
	uapi.CmdAllocPD: uapi.ObjectPD, uapi.CmdRegMR: uapi.ObjectMR, uapi.CmdAllocMW: uapi.ObjectMW,
	uapi.CmdCreateAH: uapi.ObjectAH, uapi.CmdCreateCompChannel: uapi.ObjectCompChannel,
}

func (m *maker) answer(c call) error {
	cmd, isCommand := c.Command()
	kind, makes := c.Header.Object, false
	if isCommand {
		kind, makes = commands[cmd]
	} else {
		makes = c.Header.Method == 0 && (kind == uapi.ObjectCQ || kind == uapi.ObjectQP || kind == uapi.ObjectSRQ)
	}
	m.calls = append(m.calls, c)
	switch {
	case c.Is(uapi.ObjectAsyncEvent, uapi.MethodAsyncEventAlloc):
		binary.NativeEndian.PutUint64(c.Attr(uapi.AttrAsyncEventAllocFDHandle).Data[:], fakeEventFD)
		return nil
	case m.refuse[kind] != 0:
		return m.refuse[kind]
	case isCommand && !makes:
		m.cores = append(m.cores, slices.Clone(c.Memory(uapi.AttrCoreIn)))
		return nil
	case !makes:
		m.closed = append(m.closed, kind)
		if m.refuseClose != 0 {
			return m.refuseClose
		}
		return nil
	}
	m.made = append(m.made, kind)
	m.handle++
	ring := uapi.RXEMMInfo{Offset: uint64(m.handle) << 12, Size: 4 << 12}
	switch kind {
	case uapi.ObjectCompChannel:
		c.Set(uapi.AttrCoreOut, uapi.Bytes(&uapi.CreateCompChannelResp{FD: fakeEventFD}))
	case uapi.ObjectMR:
		c.Set(uapi.AttrCoreOut, uapi.Bytes(&uapi.RegMRResp{Handle: m.handle, LKey: 11, RKey: 12}))
	case uapi.ObjectAH:
		c.Set(uapi.AttrCoreOut, uapi.Bytes(&m.handle))
		c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.RXECreateAHResp{AHNum: 3}))
	case uapi.ObjectCQ:
		c.SetHandle(uapi.AttrCreateCQHandle, m.handle)
		c.Set(uapi.AttrCreateCQRespCQE, uapi.Bytes(new(uint32(15))))
		c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.RXECreateCQResp{MI: ring}))
	case uapi.ObjectQP:
		c.SetHandle(uapi.AttrCreateQPHandle, m.handle)
		m.limits = uapi.Decode[uapi.QPCap](c.Memory(uapi.AttrCreateQPCap))
		c.Set(uapi.AttrCreateQPRespCap, uapi.Bytes(&uapi.QPCap{MaxSendWR: 15, MaxRecvWR: 15, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInline: 32}))
		c.Set(uapi.AttrCreateQPRespQPNum, uapi.Bytes(new(uint32(17))))
		c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.RXECreateQPResp{SQMI: ring, RQMI: ring}))
	case uapi.ObjectSRQ:
		c.SetHandle(uapi.AttrCreateSRQHandle, m.handle)
		c.Set(uapi.AttrCreateSRQRespMaxSGE, uapi.Bytes(new(uint32(2))))
		c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.RXECreateSRQResp{MI: ring}))
	default:
		c.Set(uapi.AttrCoreOut, uapi.Bytes(&m.handle))
	}
	return nil
}

// last returns a method's last call.
func (m *maker) last(object, method uint16) call {
	m.t.Helper()
	for i := len(m.calls) - 1; i >= 0; i-- {
		if m.calls[i].Is(object, method) {
			return m.calls[i]
		}
	}
	m.t.Fatalf("got no call of %s", methodName(object, method))
	return call{}
}

// must returns a function that returns v, or ends the test if err is not nil.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// An objectSet contains an object for each kind.
type objectSet struct {
	pd      *PD
	mr      *MR
	mw      *MW
	ah      *AH
	channel *CompChannel
	cq      *CQ
	srq     *SRQ
	qp      *QP
}

func newSet(t *testing.T, c *Context) objectSet {
	t.Helper()
	s := objectSet{pd: must(c.AllocPD())(t)}
	memory := must(c.NewMemory(100, MemoryOptions{}))(t)
	s.mr = must(s.pd.RegisterMR(memory, AccessLocalWrite))(t)
	s.mw = must(s.pd.AllocMW())(t)
	s.ah = must(s.pd.CreateAH(Path{Port: 1}))(t)
	s.channel = must(c.NewCompChannel())(t)
	s.cq = must(c.CreateCQ(CQInit{Entries: 8, Channel: s.channel}))(t)
	s.srq = must(s.pd.CreateSRQ(SRQInit{MaxWR: 8, MaxSGE: 2}))(t)
	s.qp = must(s.pd.CreateQP(QPInit{
		Type: QPTypeUD, SendCQ: s.cq, RecvCQ: s.cq, SRQ: s.srq, SignalAll: true, Cap: QPCap{MaxSendWR: 8, MaxRecvWR: 9, MaxSendSGE: 2},
	}))(t)
	return s
}

func TestCreateQP(t *testing.T) {
	c, f, m := openMaker(t)
	s := newSet(t, c)
	q := m.last(uapi.ObjectQP, uapi.MethodQPCreate)
	for name, test := range map[string]struct {
		attr uint16
		want uint64
	}{
		"PD":      {uapi.AttrCreateQPPDHandle, uint64(s.pd.handle)},
		"send CQ": {uapi.AttrCreateQPSendCQHandle, uint64(s.cq.handle)},
		"recv CQ": {uapi.AttrCreateQPRecvCQHandle, uint64(s.cq.handle)},
		"SRQ":     {uapi.AttrCreateQPSRQHandle, uint64(s.srq.handle)},
		"ID":      {uapi.AttrCreateQPUserHandle, s.qp.ID()},
		"type":    {uapi.AttrCreateQPType, 4},
		"flags":   {uapi.AttrCreateQPFlags, 1 << 12},
	} {
		t.Run(name, func(t *testing.T) {
			if got := q.Number(test.attr); got != test.want {
				t.Errorf("got %#x, want %#x", got, test.want)
			}
		})
	}
	if m.limits != (uapi.QPCap{MaxSendWR: 8, MaxSendSGE: 2}) {
		t.Errorf("got request for %+v, want 8 send work requests of 2 SGEs", m.limits)
	}
	want := QPCap{MaxSendWR: 15, MaxRecvWR: 15, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInline: 32}
	if s.qp.Number() != 17 || s.qp.Type() != QPTypeUD || s.qp.State() != QPStateReset || s.qp.Cap() != want {
		t.Errorf("got QP %#x, %v, %v, %+v, want 0x11, UD, RESET, %+v", s.qp.Number(), s.qp.Type(), s.qp.State(), s.qp.Cap(), want)
	}
	if got := s.qp.String(); got != "QP 108 of dev0" {
		t.Errorf("got name %q, want QP 108 of dev0", got)
	}
	if n := m.last(uapi.ObjectCQ, uapi.MethodCQCreate).Number(uapi.AttrCreateCQCompChannel); n != fakeEventFD {
		t.Errorf("got channel %d, want %d", n, fakeEventFD)
	}
	if s.cq.Entries() != 15 || s.srq.Cap().MaxSGE != 2 || s.mr.LKey() != 11 || s.mr.RKey() != 12 {
		t.Errorf("got CQ of %d, SRQ %+v, LKey %d, RKey %d, want 15, 2 SGEs, 11, 12", s.cq.Entries(), s.srq.Cap(), s.mr.LKey(), s.mr.RKey())
	}
	if f.unmapped != 0 {
		t.Errorf("got %d queues unmapped, want 0", f.unmapped)
	}
}

// The kernel's object is destroyed if the provider fails, and the parents can be
// closed.
func TestCreateFails(t *testing.T) {
	c, f, m := openMaker(t)
	s := newSet(t, c)
	maps := f.maps
	f.maps = func(int64, int) ([]byte, error) { return nil, unix.ENOMEM }
	for kind, create := range map[uint16]func() error{
		uapi.ObjectCQ:  func() error { _, err := c.CreateCQ(CQInit{Entries: 1}); return err },
		uapi.ObjectSRQ: func() error { _, err := s.pd.CreateSRQ(SRQInit{MaxWR: 1}); return err },
		uapi.ObjectQP: func() error {
			_, err := s.pd.CreateQP(QPInit{Type: QPTypeRC, SendCQ: s.cq, RecvCQ: s.cq})
			return err
		},
	} {
		t.Run(ObjectKind(kind).String(), func(t *testing.T) {
			m.closed = nil
			if err := create(); !errors.Is(err, unix.ENOMEM) || len(m.closed) != 1 || m.closed[0] != kind {
				t.Errorf("got error %v, destroyed %v, want %v, %v", err, m.closed, unix.ENOMEM, ObjectKind(kind))
			}
			m.closed, m.refuse[kind] = nil, unix.EPERM
			if err := create(); !errors.Is(err, unix.EPERM) || m.closed != nil {
				t.Errorf("kernel fails: got error %v, destroyed %v, want %v and nothing", err, m.closed, unix.EPERM)
			}
			delete(m.refuse, kind)
		})
	}
	f.maps = maps
	for _, object := range []closer{s.qp, s.srq, s.cq, s.channel, s.ah, s.mw, s.mr, s.pd} {
		if err := object.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestNoProvider(t *testing.T) {
	c, _ := openFake(t, DriverQIB, refuse(unix.EINVAL))
	pd := &PD{object: object{context: c}}
	for name, create := range map[string]func() error{
		"any": c.CheckQueues,
		"CQ":  func() error { _, err := c.CreateCQ(CQInit{Entries: 1}); return err },
		"QP":  func() error { _, err := pd.CreateQP(QPInit{}); return err },
		"SRQ": func() error { _, err := pd.CreateSRQ(SRQInit{}); return err },
		"AH":  func() error { _, err := pd.CreateAH(Path{}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if err := create(); !errors.Is(err, ErrNoProvider) {
				t.Errorf("got error %v, want %v", err, ErrNoProvider)
			}
		})
	}
	c, _, _ = openMaker(t)
	if err := c.CheckQueues(); err != nil {
		t.Error(err)
	}
}
