package verbs

import (
	"errors"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/dmamem"
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
		t.Errorf("got %v destroyed, want %v", m.closed, want)
	}
	if f.unmapped != 3 {
		t.Errorf("got %d queues unmapped, want 3", f.unmapped)
	}
	if err := memory.Close(); err != nil { // not registered any more
		t.Error(err)
	}
	for _, object := range []closer{s.qp, s.srq, s.cq, s.channel, s.ah, s.mw, s.mr, s.pd, c} {
		if err := object.Close(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("second Close of %v: got error %v, want %v", object, err, fs.ErrClosed)
		}
	}
}

func TestCloseBusy(t *testing.T) {
	c, _, m := openMaker(t)
	s := newSet(t, c)
	for _, object := range []closer{s.pd, s.cq, s.srq, s.channel} {
		if err := object.Close(); !errors.Is(err, ErrBusy) {
			t.Errorf("Close of %v: got error %v, want %v", object, err, ErrBusy)
		}
	}
	if len(m.closed) != 0 {
		t.Errorf("got %v destroyed, want nothing", m.closed)
	}
}

// An object that the kernel does not destroy stays open until the context closes.
func TestCloseRefused(t *testing.T) {
	c, f, m := openMaker(t)
	s := newSet(t, c)
	m.refuse[uapi.ObjectQP], m.refuse[uapi.ObjectAH] = unix.EBUSY, unix.EBUSY
	if err := s.qp.Close(); !errors.Is(err, unix.EBUSY) {
		t.Errorf("got error %v, want %v", err, unix.EBUSY)
	}
	if err := s.ah.Close(); !errors.Is(err, unix.EBUSY) || s.ah.Destination().Provided() == nil {
		t.Errorf("got error %v, AH %v, want %v and a valid AH", err, s.ah.Destination().Provided(), unix.EBUSY)
	}
	if _, err := s.qp.PostSend(nil); !errors.Is(err, ErrState) {
		t.Errorf("post to a QP that is still open: got error %v, want %v", err, ErrState)
	}
	if err := c.Close(); !errors.Is(err, unix.EBUSY) {
		t.Errorf("got error %v, want %v", err, unix.EBUSY)
	}
	if f.unmapped != 3 || !slices.Contains(f.closed, fakeFD) {
		t.Errorf("got %d queues unmapped, files %v closed, want 3, %d", f.unmapped, f.closed, fakeFD)
	}
	if _, err := s.qp.PostSend(nil); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("post after Close: got error %v, want %v", err, fs.ErrClosed)
	}
}

// An object's Close succeeds after the device's removal.
func TestCloseGone(t *testing.T) {
	c, f, m := openMaker(t)
	s := newSet(t, c)
	for kind := range uint16(20) {
		m.refuse[kind] = unix.EIO
	}
	f.removed = true
	if err := s.qp.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if f.unmapped != 3 {
		t.Errorf("got %d queues unmapped, want 3", f.unmapped)
	}
	if s.ah.Destination().Provided() != nil {
		t.Errorf("closed AH: got %v, want nil", s.ah.Destination().Provided())
	}
}

// A context's Close waits for objects that are being created, and closes them too.
func TestCloseWhileMaking(t *testing.T) {
	c, f, m := openMaker(t)
	pd := must(c.AllocPD())(t)
	inside, leave := make(chan bool), make(chan bool)
	f.answer = contexts(func(call call) error {
		if call.Is(uapi.ObjectSRQ, uapi.MethodSRQCreate) {
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
		// Close has started if no objects can be created.
	}
	close(leave)
	srq := <-made
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := srq.PostRecv(nil); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("post after Close: got error %v, want %v", err, fs.ErrClosed)
	}
	if want := []uint16{uapi.ObjectSRQ, uapi.ObjectPD}; !slices.Equal(m.closed, want) || f.unmapped != 1 {
		t.Errorf("got %v destroyed, %d queues unmapped, want %v, 1", m.closed, f.unmapped, want)
	}
}

func closing(c *Context) bool {
	c.objects.lock.Lock()
	defer c.objects.lock.Unlock()
	return c.objects.closed
}

// Another device's objects are rejected.
func TestOtherContext(t *testing.T) {
	c, _, _ := openMaker(t)
	other, _, _ := openMaker(t)
	pd, cq := must(c.AllocPD())(t), must(other.CreateCQ(CQInit{Entries: 1}))(t)
	if _, err := pd.CreateQP(QPInit{Type: QPTypeRC, SendCQ: cq, RecvCQ: cq}); err == nil {
		t.Error("QP with a CQ of another device: got no error")
	}
	if err := pd.Close(); err != nil { // the failed creation does not use it
		t.Error(err)
	}
}

// collect runs the garbage collector until done reports true.
func collect(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("not collected after 20 s")
		}
		runtime.GC()
	}
}

