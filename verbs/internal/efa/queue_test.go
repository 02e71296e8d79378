package efa

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// Commands have the sizes that the library computes, mappings the sizes of the driver, and Close
// undoes them.
func TestSizes(t *testing.T) {
	f := newFake(t, nil)
	c := f.newCQ(t, 100)
	if want := (uapi.EFACreateCQ{CQEntrySize: 32, NumSubCQs: 1, Flags: uapi.EFACQWithChannel}); f.cq != want || len(f.mapped[keyCQ]) != page {
		t.Errorf("CQ: got %+v and %d bytes, want %+v and a page", f.cq, len(f.mapped[keyCQ]), want)
	}
	attr := srd(c)
	attr.Cap = provider.QPCap{MaxSendWR: 100, MaxRecvWR: 100, MaxSendSGE: 2, MaxRecvSGE: 3, MaxInline: 32}
	q := f.newQP(t, attr)
	if want := (uapi.EFACreateQP{RQRingSize: 512 * 16, SQRingSize: 128 * 64}); f.qp != want {
		t.Errorf("QP: got %+v, want %+v", f.qp, want)
	}
	if got, want := q.Cap(), (provider.QPCap{MaxSendWR: 128, MaxRecvWR: 170, MaxSendSGE: 2, MaxRecvSGE: 3, MaxInline: 32}); got != want {
		t.Errorf("QP: got %+v, want %+v", got, want)
	}
	if got, want := len(f.mapped[keyLLQ]), int(pages(128*64+atLLQ)); got != want {
		t.Errorf("send ring: got %d bytes, want %d", got, want)
	}
	if err := errors.Join(q.Close(), c.Close(), f.device.Close()); err != nil || f.open != 0 {
		t.Errorf("Close: got error %v and %d mappings", err, f.open)
	}
	f = newFake(t, func(r *uapi.EFAAllocUcontextResp) { r.MinSQWR, r.InlineBufSizeEx, r.SubCQsPerCQ = 16, 80, 2 })
	c = f.newCQ(t, 128)
	if len(f.mapped[keyCQ]) != max(page, 2*128*32) {
		t.Errorf("CQ of two rings: got %d bytes", len(f.mapped[keyCQ]))
	}
	attr = srd(c)
	attr.Cap = provider.QPCap{MaxSendWR: 1, MaxSendSGE: 1, MaxInline: 33}
	q = f.newQP(t, attr)
	if want := (uapi.EFACreateQP{SQRingSize: 16 * 128}); f.qp != want || f.mapped[keyReceive] != nil {
		t.Errorf("QP without receives: got %+v, want %+v", f.qp, want)
	}
	if n, err := q.PostRecv(make([]provider.RecvWR, 1)); n != 0 || !errors.Is(err, provider.ErrFull) {
		t.Errorf("got %d receives and error %v, want %v", n, err, provider.ErrFull)
	}
}

