//go:build amd64

package pvrdma

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A fake is a device with the doorbells in plain memory.
type fake struct {
	provider.Device
	page   []byte
	mapped int
	mac    [6]byte
	err    error // from MAC and create

	cq  uapi.PVRDMACreateCQ // last command data
	qp  uapi.PVRDMACreateQP
	srq uapi.PVRDMACreateSRQ
}

func (f *fake) Map(offset uint64, length int) ([]byte, error) {
	if offset != 0 || length != os.Getpagesize() {
		return nil, errors.New("no doorbells there")
	}
	f.mapped++
	f.page = make([]byte, length)
	return f.page, nil
}

func (f *fake) NUMANode() *int { return nil }

func (f *fake) Unmap([]byte) error { f.mapped--; return nil }

func (f *fake) MAC(provider.Path) ([6]byte, error) { return f.mac, f.err }

// bell returns a doorbell's last value, and clears it.
func (f *fake) bell(offset int) uint32 {
	v := binary.NativeEndian.Uint32(f.page[offset:])
	binary.NativeEndian.PutUint32(f.page[offset:], 0)
	return v
}

func newDevice(t testing.TB) (*fake, *device) {
	t.Helper()
	f := &fake{}
	p, err := New(f, uapi.Bytes(&uapi.PVRDMAAllocUcontextResp{QPTabSize: 16}))
	if err != nil {
		t.Fatal(err)
	}
	return f, p.(*device)
}

// answer returns a create function that stores the driver's data and returns a response.
func answer[T, R any](f *fake, into *T, resp R, created provider.Created) provider.Create {
	return func(in, out []byte) (provider.Created, error) {
		if f.err != nil {
			return provider.Created{}, f.err
		}
		*into = uapi.Decode[T](in)
		copy(out, uapi.Bytes(&resp))
		return created, nil
	}
}

const (
	cqNumber  = 0x21
	srqNumber = 0x31
	qpNumber  = 0x12345
	qpHandle  = 0x7
)

func (d *device) newCQ(t testing.TB, f *fake, entries uint32) *cq {
	t.Helper()
	q, err := d.NewCQ(provider.CQAttr{Entries: entries}, answer(f, &f.cq, uapi.PVRDMACreateCQResp{CQN: cqNumber}, provider.Created{CQE: queue.RoundUp(entries)}))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*cq)
}

func (d *device) newQP(t testing.TB, f *fake, attr provider.QPAttr, handle uint32) *qp {
	t.Helper()
	attr.Cap = d.RoundQP(attr.Cap)
	q, err := d.NewQP(attr, answer(f, &f.qp, uapi.PVRDMACreateQPResp{QPN: qpNumber, QPHandle: handle}, provider.Created{Number: qpNumber}))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*qp)
}

// rc are the attributes for a queue pair with room for 4 sends and 2 receives.
func rc(c *cq) provider.QPAttr {
	return provider.QPAttr{Transport: provider.RC, Cap: provider.QPCap{MaxSendWR: 3, MaxRecvWR: 2, MaxSendSGE: 2, MaxRecvSGE: 1}, SendCQ: c, RecvCQ: c}
}

// put stores a completion as the adapter does.
func (q *cq) put(e uapi.PVRDMACQE) {
	tail := q.ring.state.ProdTail
	*q.entry(tail) = e
	q.ring.state.ProdTail = q.ring.next(tail)
}

