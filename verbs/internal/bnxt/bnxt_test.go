package bnxt

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A fake is a device with the doorbells in plain memory.
type fake struct {
	provider.Device
	*device
	page, shared []byte
	toggle       []byte // nil: a driver without toggles
	mapped       int
	cq           uapi.BNXTCQReq // last command data
	qp           uapi.BNXTQPReq
	srq          uapi.BNXTSRQReq
	err          error // from create
	number       uint32
	polled       []uint32 // completion queues in the kernel
}

const doorbells = 0x7000 // offset of the mapping

func (f *fake) Domain() ([]byte, error) {
	return uapi.Bytes(&uapi.BNXTPDResp{PDID: 3, DPI: 2, DBR: doorbells}), nil
}

func (f *fake) Map(offset uint64, length int) ([]byte, error) {
	b := make([]byte, length)
	switch offset {
	case doorbells:
		f.page = b
	case 0:
		f.shared = b
	default:
		return nil, errors.New("no such mapping")
	}
	f.mapped++
	return b, nil
}

func (f *fake) MapRead(offset uint64, length int) ([]byte, error) {
	if offset != 0x9000 || length != minPage {
		return nil, errors.New("no toggle there")
	}
	f.mapped++
	return f.toggle, nil
}

func (f *fake) Unmap([]byte) error { f.mapped--; return nil }

func (f *fake) NUMANode() *int { return nil }

func (f *fake) PollCQ(cq uint32) error { f.polled = append(f.polled, cq); return nil }

func (f *fake) Call(_ string, object, method uint16, attrs ...provider.Attr) error {
	if object != uapi.BNXTObjectToggle || method != uapi.BNXTMethodToggle || len(attrs) != 6 || binary.NativeEndian.Uint32(attrs[2].In) == 0 {
		return errors.New("no such method")
	}
	binary.NativeEndian.PutUint64(attrs[3].Out, 0x9000)
	binary.NativeEndian.PutUint32(attrs[4].Out, minPage)
	return nil
}

// bell returns the doorbell's last value, and clears it.
func (f *fake) bell() uint64 {
	p := (*uint64)(unsafe.Pointer(&f.page[0]))
	v := *p
	*p = 0
	return mmio.LE64(v)
}

// bellOf returns a doorbell's value.
func bellOf(kind, number, index uint64) uint64 {
	return kind<<60 | 1<<58 | number<<32 | index
}

// The chips.
const (
	thor  = 0x1750
	thor2 = 0x1760
	older = 0x16d7
)

// response is the response to GET_CONTEXT of a chip.
func response(chip uint32, properties uint64) uapi.BNXTContextResp {
	r := uapi.BNXTContextResp{DevID: 1, MaxQP: 1 << 16, PgSize: minPage, CQESz: entrySize, MaxCQD: 1<<16 - 1, CompMask: uapi.BNXTHaveChip | properties, ChipID0: chip | 0x10<<16}
	if properties&uapi.BNXTHaveMode != 0 {
		r.Mode = uapi.BNXTModeVariable
	}
	return r
}

func newFake(t testing.TB, chip uint32, properties uint64) *fake {
	t.Helper()
	f := &fake{number: 0x23}
	r := response(chip, properties)
	p, err := New(f, uapi.Bytes(&r))
	if err != nil {
		t.Fatal(err)
	}
	f.device = p.(*device)
	return f
}

// answer returns a create function that stores the driver's data and returns a response.
func answer[T, R any](f *fake, into *T, resp R) provider.Create {
	return func(in, out []byte) (provider.Created, error) {
		if f.err != nil {
			return provider.Created{}, f.err
		}
		*into = uapi.Decode[T](in)
		copy(out, uapi.Bytes(&resp))
		return provider.Created{Handle: 77}, nil
	}
}

func (f *fake) newCQ(t testing.TB, entries uint32) *cq {
	t.Helper()
	resp := uapi.BNXTCQResp{CQID: f.number, Phase: 1}
	if f.toggle != nil {
		resp.CompMask = uapi.BNXTCQToggle
	}
	q, err := f.device.NewCQ(provider.CQAttr{Entries: entries}, answer(f, &f.cq, resp))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*cq)
}

func (f *fake) newQP(t testing.TB, attr provider.QPAttr) *qp {
	t.Helper()
	q, err := f.device.NewQP(attr, answer(f, &f.qp, uapi.BNXTQPResp{QPID: f.number}))
	if err != nil {
		t.Fatal(err)
	}
	q.(*qp).Sequence(new(uint32(0xfffffe)), new(uint32(1024)))
	return q.(*qp)
}

func (f *fake) newSRQ(t testing.TB, attr provider.SRQAttr) *srq {
	t.Helper()
	resp := uapi.BNXTSRQResp{SRQID: f.number}
	if f.toggle != nil {
		resp.CompMask = uapi.BNXTSRQToggle
	}
	q, err := f.device.NewSRQ(attr, answer(f, &f.srq, resp))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*srq)
}

// rc are the attributes for a queue pair.
func rc(c *cq) provider.QPAttr {
	return provider.QPAttr{Transport: provider.RC, Cap: provider.QPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInline: 40}, SendCQ: c, RecvCQ: c}
}

// An adapter writes completions as the hardware does.
type adapter struct {
	q     *cq
	index uint32
	odd   uint32
}

// put stores a completion.
func (a *adapter) put(words entry) {
	words[3] |= uint64(1 ^ a.odd)
	e := &a.q.ring[a.index]
	for i := range e {
		e[i] = mmio.LE64(words[i])
	}
	if a.index++; a.index == uint32(len(a.q.ring)) {
		a.index = 0
		a.odd ^= 1
	}
}

// sent completes the send work requests before an entry.
func (a *adapter) sent(q *qp, behind, status uint64) {
	a.put(entry{q.handle, behind, 0, status<<cqeStatus | typeSend<<cqeType})
}

// received completes a receive work request.
func (a *adapter) received(q *qp, length, number, flags uint64) {
	a.put(entry{length, q.handle, 0, number<<32 | flags | typeRecvRC<<cqeType})
}

// ended reports a queue pair in error.
func (a *adapter) ended(q *qp) { a.put(entry{q.handle, 0, 0, typeTerminal << cqeType}) }

func poll(t *testing.T, q *cq, want ...provider.Completion) {
	t.Helper()
	into := make([]provider.Completion, len(want)+2)
	n, err := q.Poll(into)
	if diff := cmp.Diff(want, into[:n:n]); (diff != "" && len(want)+n > 0) || err != nil {
		t.Errorf("got error %v, (-want +got):\n%s", err, diff)
	}
}

func postSends(t *testing.T, q *qp, flags provider.SendFlags, ids ...uint64) {
	t.Helper()
	for _, id := range ids {
		if _, err := q.PostSend([]provider.SendWR{{ID: id, Opcode: provider.OpSend, Flags: flags}}); err != nil {
			t.Fatal(err)
		}
	}
}

// words returns words of a ring or a table in the processor's byte order.
func words(w []uint64) []uint64 {
	w = slices.Clone(w)
	for i := range w {
		w[i] = mmio.LE64(w[i])
	}
	return w
}

// slots returns slots as words.
func slots(s []slot) []uint64 {
	return words(unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*2))
}