// Each operation has the documented layout.
func TestPostSend(t *testing.T) {
	f := newFake(t, func(r *uapi.EFAAllocUcontextResp) { r.InlineBufSizeEx = 80 })
	c := f.newCQ(t, 8)
	two := []provider.SGE{{Addr: 0x1122334455667788, Length: 0x100, LKey: 0xff00aa01}, {Addr: 0x99, Length: 7, LKey: 2}}
	long := slices.Repeat([]byte{0xcd}, 64)
	for _, test := range []struct {
		name string
		wr   provider.SendWR
		want []byte // behind the request ID
	}{
		{"send", provider.SendWR{Opcode: provider.OpSend, SGEs: two}, slices.Concat(
			[]byte{0x80, 0x1c, 0x66, 0x55, 2, 0, 0, 0, 0, 0, ahNumber, 0, 0, 0, 0x04, 0x03, 0x02, 0x01}, make([]byte, 12),
			[]byte{0, 1, 0, 0, 1, 0xaa, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 7, 0, 0, 0, 2, 0, 0, 0, 0x99})},
		{"inline send with immediate", provider.SendWR{Opcode: provider.OpSendWithImm, Imm: 0xa1b2c3d4, Flags: provider.SendInline, Inline: []byte("abc")},
			slices.Concat([]byte{0xb0, 0x1c, 0x66, 0x55, 3, 0, 0xd4, 0xc3, 0xb2, 0xa1, ahNumber, 0, 0, 0, 0x04, 0x03, 0x02, 0x01}, make([]byte, 12), []byte("abc"))},
		{"read", provider.SendWR{Opcode: provider.OpRead, SGEs: two[:1], RemoteAddr: 0x0102030405060708, RKey: 0xf1f2f3f4}, slices.Concat(
			[]byte{0x81, 0x1c, 0x66, 0x55, 1, 0, 0, 0, 0, 0, ahNumber, 0, 0, 0, 0x04, 0x03, 0x02, 0x01}, make([]byte, 12),
			[]byte{0, 1, 0, 0, 0xf4, 0xf3, 0xf2, 0xf1, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 0, 0, 1, 0xaa, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11})},
		{"write with immediate", provider.SendWR{Opcode: provider.OpWriteWithImm, Imm: 5, SGEs: two[1:], RemoteAddr: 0x0a, RKey: 0x0b}, slices.Concat(
			[]byte{0x92, 0x1c, 0x66, 0x55, 1, 0, 5, 0, 0, 0, ahNumber, 0, 0, 0, 0x04, 0x03, 0x02, 0x01}, make([]byte, 12),
			[]byte{7, 0, 0, 0, 0x0b, 0, 0, 0, 0x0a, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0, 0x99})},
		{"inline write", provider.SendWR{Opcode: provider.OpWrite, Flags: provider.SendInline, Inline: long, RemoteAddr: 0x0a, RKey: 0x0b}, slices.Concat(
			[]byte{0xa2, 0x1c, 0x66, 0x55, 64, 0, 0, 0, 0, 0, ahNumber, 0, 0, 0, 0x04, 0x03, 0x02, 0x01}, make([]byte, 12),
			[]byte{64, 0, 0, 0, 0x0b, 0, 0, 0, 0x0a, 0, 0, 0, 0, 0, 0, 0}, long)},
	} {
		for _, size := range []int{smallWQE, largeWQE} {
			if len(test.want) > size {
				continue
			}
			t.Run(fmt.Sprintf("%s of %d bytes", test.name, size), func(t *testing.T) {
				attr := srd(c)
				if size == largeWQE {
					attr.Cap.MaxInline = 80
				}
				q := f.newQP(t, attr)
				test.wr.AH, test.wr.RemoteQPN, test.wr.QKey = to, 0x5566, 0x01020304
				post(t, q, test.wr)
				want := append([]byte{8, 0}, test.want...)
				want[0], want[1] = byte(q.requestID(0)), byte(q.requestID(0)>>8)
				want = append(want, make([]byte, size-len(want))...)
				if got := q.bytes()[:size]; !slices.Equal(got, want) {
					t.Errorf("got  %x\nwant %x", got, want)
				}
				if bell := f.bell(keySendBell, atSend); bell != 1 {
					t.Errorf("got doorbell %d, want 1", bell)
				}
			})
		}
	}
}

// Each receive has a descriptor for each SGE, with at most 65535 bytes.
func TestPostRecv(t *testing.T) {
	f := newFake(t, nil)
	q := f.newQP(t, srd(f.newCQ(t, 8)))
	n, err := q.PostRecv([]provider.RecvWR{
		{ID: 1, SGEs: []provider.SGE{{Addr: 0x0102030405060708, Length: 70000, LKey: 0x0a0b0c}, {Addr: 9, Length: 16, LKey: 0x10}}}, {ID: 2},
	})
	if n != 2 || err != nil || f.bell(keyReceiveBell, atReceive) != 3 {
		t.Errorf("got %d posted and error %v, want 2 and doorbell 3", n, err)
	}
	g := uint64(q.recv.generation)
	want := []descriptor{
		{0x0102030405060708, g | 0xffff<<16 | (0x0a0b0c|receiveFirst)<<32}, {9, 16<<16 | (0x10|receiveLast)<<32},
		{0, g | 1 | (receiveFirst|receiveLast)<<32},
	}
	for i, d := range want {
		if got := q.recv.ring[i]; got != (descriptor{mmio.LE64(d[0]), mmio.LE64(d[1])}) {
			t.Errorf("descriptor %d: got %#x, want %#x", i, got, d)
		}
	}
	if n, err := q.PostRecv([]provider.RecvWR{{SGEs: make([]provider.SGE, 3)}}); n != 0 || !errors.Is(err, provider.ErrSGEs) || f.bell(keyReceiveBell, atReceive) != 0 {
		t.Errorf("got %d posted and error %v, want %v and no doorbell", n, err, provider.ErrSGEs)
	}
}

