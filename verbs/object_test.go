package verbs

import (
	"errors"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// Closing the context closes all objects, the newest first, and then the file.
func TestCloseAll(t *testing.T) {
	c, f, m := openMaker(t)
	s := newSet(t, c)
	memory := s.mr.memory
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	want := []uint16{
		uapi.ObjectQP, uapi.ObjectSRQ, uapi.ObjectCQ, uapi.ObjectAH, uapi.ObjectMW, uapi.ObjectMR, uapi.ObjectPD,
	}
	if !slices.Equal(m.closed, want) {
		t.Errorf("closed %v, want %v", m.closed, want)
	}
	if f.unmapped != 3 {
		t.Errorf("%d rings unmapped", f.unmapped)
	}
	if err := memory.Close(); err != nil { // nobody holds it
		t.Error(err)
	}
	for _, object := range []closer{s.qp, s.srq, s.cq, s.channel, s.ah, s.mw, s.mr, s.pd, c} {
		if err := object.Close(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%v: %v", object, err)
		}
	}
}

func TestCloseBusy(t *testing.T) {
	c, _, m := openMaker(t)
	s := newSet(t, c)
	for _, object := range []closer{s.pd, s.cq, s.srq, s.channel} {
		if err := object.Close(); !errors.Is(err, ErrBusy) {
			t.Errorf("%v: %v", object, err)
		}
	}
	if len(m.closed) != 0 {
		t.Errorf("destroyed %v", m.closed)
	}
}

// An object that the kernel does not give up stays, until the context goes.
func TestCloseRefused(t *testing.T) {
	c, f, m := openMaker(t)
	s := newSet(t, c)
	m.refuse[uapi.ObjectQP], m.refuse[uapi.ObjectAH] = unix.EBUSY, unix.EBUSY
	if err := s.qp.Close(); !errors.Is(err, unix.EBUSY) {
		t.Error(err)
	}
	if err := s.ah.Close(); !errors.Is(err, unix.EBUSY) || s.ah.Provided() == nil {
		t.Error(err)
	}
	if _, err := s.qp.PostSend(nil); !errors.Is(err, ErrState) {
		t.Errorf("post to what is still there: %v", err)
	}
	if err := c.Close(); !errors.Is(err, unix.EBUSY) {
		t.Error(err)
	}
	if f.unmapped != 3 || !slices.Contains(f.closed, fakeFD) {
		t.Errorf("%d rings unmapped, closed %v", f.unmapped, f.closed)
	}
	if _, err := s.qp.PostSend(nil); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("post to what was closed: %v", err)
	}
}

// Of a device that is gone nothing has to be destroyed.
func TestCloseGone(t *testing.T) {
	c, f, m := openMaker(t)
	s := newSet(t, c)
	for kind := range uint16(20) {
		m.refuse[kind] = unix.EIO
	}
	f.gone = true
	if err := s.qp.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if f.unmapped != 3 {
		t.Errorf("%d rings unmapped", f.unmapped)
	}
	if s.ah.Provided() != nil {
		t.Error("an address handle that was closed is still good for work requests")
	}
}

// Close of a context waits for objects that are being made, and closes them too.
func TestCloseWhileMaking(t *testing.T) {
	c, f, m := openMaker(t)
	pd := must(c.AllocPD())(t)
	inside, leave := make(chan bool), make(chan bool)
	f.answer = contexts(func(call call) error {
		if call.is(uapi.ObjectSRQ, uapi.MethodSRQCreate) {
			close(inside)
			<-leave
		}
		return m.answer(call)
	})
	made := make(chan *SRQ)
	go func() {
		srq, err := pd.CreateSRQ(SRQInit{MaxWR: 1})
		if err != nil {
			t.Error(err)
		}
		made <- srq
	}()
	<-inside
	closed := make(chan error)
	go func() { closed <- c.Close() }()
	for !closing(c) {
		// Close has begun when there can be no more objects.
	}
	close(leave)
	srq := <-made
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := srq.PostRecv(nil); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("post to what was closed: %v", err)
	}
	if want := []uint16{uapi.ObjectSRQ, uapi.ObjectPD}; !slices.Equal(m.closed, want) || f.unmapped != 1 {
		t.Errorf("destroyed %v, %d rings unmapped", m.closed, f.unmapped)
	}
}