// A response that contradicts the request is an error. The queue that comes with it releases
// the memory once the kernel's object is destroyed, and nothing from other queue pairs.
func TestInconsistent(t *testing.T) {
	f, d := newDevice(t)
	p, err := d.NewCQ(provider.CQAttr{Entries: 4}, answer(f, &f.cq, uapi.PVRDMACreateCQResp{}, provider.Created{CQE: 8}))
	if q := p.(*cq); !errors.Is(err, provider.ErrCorrupt) || q.memory.Bytes() == nil || q.Close() != nil || q.memory.Bytes() != nil {
		t.Errorf("CQ: got error %v, want %v and memory until Close", err, provider.ErrCorrupt)
	}
	s, err := d.NewSRQ(provider.SRQAttr{MaxWR: 4, MaxSGE: 1}, answer(f, &f.srq, uapi.PVRDMACreateSRQResp{}, provider.Created{MaxWR: 8}))
	if q := s.(*srq); !errors.Is(err, provider.ErrCorrupt) || q.memory.Bytes() == nil || q.Close() != nil || q.memory.Bytes() != nil {
		t.Errorf("SRQ: got error %v, want %v and memory until Close", err, provider.ErrCorrupt)
	}
	c := d.newCQ(t, f, 4)
	first := d.newQP(t, f, rc(c), qpHandle)
	c.put(uapi.PVRDMACQE{QP: qpHandle, WRID: 5})
	attr := rc(c)
	attr.Cap = d.RoundQP(attr.Cap)
	q, err := d.NewQP(attr, answer(f, &f.qp, uapi.PVRDMACreateQPResp{QPHandle: qpHandle}, provider.Created{}))
	if q := q.(*qp); !errors.Is(err, provider.ErrCorrupt) || q.Close() != nil || q.sent.Bytes() != nil || q.received.Bytes() != nil {
		t.Errorf("QP: got error %v, want %v and memory until Close", err, provider.ErrCorrupt)
	}
	if n, err := c.Poll(make([]provider.Completion, 2)); n != 1 || err != nil || d.find(qpHandle) != first {
		t.Errorf("got %d completions, error %v, want that of the first queue pair", n, err)
	}
}

func TestRound(t *testing.T) {
	_, d := newDevice(t)
	got := d.RoundQP(provider.QPCap{MaxSendWR: 100, MaxRecvWR: 0, MaxSendSGE: 3, MaxInline: 200})
	if want := (provider.QPCap{MaxSendWR: 128, MaxRecvWR: 1, MaxSendSGE: 3, MaxRecvSGE: 1}); got != want {
		t.Errorf("QP: got %+v, want %+v", got, want)
	}
	if got, want := d.RoundSRQ(provider.SRQAttr{MaxWR: 5}), (provider.SRQAttr{MaxWR: 8, MaxSGE: 1}); got != want {
		t.Errorf("SRQ: got %+v, want %+v", got, want)
	}
}

// The commands have the sizes that rdma-core's library computes: a count page, and power-of-2
// entries.
func TestSizes(t *testing.T) {
	f, d := newDevice(t)
	page := uint32(os.Getpagesize())
	c := d.newCQ(t, f, 100)
	if want := page + 128*64; f.cq.BufSize != want || f.cq.BufAddr != c.memory.Addr() {
		t.Errorf("CQ: got %+v, want %d bytes at %#x", f.cq, want, c.memory.Addr())
	}
	attr := rc(c)
	attr.Cap = provider.QPCap{MaxSendWR: 100, MaxRecvWR: 256, MaxSendSGE: 4, MaxRecvSGE: 2}
	d.newQP(t, f, attr, qpHandle)
	if send, recv := page+128*256, uint32(256*64); f.qp.SBufSize != send || f.qp.RBufSize != recv {
		t.Errorf("QP: got %d and %d bytes, want %d and %d", f.qp.SBufSize, f.qp.RBufSize, send, recv)
	}
	if f.mapped != 1 {
		t.Errorf("got %d pages of doorbells, want 1", f.mapped)
	}
	if err := d.Close(); err != nil || f.mapped != 0 {
		t.Errorf("Close: got error %v and %d pages", err, f.mapped)
	}
}