func TestPostSend_Refused(t *testing.T) {
	f := newFake(t, nil)
	c := f.newCQ(t, 8)
	q := f.newQP(t, srd(c))
	attr := srd(c)
	attr.Transport = provider.UD
	datagrams := f.newQP(t, attr)
	f.device.limits.DeviceCaps = 0
	plain := f.newQP(t, srd(c))
	for name, test := range map[string]struct {
		q    *qp
		wr   provider.SendWR
		want error
	}{
		"atomic":              {q, provider.SendWR{Opcode: provider.OpFetchAdd, AH: to}, provider.ErrOpcode},
		"unknown operation":   {q, provider.SendWR{Opcode: 200, AH: to}, provider.ErrOpcode},
		"fence":               {q, provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendFence, AH: to}, provider.ErrOpcode},
		"read of UD":          {datagrams, provider.SendWR{Opcode: provider.OpRead, AH: to}, provider.ErrOpcode},
		"write of UD":         {datagrams, provider.SendWR{Opcode: provider.OpWrite, AH: to}, provider.ErrOpcode},
		"read without it":     {plain, provider.SendWR{Opcode: provider.OpRead, AH: to}, provider.ErrOpcode},
		"write without it":    {plain, provider.SendWR{Opcode: provider.OpWriteWithImm, AH: to}, provider.ErrOpcode},
		"inline":              {q, provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, Inline: make([]byte, 33), AH: to}, provider.ErrInline},
		"inline read":         {q, provider.SendWR{Opcode: provider.OpRead, Flags: provider.SendInline, AH: to}, provider.ErrInline},
		"inline write":        {q, provider.SendWR{Opcode: provider.OpWrite, Flags: provider.SendInline, Inline: make([]byte, 1), AH: to}, provider.ErrInline},
		"SGEs":                {q, provider.SendWR{Opcode: provider.OpSend, SGEs: make([]provider.SGE, 3), AH: to}, provider.ErrSGEs},
		"SGEs of a read":      {q, provider.SendWR{Opcode: provider.OpRead, SGEs: make([]provider.SGE, 2), AH: to}, provider.ErrSGEs},
		"length":              {q, provider.SendWR{Opcode: provider.OpSend, SGEs: []provider.SGE{{Length: 1 << 31}, {Length: 1 << 31}}, AH: to}, provider.ErrLength},
		"no address handle":   {q, provider.SendWR{Opcode: provider.OpSend}, provider.ErrAH},
		"another's handle":    {q, provider.SendWR{Opcode: provider.OpSend, AH: provider.NewDestination(1)}, provider.ErrAH},
		"closed handle":       {q, provider.SendWR{Opcode: provider.OpSend, AH: provider.NewDestination(nil)}, provider.ErrAH},
		"read with no handle": {q, provider.SendWR{Opcode: provider.OpRead}, provider.ErrAH},
	} {
		t.Run(name, func(t *testing.T) {
			if n, err := test.q.PostSend([]provider.SendWR{test.wr}); n != 0 || !errors.Is(err, test.want) || f.bell(keySendBell, atSend) != 0 {
				t.Errorf("got %d posted and error %v, want %v and no doorbell", n, err, test.want)
			}
		})
	}
}

// A ring takes as many work requests as its capacity, through several rounds of the ring and
// of the register, completes them in any order, and alternates the phase.
func TestRounds(t *testing.T) {
	f := newFake(t, nil)
	c := f.newCQ(t, 16)
	q := f.newQP(t, srd(c))
	a := adapter{q: c}
	posted := uint32(0)
	for round := range uint64(20) {
		n, err := q.PostSend(sends(slices.Collect(count(round*100, 9))...))
		posted += uint32(n)
		if n != 8 || !errors.Is(err, provider.ErrFull) || f.bell(keySendBell, atSend) != posted {
			t.Fatalf("round %d: got %d posted and error %v, want 8 and %v", round, n, err, provider.ErrFull)
		}
		var want []provider.Completion
		for _, slot := range []int{3, 0, 7, 6, 1, 2, 5, 4} {
			if phase := uint64(q.bytes()[slot*smallWQE+3] & 1); phase != round&1 {
				t.Errorf("round %d: got phase %d", round, phase)
			}
			a.sent(q, opSend, q.requestID(slot), 0)
			want = append(want, provider.Completion{ID: round*100 + uint64(slot), QPN: qpNumber})
		}
		poll(t, c, want...)
		if bell := f.bell(keyCQBell, atCQ); bell != posted {
			t.Errorf("round %d: got consumer index %d, want %d", round, bell, posted)
		}
	}
}

