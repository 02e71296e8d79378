package siw

import (
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// golden returns the C program testdata/golden.c's lines.
func golden(t testing.TB) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[name] = value
	}
	return all
}

// A device is the kernel's queue part, on plain memory.
type device struct {
	provider.Device                   // nil: the other methods are not called
	rings           map[uint64][]byte // by key
	mapped          int
	bells           int
	brief           bool // of the last doorbell
	err             error
}

var errNoRing = errors.New("no such ring")

func (d *device) Map(key uint64, length int) ([]byte, error) {
	b := d.rings[key]
	if b == nil || length != len(b) {
		return nil, errNoRing
	}
	d.mapped++
	return b, nil
}

func (d *device) Unmap([]byte) error {
	d.mapped--
	return nil
}

func (d *device) Doorbell(uint32) provider.Doorbell { return (*bell)(d) }

func (*device) Notifier(uint32) provider.Notifier { return nil }

func (*device) Call(string, uint16, uint16, ...provider.Attr) error { return errors.ErrUnsupported }

func (*device) NUMANode() *int { return nil }

func (*device) Network(uint8, uint8) (provider.Network, error) { return 0, errors.ErrUnsupported }

type bell device

func (b *bell) Ring(brief bool) error {
	b.bells++
	b.brief = brief
	return b.err
}

// Ring keys and sizes.
const (
	sqKey, rqKey, cqKey, srqKey = 1 << 12, 2 << 12, 3 << 12, 4 << 12

	slots = 8
)

func newDevice() *device {
	return &device{rings: map[uint64][]byte{
		sqKey: plain(slots * uapi.SIWSQESize), rqKey: plain(slots * uapi.SIWRQESize), srqKey: plain(slots * uapi.SIWRQESize),
		cqKey: plain(slots*uapi.SIWCQESize + uapi.SIWCQCtrlSize),
	}}
}

// plain returns memory with a mapping's alignment.
func plain(size int) []byte {
	words := make([]uint64, size/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
}

// answer returns a Create with a fixed response.
func answer[T any](resp T, created provider.Created) provider.Create {
	return func(in, out []byte) (provider.Created, error) {
		if len(in) != 0 || len(out) != int(unsafe.Sizeof(resp)) {
			return provider.Created{}, errors.New("unexpected size of the driver's data")
		}
		copy(out, uapi.Bytes(&resp))
		return created, nil
	}
}

var (
	queueCap = provider.QPCap{MaxSendWR: 5, MaxRecvWR: 5, MaxSendSGE: 3, MaxRecvSGE: 3}
	qpAttr   = provider.QPAttr{Transport: provider.RC, Cap: queueCap}
	qpResp   = uapi.SIWCreateQPResp{NumSQE: slots, NumRQE: slots, SQKey: sqKey, RQKey: rqKey}
	cqResp   = uapi.SIWCreateCQResp{NumCQE: slots, Key: cqKey}
	srqResp  = uapi.SIWCreateSRQResp{NumRQE: slots, Key: srqKey}
)

func (d *device) newQP(t testing.TB, attr provider.QPAttr) *qp {
	t.Helper()
	q, err := New(d).NewQP(attr, answer(qpResp, provider.Created{Handle: 7, Cap: attr.Cap}))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*qp)
}

func (d *device) newCQ(t testing.TB) *cq {
	t.Helper()
	q, err := New(d).NewCQ(provider.CQAttr{}, answer(cqResp, provider.Created{}))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*cq)
}

func (d *device) newSRQ(t testing.TB) *srq {
	t.Helper()
	q, err := New(d).NewSRQ(provider.SRQAttr{MaxSGE: 2}, answer(srqResp, provider.Created{}))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*srq)
}

// consume takes an element from a ring, as the kernel does, and returns it.
func consume[T any](memory []byte, index int) (element []byte) {
	size := int(unsafe.Sizeof(*new(T)))
	b := memory[index*size : (index+1)*size]
	element = slices.Clone(b)
	b[8], b[9] = 0, 0 // flags
	return element
}