// A countingKernel counts the files and mappings that are released, also by a cleanup's
// goroutine.
type countingKernel struct {
	*fake
	closed, unmapped atomic.Int32
}

func (k *countingKernel) Close(fd int) error {
	if fd != fakeFD && fd != fakeEventFD {
		k.t.Errorf("got close of file %d", fd)
	}
	k.closed.Add(1)
	return nil
}

func (k *countingKernel) Munmap([]byte) error {
	k.unmapped.Add(1)
	return nil
}

// A context that is dropped with all its objects releases its files and mappings.
func TestContext_Forgotten(t *testing.T) {
	for name, wantFiles := range map[string]int32{"events never read": 2, "events": 1} {
		t.Run(name, func(t *testing.T) {
			k := &countingKernel{}
			var scratch weak.Pointer[dmamem.Memory]
			func() {
				f, m := newMaker(t)
				k.fake = f
				c := must(Device{Name: "dev0", Path: "/dev/uverbs0"}.open(k))(t)
				newSet(t, c)
				if name == "events" { // the file that os.NewFile made closes itself
					must(c.Events())(t)
				}
				scratch = weak.Make(c.scratch)
				f.calls, m.calls = nil, nil // they point to object fields
			}()
			collect(t, func() bool { return scratch.Value() == nil })
			if files, queues := k.closed.Load(), k.unmapped.Load(); files != wantFiles || queues != 3 {
				t.Errorf("got %d files closed and %d queues unmapped, want %d and 3", files, queues, wantFiles)
			}
		})
	}
}