// count returns n numbers.
func count(from uint64, n int) func(func(uint64) bool) {
	return func(yield func(uint64) bool) {
		for i := range uint64(n) {
			if !yield(from + i) {
				return
			}
		}
	}
}

// The register's value is modulo 65536.
func TestDoorbell_Wraps(t *testing.T) {
	f := newFake(t, nil)
	c := f.newCQ(t, 16)
	q := f.newQP(t, srd(c))
	q.send.head, q.recv.head = 1<<16-8, 1<<16-8
	post(t, q, sends(1, 2, 3, 4, 5, 6, 7, 8)...)
	if _, err := q.PostRecv(make([]provider.RecvWR, 8)); err != nil {
		t.Fatal(err)
	}
	if f.bell(keySendBell, atSend) != 0 || f.bell(keyReceiveBell, atReceive) != 0 || q.send.head != 1<<16 {
		t.Errorf("got head %d, want 65536 and 0 in the registers", q.send.head)
	}
}

// A doorbell publishes at most the adapter's batch. Each register write is visible here as the
// last before the next work request.
func TestBatches(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*uapi.EFAAllocUcontextResp)
		inline uint32
		want   uint32
	}{
		"no limit":      {nil, 0, 8},
		"limit":         {func(r *uapi.EFAAllocUcontextResp) { r.MaxTxBatch = 3 }, 0, 3},
		"large":         {func(r *uapi.EFAAllocUcontextResp) { r.MaxTxBatch, r.InlineBufSizeEx = 6, 80 }, 80, 3},
		"below a large": {func(r *uapi.EFAAllocUcontextResp) { r.MaxTxBatch, r.InlineBufSizeEx = 1, 80 }, 80, 1},
		"minimum":       {func(r *uapi.EFAAllocUcontextResp) { r.MinSQWR = 8 }, 0, 7},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, test.change)
			attr := srd(f.newCQ(t, 8))
			attr.Cap.MaxInline = test.inline
			q := f.newQP(t, attr)
			if q.send.batch != test.want {
				t.Errorf("got a batch of %d, want %d", q.send.batch, test.want)
			}
			bad := append(sends(1, 2, 3, 4, 5, 6, 7)[:min(test.want, 7)], provider.SendWR{Opcode: 200})
			n, err := q.PostSend(bad)
			if n != len(bad)-1 || !errors.Is(err, provider.ErrOpcode) || f.bell(keySendBell, atSend) != uint32(n) {
				t.Errorf("got %d posted and error %v, want %d with a doorbell", n, err, len(bad)-1)
			}
		})
	}
}

// A list may have several destinations and kinds of work requests, and fill several batches.
func TestPostSend_Mixed(t *testing.T) {
	f := newFake(t, func(r *uapi.EFAAllocUcontextResp) { r.MaxTxBatch = 3 })
	q := f.newQP(t, srd(f.newCQ(t, 8)))
	destinations := map[byte]*provider.Destination{'a': provider.NewDestination(&ah{1}), 'b': provider.NewDestination(&ah{2})}
	for _, kinds := range []string{"aaaaaaaa", "aaabbbab", "abababab", "aAaAbBbB", "AAAAAAAA", "Aaaaaaaa", "aaaaaaaA"} {
		q.Reset()
		var wrs []provider.SendWR
		for i, kind := range []byte(kinds) {
			wr := provider.SendWR{ID: uint64(i), Opcode: provider.OpSend, AH: destinations[kind|0x20], QKey: uint32(i)}
			if kind&0x20 != 0 { // upper case: no SGE
				wr.SGEs = []provider.SGE{{Addr: uint64(i), Length: 1}}
			}
			wrs = append(wrs, wr)
		}
		post(t, q, wrs...)
		var got []byte
		for i, w := range q.send.ring {
			kind := byte(mmio.LE64(w[1])>>32) + 'A' - 1 | byte(mmio.LE64(w[0])>>wqeLength&1)<<5
			if got = append(got, kind); mmio.LE64(w[2]) != uint64(i) {
				t.Errorf("%s: slot %d has work request %d", kinds, i, mmio.LE64(w[2]))
			}
		}
		if string(got) != kinds || f.bell(keySendBell, atSend) != 8 {
			t.Errorf("got work requests %s and doorbell %d, want %s and 8", got, f.bell(keySendBell, atSend), kinds)
		}
	}
}