// Work requests have the layout that a C compiler gives them.
func TestPost_Golden(t *testing.T) {
	want := golden(t)
	d := newDevice()
	q := d.newQP(t, qpAttr)
	for i, test := range []struct {
		name string
		wr   provider.SendWR
	}{
		{"send", provider.SendWR{ID: 0x1122334455667788, Opcode: provider.OpSend, Flags: provider.SendSignaled | provider.SendSolicited, SGEs: []provider.SGE{
			{Addr: 0x7f0000001000, Length: 4096, LKey: 0xabcd01}, {Addr: 0x7f0000004000, Length: 7, LKey: 0xabcd02},
		}}},
		{"inline-write", provider.SendWR{ID: 2, Opcode: provider.OpWrite, Flags: provider.SendInline, Inline: []byte("hello"), RemoteAddr: 0x7f0000002000, RKey: 0x1203}},
		{"read", provider.SendWR{ID: 3, Opcode: provider.OpRead, Flags: provider.SendSignaled, SGEs: []provider.SGE{{Addr: 0x7f0000003000, Length: 64, LKey: 0xabcd03}}, RemoteAddr: 0x7f0000002008, RKey: 0x1204}},
		{"send-invalidate", provider.SendWR{ID: 4, Opcode: provider.OpSendInvalidate, Flags: provider.SendFence, InvalidateKey: 0x1205, RemoteAddr: 99}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if n, err := q.PostSend([]provider.SendWR{test.wr}); n != 1 || err != nil {
				t.Fatalf("got %d, %v, want 1", n, err)
			}
			if got := hex.EncodeToString(consume[uapi.SIWSQE](d.rings[sqKey], i)); got != want[test.name] {
				t.Errorf("got  %s\nwant %s", got, want[test.name])
			}
		})
	}
	if n, err := q.PostRecv([]provider.RecvWR{{ID: 5, SGEs: []provider.SGE{{Addr: 0x7f0000005000, Length: 100, LKey: 0xabcd04}}}}); n != 1 || err != nil {
		t.Fatalf("got %d, %v, want 1", n, err)
	}
	if got := hex.EncodeToString(consume[uapi.SIWRQE](d.rings[rqKey], 0)); got != want["receive"] {
		t.Errorf("receive: got %s\nwant %s", got, want["receive"])
	}
}

func TestPost_Rejected(t *testing.T) {
	d := newDevice()
	q := d.newQP(t, qpAttr)
	for _, test := range []struct {
		name string
		wr   provider.SendWR
		want error
	}{
		{"immediate data", provider.SendWR{Opcode: provider.OpSendWithImm}, provider.ErrOpcode},
		{"write with immediate data", provider.SendWR{Opcode: provider.OpWriteWithImm}, provider.ErrOpcode},
		{"atomic", provider.SendWR{Opcode: provider.OpFetchAdd}, provider.ErrOpcode},
		{"unknown", provider.SendWR{Opcode: 99}, provider.ErrOpcode},
		{"fenced read", provider.SendWR{Opcode: provider.OpRead, Flags: provider.SendFence, SGEs: make([]provider.SGE, 1)}, provider.ErrOpcode},
		{"read into two ranges", provider.SendWR{Opcode: provider.OpRead, SGEs: make([]provider.SGE, 2)}, provider.ErrSGEs},
		{"read into nothing", provider.SendWR{Opcode: provider.OpRead}, provider.ErrSGEs},
		{"too many SGEs", provider.SendWR{Opcode: provider.OpSend, SGEs: make([]provider.SGE, 4)}, provider.ErrSGEs},
		{"too much inline data", provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, Inline: make([]byte, 81)}, provider.ErrInline},
		{"inline read", provider.SendWR{Opcode: provider.OpRead, Flags: provider.SendInline}, provider.ErrInline},
		{"inline send with invalidate", provider.SendWR{Opcode: provider.OpSendInvalidate, Flags: provider.SendInline}, provider.ErrInline},
		{"too long", provider.SendWR{Opcode: provider.OpSend, SGEs: []provider.SGE{{Length: 1 << 31}, {Length: 1 << 31}}}, provider.ErrLength},
	} {
		t.Run(test.name, func(t *testing.T) {
			if n, err := q.PostSend([]provider.SendWR{test.wr}); n != 0 || !errors.Is(err, test.want) {
				t.Errorf("got %d, %v, want %v", n, err, test.want)
			}
		})
	}
	if n, err := q.PostRecv([]provider.RecvWR{{}, {SGEs: make([]provider.SGE, 4)}}); n != 1 || !errors.Is(err, provider.ErrSGEs) {
		t.Errorf("receives: got %d, %v, want 1, %v", n, err, provider.ErrSGEs)
	}
	if d.bells != 0 {
		t.Errorf("got %d doorbells, want 0", d.bells)
	}
}

