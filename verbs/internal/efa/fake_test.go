package efa

import (
	"errors"
	"os"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// The mapping keys of a fake's objects.
const (
	keyCQ = 4096 * (iota + 1)
	keyCQBell
	keyLLQ
	keySendBell
	keyReceive
	keyReceiveBell
)

// The register and ring offsets in their pages.
const (
	atCQ      = 16
	atLLQ     = 512
	atSend    = 24
	atReceive = 40
)

// A fake is a device with rings and registers in plain memory.
type fake struct {
	provider.Device
	*device
	mapped map[uint64][]byte // the last mapping by its key
	open   int               // mappings
	cq     uapi.EFACreateCQ  // last command data
	qp     uapi.EFACreateQP
	limits uapi.EFAQueryDeviceResp
	number uint32
	err    error // from create
	mapErr uint64
}

func (f *fake) Map(offset uint64, length int) ([]byte, error) {
	if offset == f.mapErr {
		return nil, errors.New("no memory there")
	}
	f.open++
	words := make([]uint64, length/8)
	f.mapped[offset] = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), length)
	return f.mapped[offset], nil
}

func (f *fake) Unmap([]byte) error { f.open--; return nil }

func (f *fake) QueryDevice(vendor []byte) error {
	copy(vendor, uapi.Bytes(&f.limits))
	return f.err
}

// bell returns a register's last value, and clears it.
func (f *fake) bell(key uint64, offset int) uint32 {
	p := (*uint32)(unsafe.Pointer(&f.mapped[key][offset]))
	v := *p
	*p = 0
	return mmio.LE32(v)
}

// context is the response to GET_CONTEXT.
func context() uapi.EFAAllocUcontextResp {
	return uapi.EFAAllocUcontextResp{
		CmdsSuppUdataMask: uapi.EFASuppQueryDevice | uapi.EFASuppCreateAH, SubCQsPerCQ: 1, InlineBufSize: 32, MaxLLQSize: 1 << 16,
	}
}

// newFake returns a device with changes of its context.
func newFake(t testing.TB, change func(*uapi.EFAAllocUcontextResp)) *fake {
	t.Helper()
	f := &fake{mapped: map[uint64][]byte{}, number: qpNumber, limits: uapi.EFAQueryDeviceResp{
		MaxSQWR: 4096, MaxRQWR: 32768, MaxSQSGE: 2, MaxRQSGE: 4, MaxRDMASize: 1 << 30,
		DeviceCaps: uapi.EFADeviceRead | uapi.EFADeviceWrite | uapi.EFADeviceNotifications,
	}}
	r := context()
	if change != nil {
		change(&r)
	}
	p, err := New(f, uapi.Bytes(&r))
	if err != nil {
		t.Fatal(err)
	}
	f.device = p.(*device)
	return f
}

const (
	qpNumber = 0x123
	ahNumber = 0x45
)

// createCQ answers with the response of the kernel's driver.
func (f *fake) createCQ(entries uint32) provider.Create {
	return func(in, out []byte) (provider.Created, error) {
		if f.err != nil {
			return provider.Created{}, f.err
		}
		f.cq = uapi.Decode[uapi.EFACreateCQ](in)
		size := f.RoundCQ(entries)
		resp := uapi.EFACreateCQResp{QMmapKey: keyCQ, QMmapSize: pages(uint64(size) * uint64(f.cq.CQEntrySize) * uint64(f.cq.NumSubCQs))}
		if f.cq.Flags&uapi.EFACQWithChannel != 0 {
			resp.CompMask, resp.DBOff, resp.DBMmapKey = uapi.EFACQDBOffset, atCQ, keyCQBell
		}
		copy(out, uapi.Bytes(&resp))
		return provider.Created{CQE: size}, nil
	}
}

func (f *fake) newCQ(t testing.TB, entries uint32) *cq {
	t.Helper()
	q, err := f.NewCQ(provider.CQAttr{Entries: entries, Events: true}, f.createCQ(entries))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*cq)
}