// Receives complete in any order.
func TestReceives(t *testing.T) {
	f := newFake(t, nil)
	c := f.newCQ(t, 4)
	attr := srd(c)
	attr.Cap.MaxRecvWR, attr.Cap.MaxRecvSGE = 5, 3
	q := f.newQP(t, attr)
	a := adapter{q: c}
	for round := range uint64(9) {
		var wrs []provider.RecvWR
		for id := range count(round*100, 6) {
			wrs = append(wrs, provider.RecvWR{ID: id, SGEs: make([]provider.SGE, 1+id%3)})
		}
		start := q.recv.head
		n, err := q.PostRecv(wrs)
		if n != 5 || !errors.Is(err, provider.ErrFull) {
			t.Fatalf("got %d posted and error %v, want 5 and %v", n, err, provider.ErrFull)
		}
		var ids []uint64
		for at := start; at != q.recv.head; at++ {
			if word := mmio.LE64(q.recv.ring[at&15][1]); word&(receiveFirst<<32) != 0 {
				ids = append(ids, word)
			}
		}
		for _, i := range []uint64{4, 2, 0, 1, 3} {
			a.received(q, opSend, ids[i], 60+i, 0)
			poll(t, c, provider.Completion{ID: round*100 + i, QPN: qpNumber, Opcode: provider.CompletedRecv, ByteLen: uint32(60 + i), SrcQPN: 0x321})
		}
	}
}

// Receives of sends and writes with immediate data have all their fields.
func TestReceive_Fields(t *testing.T) {
	f := newFake(t, nil)
	c := f.newCQ(t, 4)
	q := f.newQP(t, srd(c))
	a := adapter{q: c}
	if _, err := q.PostRecv([]provider.RecvWR{{ID: 1}, {ID: 2}, {ID: 3}}); err != nil {
		t.Fatal(err)
	}
	g := uint64(q.recv.generation)
	a.received(q, opSend, g, 60, cqeImm)
	a.received(q, opWrite, g|1, 0x12345678, cqeImm)
	a.put(cqe{g | 2 | 6<<cqeStatus | queueReceive<<cqeQueue | qpNumber<<cqeQPN | 99<<cqeLength})
	poll(t, c,
		provider.Completion{ID: 1, QPN: qpNumber, Opcode: provider.CompletedRecv, ByteLen: 60, SrcQPN: 0x321, Imm: 0x01020304, Flags: provider.CompletionWithImm},
		provider.Completion{ID: 2, QPN: qpNumber, Opcode: provider.CompletedRecvWriteImm, ByteLen: 0x12345678, SrcQPN: 0x321, Imm: 0x01020304, Flags: provider.CompletionWithImm},
		provider.Completion{ID: 3, QPN: qpNumber, Opcode: provider.CompletedRecv, Status: provider.StatusLocalLength, VendorErr: 6})
}