// The doorbell is rung only if the kernel does not process the ring.
func TestPost_Doorbell(t *testing.T) {
	d := newDevice()
	q := d.newQP(t, qpAttr)
	send := provider.SendWR{Opcode: provider.OpSend}
	post := func(count, want, bells int, wantErr error) {
		t.Helper()
		n, err := q.PostSend(slices.Repeat([]provider.SendWR{send}, count))
		if n != want || !errors.Is(err, wantErr) || d.bells != bells {
			t.Errorf("got %d posted, error %v, %d doorbells, want %d, %v, %d", n, err, d.bells, want, wantErr, bells)
		}
	}
	post(1, 1, 1, nil)
	post(2, 2, 1, nil) // the kernel has not taken the first work request
	for i := range 3 {
		consume[uapi.SIWSQE](d.rings[sqKey], i)
	}
	post(1, 1, 2, nil)
	post(slots, slots-1, 2, provider.ErrFull)
	post(1, 0, 2, provider.ErrFull)
	for i := range slots {
		consume[uapi.SIWSQE](d.rings[sqKey], i)
	}
	post(slots, slots, 3, nil) // the whole ring: the element before is its own last element
	post(1, 0, 3, provider.ErrFull)
	d.err = errors.New("failed")
	consume[uapi.SIWSQE](d.rings[sqKey], 2)
	consume[uapi.SIWSQE](d.rings[sqKey], 3)
	post(2, 1, 4, d.err)
}

func TestPostRecv_Full(t *testing.T) {
	d := newDevice()
	for _, q := range []interface {
		PostRecv([]provider.RecvWR) (int, error)
	}{d.newQP(t, qpAttr), d.newSRQ(t)} {
		if n, err := q.PostRecv(make([]provider.RecvWR, slots+1)); n != slots || !errors.Is(err, provider.ErrFull) {
			t.Errorf("got %d, %v, want %d, %v", n, err, slots, provider.ErrFull)
		}
	}
	consume[uapi.SIWRQE](d.rings[srqKey], 0)
	q := d.newQP(t, provider.QPAttr{Transport: provider.RC, SRQ: d.newSRQ(t)})
	if n, err := q.PostRecv(make([]provider.RecvWR, 1)); n != 0 || !errors.Is(err, provider.ErrFull) {
		t.Errorf("queue pair with an SRQ: got %d, %v, want %v", n, err, provider.ErrFull)
	}
}

// put writes a completion into the ring, as the kernel does.
func (d *device) put(t testing.TB, index int, text string) {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	copy(d.rings[cqKey][index*uapi.SIWCQESize:], b)
}

func TestPoll(t *testing.T) {
	lines := golden(t)
	d := newDevice()
	q := d.newCQ(t)
	into := make([]provider.Completion, 3)
	if n, err := q.Poll(into); n != 0 || err != nil {
		t.Errorf("empty ring: got %d, %v", n, err)
	}
	for round := range 5 {
		first := round * 2 % slots
		d.put(t, first, lines["completion"])
		d.put(t, first+1, lines["failed-completion"])
		n, err := q.Poll(into)
		want := []provider.Completion{
			{ID: 6, Opcode: provider.CompletedRecv, ByteLen: 99, QPN: 0x17, Flags: provider.CompletionWithInv, InvKey: 0x1206},
			{ID: 7, Opcode: provider.CompletedWrite, Status: provider.StatusRemoteAccess, QPN: 0x18},
		}
		if n != 2 || err != nil || !slices.Equal(into[:n], want) {
			t.Fatalf("round %d: got %d, %v, %+v, want %+v", round, n, err, into[:n], want)
		}
	}
}

func TestArm(t *testing.T) {
	d := newDevice()
	q := d.newCQ(t)
	for solicited, want := range map[bool]byte{true: 1, false: 3} {
		if err := q.Arm(solicited); err != nil || d.rings[cqKey][slots*uapi.SIWCQESize] != want {
			t.Errorf("solicited %v: got %v, word %x, want %d", solicited, err, d.rings[cqKey][slots*uapi.SIWCQESize:], want)
		}
	}
}