// A context stays open as long as any object in it is reachable.
func TestContext_ReachableByObject(t *testing.T) {
	k := &countingKernel{}
	var pd *PD
	func() {
		f, m := newMaker(t)
		k.fake = f
		c := must(Device{Name: "dev0", Path: "/dev/uverbs0"}.open(k))(t)
		pd = newSet(t, c).pd
		f.calls, m.calls = nil, nil
	}()
	sentinel := make(chan struct{})
	func() {
		garbage := new([16]byte)
		runtime.AddCleanup(garbage, func(c chan struct{}) { close(c) }, sentinel)
	}()
	collect(t, func() bool { return closed(sentinel) })
	if n := k.closed.Load() + k.unmapped.Load(); n != 0 {
		t.Errorf("got %d files and queues released, want 0", n)
	}
	if err := pd.context.Close(); err != nil {
		t.Error(err)
	}
	if files, queues := k.closed.Load(), k.unmapped.Load(); files != 2 || queues != 3 {
		t.Errorf("got %d files closed and %d queues unmapped by Close, want 2 and 3", files, queues)
	}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A doorbell that is dropped while its context stays open is collected.
func TestDoorbell_Forgotten(t *testing.T) {
	c, _, _ := openMaker(t)
	gone := make(chan struct{})
	func() {
		bell := queueDevice{c}.Doorbell(1).(*preparedWrite)
		runtime.AddCleanup(bell, func(gone chan struct{}) { close(gone) }, gone)
	}()
	collect(t, func() bool { return closed(gone) })
}

// A doorbell is sent by write(2), or by ioctl if the credentials do not permit the
// write.
func TestPreparedWrite(t *testing.T) {
	c, f, m := openMaker(t)
	bell := queueDevice{c}.Doorbell(0x01020304)
	if err := bell.Ring(true); err != nil {
		t.Error(err)
	}
	head, core := uapi.Decode[uapi.CmdHeader](f.written[0]), uapi.Decode[uapi.PostSend](f.written[0][uapi.CmdHeaderSize:])
	if len(f.written[0]) != 32 || head.Command != 28 || head.InWords != 8 || head.OutWords != 1 {
		t.Errorf("got %d bytes, header %+v, want 32, command 28, 8 and 1 words", len(f.written[0]), head)
	}
	if core.Response == 0 || core.QPHandle != 0x01020304 || core.WRCount != 0 || core.SGECount != 0 || core.WQESize != 56 {
		t.Errorf("got doorbell %+v, want QP 0x01020304 without work requests", core)
	}
	notify := queueDevice{c}.Notifier(9)
	for _, solicited := range []bool{true, false} {
		f.written = nil
		if err := notify.Arm(solicited); err != nil {
			t.Error(err)
		}
		core := uapi.Decode[uapi.ReqNotifyCQ](f.written[0][uapi.CmdHeaderSize:])
		if head := uapi.Decode[uapi.CmdHeader](f.written[0]); head.Command != 23 || head.InWords != 4 || head.OutWords != 0 ||
			core.CQHandle != 9 || (core.SolicitedOnly == 1) != solicited {
			t.Errorf("got header %+v, command %+v, want command 23 of CQ 9, solicited %v", head, core, solicited)
		}
	}

	f.writeError = unix.ENOENT
	var refused *CallError
	if err := bell.Ring(true); !errors.As(err, &refused) || refused.Method != "WRITE POST_SEND" || !errors.Is(err, unix.ENOENT) {
		t.Errorf("got error %v, want %v of WRITE POST_SEND", err, unix.ENOENT)
	}
	f.writeError, f.removed = unix.EINVAL, true
	if err := bell.Ring(true); !errors.Is(err, ErrDeviceRemoved) {
		t.Errorf("got error %v, want %v", err, ErrDeviceRemoved)
	}
	f.writeError, f.removed, f.written, m.calls = unix.EACCES, false, nil, nil
	for range 2 {
		if err := bell.Ring(true); err != nil {
			t.Error(err)
		}
	}
	if len(f.written) != 1 || len(m.calls) != 2 {
		t.Fatalf("got %d writes, %d calls, want 1, 2", len(f.written), len(m.calls))
	}
	for i, call := range m.calls {
		cmd, _ := call.Command()
		if core := uapi.Decode[uapi.PostSend](m.cores[i]); cmd != 28 || core.QPHandle != 0x01020304 || core.WQESize != 56 {
			t.Errorf("got command %d, %+v, want 28 of QP 0x01020304", cmd, core)
		}
	}
}

// A length that does not fit into an SGE is replaced by the maximum.
func TestMR_SGE(t *testing.T) {
	mr := &MR{addr: 1 << 20, length: 1 << 33, lkey: 7}
	for length, want := range map[int]uint32{0: 0, 100: 100, 1 << 32: math.MaxUint32, 1<<32 + 1: math.MaxUint32} {
		if got := mr.SGE(10, length); got != (SGE{Addr: 1<<20 + 10, Length: want, LKey: 7}) {
			t.Errorf("%d bytes: got %+v, want length %d", length, got, want)
		}
	}
}

// A range outside of the region panics with the region's size.
func TestMR_SGEOutside(t *testing.T) {
	mr := &MR{addr: 1 << 20, length: 4096, lkey: 7}
	if got, want := mr.SGE(4096, 0), (SGE{Addr: 1<<20 + 4096, LKey: 7}); got != want {
		t.Errorf("empty range at the end: got %+v, want %+v", got, want)
	}
	for name, test := range map[string]struct {
		offset, length int
		want           string
	}{
		"too long":          {10, 1 << 30, "verbs: SGE(10, 1073741824) of a memory region with 4096 bytes"},
		"a byte too long":   {1, 4096, "verbs: SGE(1, 4096) of a memory region with 4096 bytes"},
		"behind the region": {4097, 0, "verbs: SGE(4097, 0) of a memory region with 4096 bytes"},
		"negative offset":   {-1, 1, "verbs: SGE(-1, 1) of a memory region with 4096 bytes"},
		"negative length":   {0, -1, "verbs: SGE(0, -1) of a memory region with 4096 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := recover(); got != test.want {
					t.Errorf("got panic %v, want %s", got, test.want)
				}
			}()
			mr.SGE(test.offset, test.length)
		})
	}
}