// Work requests have the <rdma/vmw_pvrdma-abi.h> layout, and each call rings once.
func TestPostSend(t *testing.T) {
	f, d := newDevice(t)
	c := d.newCQ(t, f, 4)
	sge := []provider.SGE{{Addr: 0x1000, Length: 8, LKey: 0x77}}
	header := uapi.PVRDMASendHeader{WRID: 9, NumSGE: 1}
	with := func(change func(*uapi.PVRDMASendHeader)) uapi.PVRDMASendHeader {
		h := header
		change(&h)
		return h
	}
	av := &uapi.PVRDMAAV{GIDIndex: 3, DMAC: [6]byte{2, 0, 0, 0, 0, 1}}
	for name, test := range map[string]struct {
		transport provider.Transport
		wr        provider.SendWR
		want      uapi.PVRDMASendHeader
	}{
		"send": {
			provider.RC, provider.SendWR{ID: 9, Opcode: provider.OpSend, Flags: provider.SendSignaled, SGEs: sge},
			with(func(h *uapi.PVRDMASendHeader) { h.Opcode, h.SendFlags = 2, 2 }),
		},
		"write with immediate": {
			provider.RC, provider.SendWR{ID: 9, Opcode: provider.OpWriteWithImm, Imm: 0x01020304, RemoteAddr: 0x2000, RKey: 0x88, SGEs: sge},
			with(func(h *uapi.PVRDMASendHeader) {
				h.Opcode, h.Imm = 1, [4]byte{1, 2, 3, 4}
				*(*uapi.PVRDMARDMA)(unsafe.Pointer(&h.WR)) = uapi.PVRDMARDMA{RemoteAddr: 0x2000, RKey: 0x88}
			}),
		},
		"compare and swap": {
			provider.RC, provider.SendWR{ID: 9, Opcode: provider.OpCompareSwap, Flags: provider.SendFence, RemoteAddr: 0x2000, RKey: 0x88, CompareAdd: 5, Swap: 6, SGEs: sge},
			with(func(h *uapi.PVRDMASendHeader) {
				h.Opcode, h.SendFlags = 5, 1
				*(*uapi.PVRDMAAtomic)(unsafe.Pointer(&h.WR)) = uapi.PVRDMAAtomic{RemoteAddr: 0x2000, CompareAdd: 5, Swap: 6, RKey: 0x88}
			}),
		},
		"datagram": {
			provider.UD, provider.SendWR{ID: 9, Opcode: provider.OpSend, Flags: provider.SendSolicited, AH: provider.NewDestination(av), RemoteQPN: 0x55, QKey: 0x66, SGEs: sge},
			with(func(h *uapi.PVRDMASendHeader) {
				h.Opcode, h.SendFlags = 2, 4
				*(*uapi.PVRDMADatagram)(unsafe.Pointer(&h.WR)) = uapi.PVRDMADatagram{RemoteQPN: 0x55, RemoteQKey: 0x66, AV: *av}
			}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			attr := rc(c)
			attr.Transport = test.transport
			q := d.newQP(t, f, attr, qpHandle)
			defer q.Close()
			if n, err := q.PostSend([]provider.SendWR{test.wr}); n != 1 || err != nil {
				t.Fatalf("got %d posted and error %v", n, err)
			}
			got := (*uapi.PVRDMASendHeader)(q.send.at(0))
			if *got != test.want {
				t.Errorf("got %+v, want %+v", *got, test.want)
			}
			if s := *(*uapi.PVRDMASGE)(unsafe.Add(unsafe.Pointer(got), unsafe.Sizeof(*got))); s != (uapi.PVRDMASGE{Addr: 0x1000, Length: 8, LKey: 0x77}) {
				t.Errorf("got SGE %+v", s)
			}
			if bell := f.bell(uapi.PVRDMAUARQP); bell != qpHandle|uapi.PVRDMAUARQPSend || q.send.state.ProdTail != 1 {
				t.Errorf("got doorbell %#x and count %d", bell, q.send.state.ProdTail)
			}
		})
	}
}