// A work request without a signal has no completion on success, and one on an error; both
// make room.
func TestUnsignaled(t *testing.T) {
	f := newFake(t, nil)
	c := f.newCQ(t, 8)
	q := f.newQP(t, srd(c))
	a := adapter{q: c}
	wrs := append(sends(1, 2, 3), provider.SendWR{ID: 4, Opcode: provider.OpRead, Flags: provider.SendSignaled, AH: to, SGEs: []provider.SGE{{Length: 77}}})
	wrs[0].Flags, wrs[2].Flags = 0, 0
	for range 5 {
		post(t, q, wrs...)
		first := int(q.send.head-4) & 7
		for i, status := range []uint64{0, 0, 10, 0} {
			a.sent(q, opSend, q.requestID(first+i), status)
		}
		poll(t, c, provider.Completion{ID: 2, QPN: qpNumber}, provider.Completion{ID: 3, QPN: qpNumber, Status: provider.StatusRNRExceeded, VendorErr: 10},
			provider.Completion{ID: 4, QPN: qpNumber, Opcode: provider.CompletedRead, ByteLen: 77})
	}
	attr := srd(c)
	attr.SignalAll = true
	f.number++
	q = f.newQP(t, attr)
	post(t, q, wrs[0])
	a.sent(q, opSend, q.requestID(0), 0)
	poll(t, c, provider.Completion{ID: 1, QPN: qpNumber + 1})
}

// The completions of a queue pair that was closed or changed to RESET are discarded, also if
// another queue pair has its number.
func TestStale(t *testing.T) {
	f := newFake(t, nil)
	c := f.newCQ(t, 16)
	q := f.newQP(t, srd(c))
	a := adapter{q: c}
	post(t, q, sends(1, 2)...)
	a.sent(q, opSend, q.requestID(0), 0)
	if _, err := q.PostRecv(make([]provider.RecvWR, 2)); err != nil {
		t.Fatal(err)
	}
	a.received(q, opSend, uint64(q.recv.generation), 8, 0)
	q.Reset()
	poll(t, c)
	post(t, q, sends(3)...)
	if phase := q.bytes()[3] & 1; phase != 0 || f.bell(keySendBell, atSend) != 1 {
		t.Errorf("after RESET: got phase %d, want 0 and doorbell 1", phase)
	}
	a.sent(q, opSend, q.requestID(0), 0)
	poll(t, c, provider.Completion{ID: 3, QPN: qpNumber})
	post(t, q, sends(4)...)
	old := q.requestID(1)
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	a.sent(q, opSend, old, 0)
	poll(t, c)
	next := f.newQP(t, srd(c))
	post(t, next, sends(5)...)
	a.sent(next, opSend, old, 0)
	a.sent(next, opSend, next.requestID(0), 0)
	poll(t, c, provider.Completion{ID: 5, QPN: qpNumber})
	for _, words := range []cqe{
		{(qpNumber + 1) << cqeQPN, queueSend << cqeQueue}, {next.requestID(0) | queueSend<<cqeQueue | qpNumber<<cqeQPN},
		{next.requestID(0) | 3<<cqeQueue | qpNumber<<cqeQPN}, {cqeUnsolicited | queueReceive<<cqeQueue | qpNumber<<cqeQPN},
	} {
		a.index = c.subs[0].index
		a.put(words)
		if n, err := c.Poll(make([]provider.Completion, 1)); n != 0 || !errors.Is(err, provider.ErrCorrupt) {
			t.Errorf("completion %#x: got %d and error %v, want %v", words, n, err, provider.ErrCorrupt)
		}
	}
}

// Each ring of a completion queue is polled, and none before the others each time.
func TestSubCQs(t *testing.T) {
	f := newFake(t, func(r *uapi.EFAAllocUcontextResp) { r.SubCQsPerCQ = 3 })
	c := f.newCQ(t, 4)
	q := f.newQP(t, srd(c))
	var rings [3]adapter
	for i := range rings {
		rings[i] = adapter{q: c, sub: i}
	}
	seen := map[uint64]int{}
	next := uint64(1)
	for round := range 9 {
		post(t, q, sends(next, next+1)...)
		for i := range 2 {
			rings[(round+i)%3].sent(q, opSend, q.requestID((int(q.send.head)-2+i)&7), 0)
		}
		next += 2
		into := make([]provider.Completion, 2)
		n, err := c.Poll(into)
		for i := range into[:n] {
			seen[into[i].ID]++
		}
		if n != 2 || err != nil {
			t.Fatalf("round %d: got %d completions and error %v, want 2", round, n, err)
		}
	}
	if len(seen) != 18 || c.consumed != 18 {
		t.Errorf("got %d completions and consumer index %d, want 18", len(seen), c.consumed)
	}
	post(t, q, sends(101, 102)...)
	rings[0].sent(q, opSend, q.requestID((int(q.send.head)-2)&7), 0)
	rings[2].sent(q, opSend, q.requestID((int(q.send.head)-1)&7), 0)
	c.turn = 0
	poll(t, c, provider.Completion{ID: 101, QPN: qpNumber}, provider.Completion{ID: 102, QPN: qpNumber})
	if c.turn != 1 {
		t.Errorf("got ring %d first the next time, want 1", c.turn)
	}
}