// createQP answers with the response of the kernel's driver, with changes.
func (f *fake) createQP(change func(*uapi.EFACreateQPResp)) provider.Create {
	return func(in, out []byte) (provider.Created, error) {
		if f.err != nil {
			return provider.Created{}, f.err
		}
		f.qp = uapi.Decode[uapi.EFACreateQP](in)
		resp := uapi.EFACreateQPResp{
			RQDBOffset: atReceive, SQDBOffset: atSend, LLQDescOffset: atLLQ, RQMmapKey: keyReceive, RQMmapSize: pages(uint64(f.qp.RQRingSize)),
			RQDBMmapKey: keyReceiveBell, SQDBMmapKey: keySendBell, LLQDescMmapKey: keyLLQ,
		}
		if change != nil {
			change(&resp)
		}
		copy(out, uapi.Bytes(&resp))
		return provider.Created{Number: f.number}, nil
	}
}

func (f *fake) newQP(t testing.TB, attr provider.QPAttr) *qp {
	t.Helper()
	attr.Cap = f.RoundQP(attr.Cap)
	q, err := f.NewQP(attr, f.createQP(nil))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*qp)
}

// srd are the attributes for a queue pair.
func srd(c *cq) provider.QPAttr {
	return provider.QPAttr{Transport: provider.SRD, Cap: provider.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInline: 32}, SendCQ: c, RecvCQ: c}
}

var to = provider.NewDestination(&ah{ahNumber})

// An adapter writes completions as the hardware does.
type adapter struct {
	q     *cq
	sub   int
	index uint32
}

// put stores a completion without its phase bit.
func (a *adapter) put(words cqe) {
	ring := a.q.subs[a.sub].ring
	size := uint32(len(ring))
	e := &ring[a.index&(size-1)]
	for i, w := range words {
		e[i] = mmio.LE64(w)
	}
	if a.index&size == 0 {
		e[0] |= mmio.LE64(1 << 24)
	}
	a.index++
}

// sent completes a send work request.
func (a *adapter) sent(q *qp, op, requestID, status uint64) {
	a.put(cqe{requestID&0xffff | status<<cqeStatus | queueSend<<cqeQueue | op<<cqeOp | uint64(q.number)<<cqeQPN})
}

// received completes a receive work request.
func (a *adapter) received(q *qp, op, requestID, length, flags uint64) {
	a.put(cqe{
		requestID&0xffff | queueReceive<<cqeQueue | op<<cqeOp | flags | uint64(q.number)<<cqeQPN | length&0xffff<<cqeLength,
		0x77 | 0x321<<16 | 0x01020304<<32, length >> 16,
	})
}

func poll(t *testing.T, q *cq, want ...provider.Completion) {
	t.Helper()
	into := make([]provider.Completion, len(want)+2)
	n, err := q.Poll(into)
	if diff := cmp.Diff(want, into[:n:n]); (diff != "" && len(want)+n > 0) || err != nil {
		t.Errorf("got error %v, (-want +got):\n%s", err, diff)
	}
}

// sends are signaled sends with IDs.
func sends(ids ...uint64) (wrs []provider.SendWR) {
	for _, id := range ids {
		wrs = append(wrs, provider.SendWR{ID: id, Opcode: provider.OpSend, Flags: provider.SendSignaled, AH: to})
	}
	return wrs
}

// post posts send work requests.
func post(t testing.TB, q *qp, wrs ...provider.SendWR) {
	t.Helper()
	if n, err := q.PostSend(wrs); n != len(wrs) || err != nil {
		t.Fatalf("got %d posted and error %v, want %d", n, err, len(wrs))
	}
}

// requestID returns the request ID in a slot of the send ring.
func (q *qp) requestID(slot int) uint64 {
	return mmio.LE64(q.send.ring[slot*int(q.send.blocks)][0]) & 0xffff
}

// bytes returns the memory of the send ring.
func (q *qp) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(q.send.ring))), len(q.send.ring)*smallWQE)
}

var page = os.Getpagesize()