func TestPostSend_Refused(t *testing.T) {
	f, d := newDevice(t)
	c := d.newCQ(t, f, 4)
	long := provider.SGE{Length: 1<<32 - 1}
	for name, test := range map[string]struct {
		transport provider.Transport
		wr        provider.SendWR
		want      error
	}{
		"invalidation":       {provider.RC, provider.SendWR{Opcode: provider.OpSendInvalidate}, provider.ErrOpcode},
		"unknown operation":  {provider.RC, provider.SendWR{Opcode: 200}, provider.ErrOpcode},
		"write of datagram":  {provider.UD, provider.SendWR{Opcode: provider.OpWrite}, provider.ErrOpcode},
		"inline":             {provider.RC, provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, Inline: []byte{1}}, provider.ErrInline},
		"SGEs":               {provider.RC, provider.SendWR{Opcode: provider.OpSend, SGEs: make([]provider.SGE, 3)}, provider.ErrSGEs},
		"length":             {provider.RC, provider.SendWR{Opcode: provider.OpSend, SGEs: []provider.SGE{long, long}}, provider.ErrLength},
		"length of atomic":   {provider.RC, provider.SendWR{Opcode: provider.OpFetchAdd, SGEs: []provider.SGE{{Length: 4}}}, provider.ErrLength},
		"no address handle":  {provider.UD, provider.SendWR{Opcode: provider.OpSend}, provider.ErrAH},
		"closed address":     {provider.UD, provider.SendWR{Opcode: provider.OpSend, AH: provider.NewDestination(nil)}, provider.ErrAH},
		"address of another": {provider.UD, provider.SendWR{Opcode: provider.OpSend, AH: provider.NewDestination(1)}, provider.ErrAH},
	} {
		t.Run(name, func(t *testing.T) {
			attr := rc(c)
			attr.Transport = test.transport
			q := d.newQP(t, f, attr, qpHandle)
			defer q.Close()
			if n, err := q.PostSend([]provider.SendWR{test.wr}); n != 0 || !errors.Is(err, test.want) {
				t.Errorf("got %d posted and error %v, want %v", n, err, test.want)
			}
			if bell := f.bell(uapi.PVRDMAUARQP); bell != 0 {
				t.Errorf("got doorbell %#x", bell)
			}
		})
	}
}

// A ring takes as many entries as it has, through several rounds, and refuses counts that
// cannot be.
func TestFull(t *testing.T) {
	f, d := newDevice(t)
	q := d.newQP(t, f, rc(d.newCQ(t, f, 4)), qpHandle)
	if q.Cap().MaxSendWR != 4 {
		t.Fatalf("got a capacity of %d, want 4", q.Cap().MaxSendWR)
	}
	many := make([]provider.SendWR, 6)
	for i := range many {
		many[i].Opcode = provider.OpSend
	}
	for round := range 5 {
		if n, err := q.PostSend(many); n != 4 || !errors.Is(err, provider.ErrFull) {
			t.Fatalf("round %d: got %d posted and error %v, want 4 and %v", round, n, err, provider.ErrFull)
		}
		q.send.state.ConsHead = q.send.state.ProdTail
	}
	for _, head := range []uint32{8, 1<<32 - 1} {
		q.send.state.ConsHead = head
		if n, err := q.PostSend(many); n != 0 || !errors.Is(err, provider.ErrCorrupt) {
			t.Errorf("count %d: got %d posted and error %v, want %v", head, n, err, provider.ErrCorrupt)
		}
	}
	q.Reset()
	if n, err := q.PostSend(many[:1]); n != 1 || err != nil {
		t.Errorf("after Reset: got %d posted and error %v", n, err)
	}
}

func TestPostRecv(t *testing.T) {
	f, d := newDevice(t)
	q := d.newQP(t, f, rc(d.newCQ(t, f, 4)), qpHandle)
	wrs := []provider.RecvWR{{ID: 1, SGEs: []provider.SGE{{Addr: 0x1000, Length: 64, LKey: 5}}}, {ID: 2}, {ID: 3}}
	if n, err := q.PostRecv(wrs); n != 2 || !errors.Is(err, provider.ErrFull) {
		t.Errorf("got %d posted and error %v, want 2 and %v", n, err, provider.ErrFull)
	}
	if bell := f.bell(uapi.PVRDMAUARQP); bell != qpHandle|uapi.PVRDMAUARQPRecv {
		t.Errorf("got doorbell %#x", bell)
	}
	if h := *(*uapi.PVRDMARecvHeader)(q.recv.at(0)); h != (uapi.PVRDMARecvHeader{WRID: 1, NumSGE: 1}) {
		t.Errorf("got %+v", h)
	}
	if n, err := q.PostRecv([]provider.RecvWR{{SGEs: make([]provider.SGE, 2)}}); n != 0 || !errors.Is(err, provider.ErrSGEs) {
		t.Errorf("got %d posted and error %v, want %v", n, err, provider.ErrSGEs)
	}
}