// The register has the consumer index, the number of events and the request.
func TestArm(t *testing.T) {
	f := newFake(t, nil)
	c := f.newCQ(t, 8)
	c.consumed = 0x1234
	for i, want := range []uint32{0x80001234, 0xa0001234, 0xc0001234, 0xe0001234, 0x80001234} {
		if err := c.Arm(false); err != nil || f.bell(keyCQBell, atCQ) != want {
			t.Errorf("event %d: got error %v, want word %#x", i, err, want)
		}
		c.Delivered()
	}
	if err := c.Arm(true); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("solicited: got error %v, want %v", err, errors.ErrUnsupported)
	}
	q, err := f.NewCQ(provider.CQAttr{Entries: 8}, f.createCQ(8))
	if err != nil || f.cq.Flags != 0 || !errors.Is(q.Arm(false), errors.ErrUnsupported) {
		t.Errorf("without a channel: got error %v and flags %d", err, f.cq.Flags)
	}
}

// Each status has a code.
func TestStatuses(t *testing.T) {
	want := map[uint8]provider.Status{
		0: provider.StatusOK, 1: provider.StatusFlushed, 2: provider.StatusLocalQPOp, 3: provider.StatusLocalQPOp, 4: provider.StatusLocalQPOp,
		5: provider.StatusLocalProt, 6: provider.StatusLocalLength, 7: provider.StatusRemoteAccess, 8: provider.StatusRemoteAborted,
		9: provider.StatusRemoteInvalRDD, 10: provider.StatusRNRExceeded, 11: provider.StatusRemoteInvalid, 12: provider.StatusBadResponse,
		13: provider.StatusRespTimeout, 14: provider.StatusRemoteOp, 15: provider.StatusRespTimeout, 18: provider.StatusRemoteInvalid,
	}
	for code := range uint8(255) {
		status, ok := want[code]
		if !ok {
			status = provider.StatusGeneral
		}
		if got := statusOf(code); got != status {
			t.Errorf("code %d: got %v, want %v", code, got, status)
		}
	}
}

