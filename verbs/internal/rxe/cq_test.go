package rxe

import (
	"errors"
	"slices"
	"testing"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// complete adds a completion, as the kernel does.
func (d *device) complete(wc uapi.WC) {
	b := d.rings[cqOffset]
	h := head(b)
	slot := b[uapi.RXEQueueBufSize+int(h.ProducerIndex)<<h.Log2ElemSize:]
	copy(slot, uapi.Bytes(&wc))
	h.ProducerIndex = (h.ProducerIndex + 1) & h.IndexMask
}

func TestPoll(t *testing.T) {
	d := newDevice()
	q := d.newCQ(t)
	var into [4]provider.Completion
	if n, err := q.Poll(into[:]); n != 0 || err != nil {
		t.Errorf("empty queue: got %d completions, error %v, want 0", n, err)
	}
	all := uapi.WC{
		WRID: 1, Status: 0, Opcode: 129, VendorErr: 2, ByteLen: 3, Ex: [4]byte{1, 2, 3, 4}, QPNum: 5, SrcQP: 6, Flags: 3,
		PKeyIndex: 7, SLID: 8, SL: 9, PathBits: 10,
	}
	want := provider.Completion{
		ID: 1, Opcode: provider.CompletedRecvWriteImm, VendorErr: 2, ByteLen: 3, Imm: 0x01020304, QPN: 5, SrcQPN: 6,
		Flags: provider.CompletionGRH | provider.CompletionWithImm, PKeyIndex: 7, SLID: 8, SL: 9, PathBits: 10,
	}
	d.complete(all)
	all.Flags = ^uint32(0) &^ 3 // other kernel flags are dropped
	d.complete(all)
	all.Flags = ^uint32(0) &^ 7
	all.Status = 12
	d.complete(all)
	all.Status = 1 << 8 // invalid status that is 0 in its low 8 bits
	d.complete(all)
	if n, err := q.Poll(into[:]); n != 4 || err != nil {
		t.Fatalf("got %d completions, error %v, want 4", n, err)
	}
	wants := []provider.Completion{want, want, want, want}
	wants[1].Flags, wants[1].Imm, wants[1].InvKey = provider.CompletionWithInv, 0, 0x04030201
	for i := range wants[2:] {
		wants[i+2].Flags, wants[i+2].Imm = 0, 0
	}
	wants[2].Status, wants[3].Status = provider.StatusRetryExceeded, provider.StatusGeneral
	if !slices.Equal(into[:], wants) {
		t.Errorf("got %+v\nwant %+v", into, wants)
	}
	if n, err := q.Poll(nil); n != 0 || err != nil {
		t.Errorf("empty slice: got %d completions, error %v, want 0", n, err)
	}
}

// Completions arrive in order for any number per poll, past the ring's end
// several times.
func TestPollAround(t *testing.T) {
	d := newDevice()
	q := d.newCQ(t)
	added, taken := uint64(0), uint64(0)
	into := make([]provider.Completion, slots)
	for round := range 100 {
		for range min(round%7, slots-1-int(added-taken)) {
			d.complete(uapi.WC{WRID: added})
			added++
		}
		limit := round % 5
		n, err := q.Poll(into[:limit])
		if err != nil || n != min(limit, int(added-taken)) {
			t.Fatalf("round %d: got %d completions, error %v, want %d", round, n, err, min(limit, int(added-taken)))
		}
		for _, c := range into[:n] {
			if c.ID != taken {
				t.Fatalf("got ID %d, want %d", c.ID, taken)
			}
			taken++
		}
		if c := head(d.rings[cqOffset]).ConsumerIndex; c != uint32(taken)%slots {
			t.Fatalf("got consumer %d, want %d", c, taken%slots)
		}
	}
	if taken < 3*slots {
		t.Errorf("got %d completions, want at least %d", taken, 3*slots)
	}
	head(d.rings[cqOffset]).ProducerIndex = slots
	if n, err := q.Poll(into); n != 0 || !errors.Is(err, provider.ErrCorrupt) {
		t.Errorf("corrupt ring: got %d completions, error %v, want %v", n, err, provider.ErrCorrupt)
	}
}

func TestArm(t *testing.T) {
	d := newDevice()
	q := d.newCQ(t)
	for _, solicited := range []bool{false, true} {
		if err := q.Arm(solicited); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(d.armed, []bool{false, true}) {
		t.Errorf("got %v armed, want [false true]", d.armed)
	}
}

// FuzzPoll overwrites the head and the slots with arbitrary bytes between polls.
func FuzzPoll(f *testing.F) {
	f.Add([]byte{}, uint8(4))
	for _, producer := range []byte{0, 1, 15, 16, 255} {
		b := make([]byte, uapi.RXEQueueBufSize+3*64)
		b[0], b[4], b[128] = 6, slots-1, producer
		f.Add(b, uint8(8))
	}
	f.Fuzz(func(t *testing.T, written []byte, limit uint8) {
		d := newDevice()
		q := d.newCQ(t)
		copy(d.rings[cqOffset], written)
		into := make([]provider.Completion, limit)
		for range 3 {
			n, err := q.Poll(into)
			if n < 0 || n > int(limit) || n > slots-1 {
				t.Fatalf("got %d completions, want at most %d", n, min(int(limit), slots-1))
			}
			if err != nil && (n != 0 || !errors.Is(err, provider.ErrCorrupt)) {
				t.Fatalf("got %d completions and error %v", n, err)
			}
			for i := range into[:n] {
				if c := &into[i]; c.Status > provider.StatusGeneral || (c.Err() == nil) != (c.Status == provider.StatusOK) {
					t.Fatalf("got status %v and error %v", c.Status, c.Err())
				} else if c.Err() != nil && c.Err().Error() == "" {
					t.Fatal("got an empty error text")
				}
			}
			if n > 0 && head(d.rings[cqOffset]).ConsumerIndex >= slots {
				t.Fatalf("got consumer %d, want less than %d", head(d.rings[cqOffset]).ConsumerIndex, slots)
			}
		}
	})
}

// FuzzRing checks that a head with arbitrary numbers is rejected, or that all slots
// lie within the memory.
func FuzzRing(f *testing.F) {
	f.Add(uint32(6), uint32(15), uint16(1024), uint32(48), uint32(3))
	f.Add(uint32(31), uint32(0), uint16(64), uint32(1), uint32(1<<31))
	f.Add(uint32(0), ^uint32(0), uint16(0), uint32(0), ^uint32(0))
	f.Fuzz(func(t *testing.T, shift, mask uint32, length uint16, element, index uint32) {
		b := plain(1, 16)[:uapi.RXEQueueBufSize+int(length)]
		head(b).Log2ElemSize, head(b).IndexMask = shift, mask
		element %= 1 << 12
		r, err := newRing(b, int(element))
		if err != nil {
			if !errors.Is(err, provider.ErrCorrupt) {
				t.Fatalf("got error %v, want %v", err, provider.ErrCorrupt)
			}
			return
		}
		at := uintptr(r.slot(index)) - uintptr(r.slots)
		if at+uintptr(element) > uintptr(length) || at>>shift<<shift != at {
			t.Fatalf("got slot %d at %d of %d bytes", index, at, length)
		}
	})
}

// BenchmarkPostPoll posts a send and polls its completion, with a kernel that only
// completes.
func BenchmarkPostPoll(b *testing.B) {
	for _, test := range []struct {
		name string
		wr   provider.SendWR
	}{
		{"SGE", provider.SendWR{Opcode: provider.OpSend, SGEs: []provider.SGE{{Addr: 4096, Length: 64, LKey: 1}}}},
		{"inline", provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, Inline: make([]byte, 32)}},
	} {
		b.Run(test.name, func(b *testing.B) {
			step := postPoll(b, test.wr)
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}

// postPoll returns a function that posts to both queues and polls once.
func postPoll(t testing.TB, wr provider.SendWR) func() {
	d := newDevice()
	qp, cq := d.newQP(t, provider.RC, false), d.newCQ(t)
	sends, recvs, into := []provider.SendWR{wr}, []provider.RecvWR{{SGEs: make([]provider.SGE, 1)}}, make([]provider.Completion, 4)
	sq, rq := head(d.rings[sqOffset]), head(d.rings[rqOffset])
	return func() {
		if n, err := qp.PostSend(sends); n != 1 || err != nil {
			t.Fatalf("got %d posted, error %v, want 1", n, err)
		}
		if n, err := qp.PostRecv(recvs); n != 1 || err != nil {
			t.Fatalf("got %d posted, error %v, want 1", n, err)
		}
		sq.ConsumerIndex, rq.ConsumerIndex = sq.ProducerIndex, rq.ProducerIndex
		d.complete(uapi.WC{})
		if n, err := cq.Poll(into); n != 1 || err != nil {
			t.Fatalf("got %d completions, error %v, want 1", n, err)
		}
	}
}

// Posting, polling and rejected work requests do not allocate.
func TestNoAllocation(t *testing.T) {
	for name, step := range map[string]func(){
		"SGE":    postPoll(t, provider.SendWR{Opcode: provider.OpSend, SGEs: make([]provider.SGE, 2)}),
		"inline": postPoll(t, provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, Inline: make([]byte, 32)}),
	} {
		t.Run(name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, step); n != 0 {
				t.Errorf("got %v allocations, want 0", n)
			}
		})
	}
	d := newDevice()
	q := d.newQP(t, provider.UD, false)
	wrs := []provider.SendWR{{Opcode: provider.OpSend}}
	if n := testing.AllocsPerRun(100, func() { _, _ = q.PostSend(wrs) }); n != 0 {
		t.Errorf("rejected work request: got %v allocations, want 0", n)
	}
}