func TestSRQ(t *testing.T) {
	f, d := newDevice(t)
	s, err := d.NewSRQ(d.RoundSRQ(provider.SRQAttr{MaxWR: 3, MaxSGE: 2}), answer(f, &f.srq, uapi.PVRDMACreateSRQResp{SRQN: srqNumber}, provider.Created{MaxWR: 4}))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.PostRecv(make([]provider.RecvWR, 5)); n != 4 || !errors.Is(err, provider.ErrFull) {
		t.Errorf("got %d posted and error %v, want 4 and %v", n, err, provider.ErrFull)
	}
	if bell := f.bell(uapi.PVRDMAUARSRQ); bell != srqNumber|uapi.PVRDMAUARSRQRecv {
		t.Errorf("got doorbell %#x", bell)
	}
	attr := rc(d.newCQ(t, f, 1))
	attr.SRQ = s
	q := d.newQP(t, f, attr, qpHandle)
	if n, err := q.PostRecv(make([]provider.RecvWR, 1)); n != 0 || !errors.Is(err, provider.ErrFull) {
		t.Errorf("own queue: got %d posted and error %v, want %v", n, err, provider.ErrFull)
	}
	q.Reset()
	if err := errors.Join(q.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

func TestPoll(t *testing.T) {
	f, d := newDevice(t)
	c := d.newCQ(t, f, 4)
	q := d.newQP(t, f, rc(c), qpHandle)
	into := make([]provider.Completion, 8)
	if n, err := c.Poll(into); n != 0 || err != nil || f.bell(uapi.PVRDMAUARCQ) != cqNumber|uapi.PVRDMAUARCQPoll {
		t.Errorf("empty: got %d completions and error %v, want a doorbell only", n, err)
	}
	c.put(uapi.PVRDMACQE{WRID: 1, QP: qpHandle, Opcode: 1})
	c.put(uapi.PVRDMACQE{
		WRID: 2, QP: qpHandle, Opcode: 128, ByteLen: 60, Imm: [4]byte{1, 2, 3, 4}, SrcQP: 0x99, WCFlags: uapi.PVRDMAWCGRH | uapi.PVRDMAWCWithImm, SL: 3,
	})
	c.put(uapi.PVRDMACQE{WRID: 3, QP: qpHandle, Status: 12, VendorErr: 4})
	c.put(uapi.PVRDMACQE{WRID: 4, QP: qpHandle, Status: 1 << 20})
	want := []provider.Completion{
		{ID: 1, QPN: qpNumber, Opcode: provider.CompletedWrite},
		{ID: 2, QPN: qpNumber, Opcode: provider.CompletedRecv, ByteLen: 60, Imm: 0x01020304, SrcQPN: 0x99, Flags: provider.CompletionGRH | provider.CompletionWithImm, SL: 3},
		{ID: 3, QPN: qpNumber, Status: provider.StatusRetryExceeded, VendorErr: 4},
		{ID: 4, QPN: qpNumber, Status: provider.StatusGeneral},
	}
	n, err := c.Poll(into)
	if diff := cmp.Diff(want, into[:n]); diff != "" || err != nil {
		t.Errorf("got error %v, (-want +got):\n%s", err, diff)
	}
	c.put(uapi.PVRDMACQE{WRID: 5, QP: qpHandle})
	c.put(uapi.PVRDMACQE{WRID: 6, QP: qpHandle + 1})
	if n, err := c.Poll(into); n != 1 || !errors.Is(err, provider.ErrCorrupt) {
		t.Errorf("unknown queue pair: got %d completions and error %v, want 1 and %v", n, err, provider.ErrCorrupt)
	}
	c.ring.state.ProdTail = 100
	if n, err := c.Poll(into); n != 0 || !errors.Is(err, provider.ErrCorrupt) {
		t.Errorf("count 100: got %d completions and error %v, want %v", n, err, provider.ErrCorrupt)
	}
	q.Reset() // nothing can be removed from a corrupt ring
	for solicited, flag := range map[bool]uint32{false: uapi.PVRDMAUARCQArm, true: uapi.PVRDMAUARCQArmSol} {
		if err := c.Arm(solicited); err != nil || f.bell(uapi.PVRDMAUARCQ) != cqNumber|flag {
			t.Errorf("Arm(%t): got error %v or another doorbell", solicited, err)
		}
	}
}

// A queue pair's completions vanish with it; other completions keep their order.
func TestPurge(t *testing.T) {
	f, d := newDevice(t)
	c := d.newCQ(t, f, 8)
	gone, stays := d.newQP(t, f, rc(c), 1), d.newQP(t, f, rc(c), 2)
	for round := range uint64(4) {
		for id, handle := range []uint64{1, 2, 1, 2, 2, 1} {
			c.put(uapi.PVRDMACQE{WRID: 10*round + uint64(id), QP: handle})
		}
		gone.Reset()
		into := make([]provider.Completion, 8)
		n, err := c.Poll(into)
		var ids []uint64
		for _, x := range into[:n] {
			ids = append(ids, x.ID-10*round)
		}
		if diff := cmp.Diff([]uint64{1, 3, 4}, ids); diff != "" || err != nil {
			t.Errorf("round %d: got error %v, (-want +got):\n%s", round, err, diff)
		}
	}
	if err := errors.Join(gone.Close(), stays.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if d.find(1) != nil || d.find(2) != nil {
		t.Error("a closed queue pair is still known")
	}
}

func TestNewAH(t *testing.T) {
	f, d := newDevice(t)
	f.mac = [6]byte{2, 0, 0, 0, 0, 9}
	path := provider.Path{DGID: netip.MustParseAddr("::ffff:10.7.0.1"), SGIDIndex: 3, FlowLabel: 0x12345, HopLimit: 64, TrafficClass: 0x20, Port: 1}
	got, err := d.NewAH(path, 0x55, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &uapi.PVRDMAAV{
		PortPD: 1<<24 | 0x55, SLTClassFlowLabel: 0x20<<20 | 0x12345, DGID: path.DGID.As16(), SrcPathBits: 0x80, GIDIndex: 3, HopLimit: 64, DMAC: f.mac,
	}
	if *got.(*uapi.PVRDMAAV) != *want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	f.err = errors.New("no neighbour")
	if _, err := d.NewAH(path, 0x55, nil); !errors.Is(err, f.err) {
		t.Errorf("got error %v, want %v", err, f.err)
	}
	if _, err := d.NewAH(provider.Path{DLID: 7}, 0x55, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without a GID: got error %v, want %v", err, errors.ErrUnsupported)
	}
}

// Kernel errors are returned, and impossible responses are refused.
func TestRefused(t *testing.T) {
	f, d := newDevice(t)
	c := d.newCQ(t, f, 1)
	refused := errors.New("refused")
	used := d.newQP(t, f, rc(c), qpHandle)
	defer used.Close()
	newQP := func(attr provider.QPAttr) func() error {
		return func() error {
			attr.Cap = d.RoundQP(attr.Cap)
			_, err := d.NewQP(attr, answer(f, &f.qp, uapi.PVRDMACreateQPResp{QPHandle: qpHandle}, provider.Created{Number: 1}))
			return err
		}
	}
	uc, large := rc(c), rc(c)
	uc.Transport = provider.UC
	large.Cap.MaxSendSGE = 1<<32 - 1
	for name, test := range map[string]struct {
		create func() error
		err    error // of the kernel
		want   string
	}{
		"UC":            {newQP(uc), nil, "transport 3"},
		"too large":     {newQP(large), nil, "the adapter has up to"},
		"QP refused":    {newQP(rc(c)), refused, "refused"},
		"handle in use": {newQP(rc(c)), nil, "handle 0x7 is in use"},
		"CQ of 0": {func() error {
			_, err := d.NewCQ(provider.CQAttr{Entries: 4}, answer(f, &f.cq, 0, provider.Created{}))
			return err
		}, nil, "got 0 entries, want 4"},
		"CQ too large": {func() error { _, err := d.NewCQ(provider.CQAttr{Entries: 1 << 25}, nil); return err }, nil, "33554432 entries"},
		"CQ refused": {func() error {
			_, err := d.NewCQ(provider.CQAttr{Entries: 4}, answer(f, &f.cq, 0, provider.Created{}))
			return err
		}, refused, "refused"},
		"SRQ of 0": {func() error {
			_, err := d.NewSRQ(provider.SRQAttr{MaxWR: 4}, answer(f, &f.srq, 0, provider.Created{}))
			return err
		}, nil, "got 0 work requests, want 4"},
		"SRQ of XRC": {func() error { _, err := d.NewSRQ(provider.SRQAttr{CQ: c}, nil); return err }, nil, "XRC"},
		"SRQ refused": {func() error {
			_, err := d.NewSRQ(provider.SRQAttr{MaxWR: 4}, answer(f, &f.srq, 0, provider.Created{}))
			return err
		}, refused, "refused"},
		"no queue pairs": {func() error { _, err := New(f, nil); return err }, nil, "without queue pairs"},
	} {
		t.Run(name, func(t *testing.T) {
			f.err = test.err
			if err := test.create(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q in it", err, test.want)
			}
		})
	}
}

// Posting and polling do not allocate.
func TestAllocations(t *testing.T) {
	f, d := newDevice(t)
	c := d.newCQ(t, f, 4)
	q := d.newQP(t, f, rc(c), qpHandle)
	sends := []provider.SendWR{{Opcode: provider.OpWrite, SGEs: make([]provider.SGE, 1)}}
	recvs := []provider.RecvWR{{SGEs: make([]provider.SGE, 1)}}
	into := make([]provider.Completion, 4)
	allocations := testing.AllocsPerRun(100, func() {
		_, errSend := q.PostSend(sends)
		_, errRecv := q.PostRecv(recvs)
		c.put(uapi.PVRDMACQE{QP: qpHandle})
		n, errPoll := c.Poll(into)
		if err := errors.Join(errSend, errRecv, errPoll); err != nil || n != 1 {
			t.Fatalf("got %d completions and error %v", n, err)
		}
		q.send.state.ConsHead, q.recv.state.ConsHead = q.send.state.ProdTail, q.recv.state.ProdTail
	})
	if allocations != 0 {
		t.Errorf("got %v allocations, want 0", allocations)
	}
}

// Whatever the adapter writes, polling and removal end without a panic.
func FuzzPoll(f *testing.F) {
	f.Add(uint32(0), uint32(3), []byte("completion"))
	f.Add(uint32(1<<31), uint32(7), []byte{})
	f.Add(uint32(15), uint32(1), make([]byte, 512))
	f.Fuzz(func(t *testing.T, head, tail uint32, entries []byte) {
		dev, d := newDevice(t)
		c := d.newCQ(t, dev, 8)
		q := d.newQP(t, dev, rc(c), qpHandle)
		copy(c.ring.entries, entries)
		c.ring.state.ConsHead, c.ring.state.ProdTail = head, tail
		into := make([]provider.Completion, 3)
		if n, err := c.Poll(into); n > len(into) || n > 0 && c.ring.state.ConsHead >= 16 {
			t.Errorf("got %d completions, error %v and count %d", n, err, c.ring.state.ConsHead)
		}
		if err := q.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