// A response that contradicts the request is an error, and leaves no mapping.
func TestInconsistent(t *testing.T) {
	f := newFake(t, nil)
	c := f.newCQ(t, 8)
	before := f.open
	attr := srd(c)
	attr.Cap = f.RoundQP(attr.Cap)
	for name, change := range map[string]func(*uapi.EFACreateQPResp){
		"ring size": func(r *uapi.EFACreateQPResp) { r.RQMmapSize += 4096 },
		"register":  func(r *uapi.EFACreateQPResp) { r.SQDBOffset = uint32(page) },
		"alignment": func(r *uapi.EFACreateQPResp) { r.RQDBOffset = 6 },
		"send ring": func(r *uapi.EFACreateQPResp) { r.LLQDescOffset = 4 },
		"number":    func(*uapi.EFACreateQPResp) { f.number = 1 << 16 },
	} {
		if q, err := f.NewQP(attr, f.createQP(change)); !errors.Is(err, provider.ErrCorrupt) || q != nil {
			t.Errorf("%s: got error %v, want %v", name, err, provider.ErrCorrupt)
		}
		f.number = qpNumber
	}
	for _, f.mapErr = range []uint64{keyLLQ, keySendBell, keyReceive, keyReceiveBell} {
		q, err := f.NewQP(attr, f.createQP(nil))
		if err == nil || q.Close() != nil || f.open != before {
			t.Errorf("key %d: got error %v and %d mappings, want %d", f.mapErr, err, f.open, before)
		}
	}
	for _, f.mapErr = range []uint64{keyCQ, keyCQBell} {
		q, err := f.NewCQ(provider.CQAttr{Entries: 8, Events: true}, f.createCQ(8))
		if err == nil || q.Close() != nil || f.open != before {
			t.Errorf("key %d: got error %v and %d mappings, want %d", f.mapErr, err, f.open, before)
		}
	}
	if q, err := f.NewCQ(provider.CQAttr{Entries: 8}, f.createCQ(9)); !errors.Is(err, provider.ErrCorrupt) || q != nil {
		t.Errorf("CQ: got error %v, want %v", err, provider.ErrCorrupt)
	}
	attr.Transport = provider.RC
	if _, err := f.NewQP(attr, f.createQP(nil)); !errors.Is(err, provider.ErrOpcode) {
		t.Errorf("RC: got error %v, want %v", err, provider.ErrOpcode)
	}
	f.err = errors.New("refused")
	attr.Transport = provider.UD
	for name, create := range map[string]func() error{
		"QP": func() error { _, err := f.NewQP(attr, f.createQP(nil)); return err },
		"CQ": func() error { _, err := f.NewCQ(provider.CQAttr{Entries: 8}, f.createCQ(8)); return err },
	} {
		if err := create(); !errors.Is(err, f.err) || f.open != before {
			t.Errorf("%s: got error %v, want %v", name, err, f.err)
		}
	}
	for name, change := range map[string]func(*uapi.EFAAllocUcontextResp){
		"commands": func(r *uapi.EFAAllocUcontextResp) { r.CmdsSuppUdataMask = 1 },
		"rings":    func(r *uapi.EFAAllocUcontextResp) { r.SubCQsPerCQ = 0 },
		"memory":   func(r *uapi.EFAAllocUcontextResp) { r.MaxLLQSize = 0 },
	} {
		r := context()
		change(&r)
		if _, err := New(f, uapi.Bytes(&r)); !errors.Is(err, provider.ErrCorrupt) && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

// Posting and polling do not allocate.
func TestAllocations(t *testing.T) {
	f := newFake(t, nil)
	c := f.newCQ(t, 8)
	a := adapter{q: c}
	q := f.newQP(t, srd(c))
	wrs := sends(1)
	receives := []provider.RecvWR{{SGEs: make([]provider.SGE, 1)}, {}}
	into := make([]provider.Completion, 4)
	if n := testing.AllocsPerRun(1000, func() {
		slot, entry := int(q.send.head&7), q.recv.head
		q.PostSend(wrs)
		q.PostRecv(receives)
		a.sent(q, opSend, q.requestID(slot), 0)
		for i := range uint32(2) {
			a.received(q, opSend, uint64(binary.LittleEndian.Uint16(f.mapped[keyReceive][(entry+i)&15*16+8:])), 8, 0)
		}
		if n, _ := c.Poll(into); n != 3 {
			t.Fatalf("got %d completions, want 3", n)
		}
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// Whatever an adapter writes, polling neither panics nor makes a success of an error.
func FuzzPoll(f *testing.F) {
	f.Add(uint64(1<<10|queueSend<<cqeQueue|qpNumber<<cqeQPN), uint64(0), uint64(0))
	f.Add(uint64(queueReceive<<cqeQueue|qpNumber<<cqeQPN|cqeImm|opWrite<<cqeOp), uint64(5), uint64(6))
	f.Add(uint64(queueSend<<cqeQueue|qpNumber<<cqeQPN|7<<cqeStatus), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, word0, word1, word2 uint64) {
		fake := newFake(t, nil)
		c := fake.newCQ(t, 8)
		q := fake.newQP(t, srd(c))
		post(t, q, sends(1, 2, 3)...)
		q.PostRecv(make([]provider.RecvWR, 3))
		a := adapter{q: c}
		a.put(cqe{word0 &^ (1 << 24), word1, word2})
		a.put(cqe{word0 &^ (1 << 24), word1, word2})
		into := make([]provider.Completion, 8)
		n, err := c.Poll(into)
		if n > 1 || err != nil && !errors.Is(err, provider.ErrCorrupt) {
			t.Fatalf("got %d completions and error %v", n, err)
		}
		for _, x := range into[:n] {
			if x.Status == provider.StatusOK && word0>>cqeStatus&0xff != 0 {
				t.Errorf("got %+v for %#x", x, word0)
			}
		}
		if err := errors.Join(q.Close(), c.Close(), fake.device.Close()); err != nil || fake.open != 0 {
			t.Fatalf("got error %v and %d mappings", err, fake.open)
		}
	})
}