// Posting and polling do not allocate.
func TestNoAllocation(t *testing.T) {
	d := newDevice()
	q, c := d.newQP(t, qpAttr), d.newCQ(t)
	sends := []provider.SendWR{{Opcode: provider.OpSend, SGEs: make([]provider.SGE, 1)}}
	recvs, into := []provider.RecvWR{{SGEs: make([]provider.SGE, 1)}}, make([]provider.Completion, 4)
	if n := testing.AllocsPerRun(100, func() {
		_, _ = q.PostSend(sends)
		_, _ = q.PostRecv(recvs)
		_, _ = c.Poll(into)
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// A failed New… leaves no mapping, and Close removes each.
func TestNew(t *testing.T) {
	refused := errors.New("refused")
	refuse := func([]byte, []byte) (provider.Created, error) { return provider.Created{}, refused }
	d := newDevice()
	p := New(d)
	created := provider.Created{Cap: queueCap}
	qpOf := func(change func(*uapi.SIWCreateQPResp)) func() error {
		resp := qpResp
		change(&resp)
		return func() error {
			_, err := p.NewQP(qpAttr, answer(resp, created))
			return err
		}
	}
	for name, test := range map[string]struct {
		make func() error
		want error
	}{
		"CQ refused":        {func() error { _, err := p.NewCQ(provider.CQAttr{}, refuse); return err }, refused},
		"QP refused":        {func() error { _, err := p.NewQP(qpAttr, refuse); return err }, refused},
		"SRQ refused":       {func() error { _, err := p.NewSRQ(provider.SRQAttr{}, refuse); return err }, refused},
		"UD":                {func() error { _, err := p.NewQP(provider.QPAttr{Transport: provider.UD}, refuse); return err }, provider.ErrOpcode},
		"AH":                {func() error { _, err := p.NewAH(provider.Path{}, 0, refuse); return err }, errors.ErrUnsupported},
		"no mapping":        {qpOf(func(r *uapi.SIWCreateQPResp) { r.SQKey = uapi.SIWInvalidKey }), provider.ErrCorrupt},
		"no power of two":   {qpOf(func(r *uapi.SIWCreateQPResp) { r.NumSQE = 7 }), provider.ErrCorrupt},
		"no elements":       {qpOf(func(r *uapi.SIWCreateQPResp) { r.NumSQE = 0 }), provider.ErrCorrupt},
		"too many elements": {qpOf(func(r *uapi.SIWCreateQPResp) { r.NumSQE = 1 << 31 }), provider.ErrCorrupt},
		"not mapped":        {qpOf(func(r *uapi.SIWCreateQPResp) { r.RQKey = 99 }), errNoRing},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.make(); !errors.Is(err, test.want) || d.mapped != 0 {
				t.Errorf("got error %v, %d mappings, want %v and none", err, d.mapped, test.want)
			}
		})
	}
	q := d.newQP(t, qpAttr)
	if c := q.Cap(); c != (provider.QPCap{MaxSendWR: slots, MaxRecvWR: slots, MaxSendSGE: 3, MaxRecvSGE: 3, MaxInline: 80}) {
		t.Errorf("got capacity %+v", c)
	}
	if err := errors.Join(q.Close(), d.newCQ(t).Close(), d.newSRQ(t).Close()); err != nil || d.mapped != 0 {
		t.Errorf("got %v, %d mappings, want none", err, d.mapped)
	}
}

// Regions have different keys.
func TestRegisterMR(t *testing.T) {
	p := New(newDevice()).(*siw)
	a, out := p.RegisterMR()
	b, _ := p.RegisterMR()
	if len(a) != 8 || len(out) != 8 || a[0] == b[0] {
		t.Errorf("got %x, %x, response of %d bytes, want 8 bytes and different keys", a, b, len(out))
	}
}

// Any ring contents end in completions with known statuses, and never more
// than the ring has.
func FuzzPoll(f *testing.F) {
	for _, name := range []string{"completion", "failed-completion"} {
		b, err := hex.DecodeString(golden(f)[name])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, contents []byte) {
		d := newDevice()
		q := d.newCQ(t)
		copy(d.rings[cqKey], contents)
		into := make([]provider.Completion, 2*slots)
		n, err := q.Poll(into)
		if n > slots || err != nil {
			t.Fatalf("got %d completions, error %v, want at most %d", n, err, slots)
		}
		for _, c := range into[:n] {
			if c.Status > provider.StatusGeneral || strings.HasPrefix(c.Status.String(), "status ") {
				t.Errorf("got status %d", c.Status)
			}
		}
	})
}