func closing(c *Context) bool {
	c.objects.lock.Lock()
	defer c.objects.lock.Unlock()
	return c.objects.closed
}

// What belongs to another device is refused here.
func TestOtherContext(t *testing.T) {
	c, _, _ := openMaker(t)
	other, _, _ := openMaker(t)
	pd, cq := must(c.AllocPD())(t), must(other.CreateCQ(CQInit{Entries: 1}))(t)
	if _, err := pd.CreateQP(QPInit{Type: QPTypeRC, SendCQ: cq, RecvCQ: cq}); err == nil {
		t.Error("QP with another device's CQ")
	}
	if err := pd.Close(); err != nil { // the attempt holds nothing
		t.Error(err)
	}
}

// What nobody closes costs memory, but the process goes on.
func TestForgotten(t *testing.T) {
	c, _, _ := openMaker(t)
	gone := make(chan struct{})
	func() {
		bell := queueDevice{c}.Doorbell(1).(*quick)
		runtime.AddCleanup(bell, func(gone chan struct{}) { close(gone) }, gone)
	}()
	for {
		runtime.GC()
		select {
		case <-gone:
			return
		default:
			runtime.Gosched()
		}
	}
}

// A doorbell is written. Who may not write has the ioctl.
func TestQuick(t *testing.T) {
	c, f, m := openMaker(t)
	bell := queueDevice{c}.Doorbell(0x01020304)
	if err := bell.Ring(true); err != nil {
		t.Error(err)
	}
	head, core := decode[uapi.CmdHeader](f.written[0]), decode[uapi.PostSend](f.written[0][uapi.CmdHeaderSize:])
	if len(f.written[0]) != 32 || head.Command != 28 || head.InWords != 8 || head.OutWords != 1 {
		t.Errorf("%d bytes, %+v", len(f.written[0]), head)
	}
	if core.Response == 0 || core.QPHandle != 0x01020304 || core.WRCount != 0 || core.SGECount != 0 || core.WQESize != 56 {
		t.Errorf("doorbell %+v", core)
	}
	notify := queueDevice{c}.Notifier(9)
	for _, solicited := range []bool{true, false} {
		f.written = nil
		if err := notify.Arm(solicited); err != nil {
			t.Error(err)
		}
		core := decode[uapi.ReqNotifyCQ](f.written[0][uapi.CmdHeaderSize:])
		if head := decode[uapi.CmdHeader](f.written[0]); head.Command != 23 || head.InWords != 4 || head.OutWords != 0 ||
			core.CQHandle != 9 || (core.SolicitedOnly == 1) != solicited {
			t.Errorf("%+v, %+v", head, core)
		}
	}

	f.writeError = unix.ENOENT
	var refused *CallError
	if err := bell.Ring(true); !errors.As(err, &refused) || refused.Method != "WRITE POST_SEND" || !errors.Is(err, unix.ENOENT) {
		t.Error(err)
	}
	f.writeError, f.gone = unix.EINVAL, true
	if err := bell.Ring(true); !errors.Is(err, ErrDeviceRemoved) {
		t.Error(err)
	}
	f.writeError, f.gone, f.written, m.calls = unix.EACCES, false, nil, nil
	for range 2 {
		if err := bell.Ring(true); err != nil {
			t.Error(err)
		}
	}
	if len(f.written) != 1 || len(m.calls) != 2 {
		t.Fatalf("%d writes, %d calls", len(f.written), len(m.calls))
	}
	for i, call := range m.calls {
		cmd, _ := call.command()
		if core := decode[uapi.PostSend](m.cores[i]); cmd != 28 || core.QPHandle != 0x01020304 || core.WQESize != 56 {
			t.Errorf("command %d, %+v", cmd, core)
		}
	}
}

// A length that does not fit a SGE is none that does.
func TestSGE(t *testing.T) {
	mr := &MR{addr: 1 << 20, lkey: 7}
	for length, want := range map[int]uint32{100: 100, 1 << 32: math.MaxUint32, 1<<32 + 1: math.MaxUint32, -1: math.MaxUint32} {
		if got := mr.SGE(10, length); got != (SGE{Addr: 1<<20 + 10, Length: want, LKey: 7}) {
			t.Errorf("%d bytes: %+v", length, got)
		}
	}
}
