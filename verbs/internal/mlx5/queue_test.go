package mlx5

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/verbs/provider"
)

// words returns a hex dump in 16-byte lines.
func words(b []byte) string {
	var text strings.Builder
	for len(b) > 0 {
		fmt.Fprintf(&text, "%x\n", b[:16])
		b = b[16:]
	}
	return text.String()
}

// newPair returns a queue pair for up to four sends and four receives.
func newPair(t testing.TB, transport provider.Transport) (*fake, *cq, *qp) {
	t.Helper()
	f, d := newDevice(t)
	cq := d.newCQ(t, f, 7)
	q := d.newQP(t, f, provider.QPAttr{
		Transport: transport, Cap: provider.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInline: 40}, SendCQ: cq, RecvCQ: cq,
	})
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, cq, q
}

// Each operation has mlx5dv.h's layout: control, peer's memory or address vector,
// operands, data.
func TestSendLayout(t *testing.T) {
	sge := []provider.SGE{{Addr: 0x1122334455667788, Length: 8, LKey: 0xaabbccdd}}
	to := &ah{}
	for i := range to.vector {
		to.vector[i] = byte(i)
	}
	for _, test := range []struct {
		name      string
		transport provider.Transport
		wr        provider.SendWR
		want      string
	}{
		{"send", provider.RC, provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendSignaled | provider.SendSolicited, SGEs: sge}, `
0000000a000123020000000a00000000
00000008aabbccdd1122334455667788`},
		{"send with immediate", provider.UC, provider.SendWR{Opcode: provider.OpSendWithImm, Imm: 0x01020304}, `
0000000b000123010000000001020304`},
		{"send with invalidate", provider.RC, provider.SendWR{Opcode: provider.OpSendInvalidate, InvalidateKey: 0x01020304, Flags: provider.SendFence}, `
00000001000123010000008001020304`},
		{"write", provider.RC, provider.SendWR{Opcode: provider.OpWrite, RemoteAddr: 0x0102030405060708, RKey: 0x90a0b0c0, SGEs: sge}, `
00000008000123030000000000000000
010203040506070890a0b0c000000000
00000008aabbccdd1122334455667788`},
		{"write with immediate", provider.RC, provider.SendWR{Opcode: provider.OpWriteWithImm, Imm: 5, RemoteAddr: 1, RKey: 2}, `
00000009000123020000000000000005
00000000000000010000000200000000`},
		{"read", provider.RC, provider.SendWR{Opcode: provider.OpRead, RemoteAddr: 16, RKey: 3, SGEs: sge}, `
00000010000123030000000000000000
00000000000000100000000300000000
00000008aabbccdd1122334455667788`},
		{"compare and swap", provider.RC, provider.SendWR{Opcode: provider.OpCompareSwap, RemoteAddr: 16, RKey: 5, CompareAdd: 6, Swap: 7, SGEs: sge}, `
00000011000123040000000000000000
00000000000000100000000500000000
00000000000000070000000000000006
00000008aabbccdd1122334455667788`},
		{"fetch and add", provider.RC, provider.SendWR{Opcode: provider.OpFetchAdd, RemoteAddr: 16, RKey: 5, CompareAdd: 6, SGEs: sge}, `
00000012000123040000000000000000
00000000000000100000000500000000
00000000000000060000000000000000
00000008aabbccdd1122334455667788`},
		{"bind", provider.UC, provider.SendWR{Opcode: provider.OpBindMW, Flags: provider.SendSignaled, Bind: &provider.Bind{
			Window: 0x1234567f, RKey: 0x12345680, LKey: 0xaabbccdd, Addr: 0x0102030405060708, Length: 0x1000, Access: provider.AccessRemoteRead | provider.AccessRemoteAtomic,
		}}, `
000000250001230c000000081234567f
b00000000004000000000000203c6041
00000000000000000000000000000000
00000000000000000000000000000000
00005000000123800000000000000000
01020304050607080000000000001000
00000000000000000000000000000000
00000000000000000000000000000000
00001000aabbccdd0102030405060708
00000000000000000000000000000000
00000000000000000000000000000000
00000000000000000000000000000000`},
		{"invalidate", provider.RC, provider.SendWR{Opcode: provider.OpLocalInvalidate, InvalidateKey: 0x1234567f}, `
0000002500012308000000001234567f
98000000000000000000000020006000
00000000000000000000000000000000
00000000000000000000000000000000
40000000ffffff000000000000000000
00000000000000000000000000000000
00000000000000000000000000000000
00000000000000000000000000000000`},
		{"datagram", provider.UD, provider.SendWR{Opcode: provider.OpSend, AH: provider.NewDestination(to), RemoteQPN: 0x123456, QKey: 0x80010000, SGEs: sge}, `
0000000a000123050000000000000000
8001000004050607801234560c0d0e0f
101112131415161718191a1b1c1d1e1f
202122232425262728292a2b2c2d2e2f
00000008aabbccdd1122334455667788`},
		{"empty SGE", provider.UC, provider.SendWR{Opcode: provider.OpSend, SGEs: []provider.SGE{{Addr: 1}, sge[0]}}, `
0000000a000123020000000000000000
00000008aabbccdd1122334455667788`},
		{"inline", provider.RC, provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, Inline: []byte("0123456789abcdef")}, `
0000000a000123030000000000000000
80000010303132333435363738396162
63646566`},
		{"no inline data", provider.RC, provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline}, `
0000000a000123010000000000000000`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, q := newPair(t, test.transport)
			if n, err := q.PostSend([]provider.SendWR{test.wr}); n != 1 || err != nil {
				t.Fatalf("got %d posted, error %v, want 1", n, err)
			}
			want := strings.ReplaceAll(test.want, "\n", "")
			if got := hex.EncodeToString(q.send.ring)[:len(want)]; got != want {
				t.Errorf("got\n%swant%s", words(q.send.ring[:(len(want)/2+15)&^15]), test.want)
			}
			if got := binary.BigEndian.Uint32(q.memory.Bytes()[len(q.memory.buffer)+4:]); got != q.send.posted {
				t.Errorf("got doorbell record %d, want %d", got, q.send.posted)
			}
		})
	}
}

// The loops for the usual work requests write the same bytes as the general functions, in any
// order, and stop at a full queue.
func TestDirect(t *testing.T) {
	sge := []provider.SGE{{Addr: 0x1122334455667788, Length: 8, LKey: 0xaabbccdd}}
	var wrs []provider.SendWR
	for _, sges := range [][]provider.SGE{sge, append(sge[:1:1], sge...), nil} {
		for opcode := range provider.OpRead + 1 {
			wrs = append(wrs, provider.SendWR{
				ID: uint64(len(wrs)), Opcode: opcode, Flags: provider.SendFlags(len(wrs)) & sendFlags, SGEs: sges, Imm: 0x01020304, RemoteAddr: 0x0102030405060708, RKey: 0x90a0b0c0,
			})
		}
	}
	for first := range wrs {
		_, _, got := newPair(t, provider.RC)
		_, _, want := newPair(t, provider.RC)
		want.send.formats = [256]uint8{}
		batch := append(wrs[first:len(wrs):len(wrs)], wrs[:first]...)
		for _, q := range []*qp{got, want} {
			if n, err := q.PostSend(batch); n != int(q.send.capacity) || !errors.Is(err, provider.ErrFull) {
				t.Fatalf("got %d posted, error %v, want %d and %v", n, err, q.send.capacity, provider.ErrFull)
			}
		}
		if got.send.posted != want.send.posted || !slices.Equal(got.send.slots, want.send.slots) || words(got.send.ring) != words(want.send.ring) {
			t.Errorf("from %d: got\n%s\nwant\n%s", first, words(got.send.ring), words(want.send.ring))
		}
	}
}

// Work requests that the adapter would misinterpret are rejected before the ring changes,
// and earlier requests are posted.
func TestSendRejected(t *testing.T) {
	good := provider.SendWR{Opcode: provider.OpSend}
	long := []provider.SGE{{Length: 1 << 30}, {Length: 1}}
	for name, test := range map[string]struct {
		transport provider.Transport
		wr        provider.SendWR
		want      error
	}{
		"read over UC":               {provider.UC, provider.SendWR{Opcode: provider.OpRead}, provider.ErrOpcode},
		"bind":                       {provider.RC, provider.SendWR{Opcode: provider.OpBindMW}, provider.ErrOpcode},
		"bind over XRC":              {provider.XRCInit, provider.SendWR{Opcode: provider.OpBindMW, Bind: &provider.Bind{Length: 1}}, provider.ErrOpcode},
		"empty window":               {provider.RC, provider.SendWR{Opcode: provider.OpBindMW, Bind: &provider.Bind{}}, provider.ErrLength},
		"long window":                {provider.RC, provider.SendWR{Opcode: provider.OpBindMW, Bind: &provider.Bind{Length: 1<<31 + 1}}, provider.ErrLength},
		"payload of an invalidation": {provider.UC, provider.SendWR{Opcode: provider.OpLocalInvalidate, SGEs: []provider.SGE{{Length: 1}}}, provider.ErrLength},
		"undefined":                  {provider.RC, provider.SendWR{Opcode: 200}, provider.ErrOpcode},
		"SGEs":                       {provider.RC, provider.SendWR{Opcode: provider.OpSend, SGEs: make([]provider.SGE, 9)}, provider.ErrSGEs},
		"length":                     {provider.RC, provider.SendWR{Opcode: provider.OpSend, SGEs: long}, provider.ErrLength},
		"atomic":                     {provider.RC, provider.SendWR{Opcode: provider.OpFetchAdd}, provider.ErrLength},
		"inline":                     {provider.RC, provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, Inline: make([]byte, 400)}, provider.ErrInline},
		"inline read":                {provider.RC, provider.SendWR{Opcode: provider.OpRead, Flags: provider.SendInline}, provider.ErrInline},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, q := newPair(t, test.transport)
			if n, err := q.PostSend([]provider.SendWR{good, test.wr, good}); n != 1 || !errors.Is(err, test.want) || q.send.posted != 1 {
				t.Errorf("got %d posted in %d blocks, error %v, want 1 and %v", n, q.send.posted, err, test.want)
			}
		})
	}
	t.Run("no address handle", func(t *testing.T) {
		_, _, q := newPair(t, provider.UD)
		for _, wr := range []provider.SendWR{good, {Opcode: provider.OpSend, AH: provider.NewDestination(nil)}} {
			if n, err := q.PostSend([]provider.SendWR{wr}); n != 0 || !errors.Is(err, provider.ErrAH) {
				t.Errorf("got %d posted, error %v, want %v", n, err, provider.ErrAH)
			}
		}
	})
}

// A memory window work request takes the room of several. The next work request waits for
// them, and their completions have their operation.
func TestWindows(t *testing.T) {
	f, d := newDevice(t)
	cq := d.newCQ(t, f, 7)
	q := d.newQP(t, f, provider.QPAttr{Transport: provider.RC, Cap: provider.QPCap{MaxSendWR: 1, MaxSendSGE: 1}, SendCQ: cq, RecvCQ: cq})
	defer q.Close()
	bind := provider.SendWR{ID: 1, Opcode: provider.OpBindMW, Bind: &provider.Bind{Length: 1}}
	invalidate := provider.SendWR{ID: 2, Opcode: provider.OpLocalInvalidate}
	write := provider.SendWR{ID: 3, Opcode: provider.OpWrite, SGEs: []provider.SGE{{Length: 1}}}
	block := uint16(0)
	for round := range 6 {
		if n, err := q.PostSend([]provider.SendWR{bind, write, write}); n != 2 || !errors.Is(err, provider.ErrFull) {
			t.Fatalf("round %d: got %d posted, error %v, want 2 of the room of 4 and %v", round, n, err, provider.ErrFull)
		}
		at := int(block+bindBlocks) % 4 * blockSize
		if got := q.send.ring[at+11]; got != ctrlSmallFence {
			t.Errorf("round %d: got flags %#x after a bind, want %#x", round, got, ctrlSmallFence)
		}
		var c [3]provider.Completion
		cq.put(cq.index, q, cqeRequest, block, func(e []byte) { e[cqeQPN] = wqeUMR })
		cq.put(cq.index+1, q, cqeRequest, block+bindBlocks, func(e []byte) { e[cqeQPN] = wqeWrite })
		if n, err := cq.Poll(c[:]); n != 2 || err != nil || c[0].ID != 1 || c[0].Opcode != provider.CompletedBindMW || c[1].ID != 3 || c[1].Opcode != provider.CompletedWrite {
			t.Fatalf("round %d: got %d, error %v, %+v", round, n, err, c)
		}
		block += bindBlocks + 1
		if n, err := q.PostSend([]provider.SendWR{invalidate, invalidate, invalidate}); n != 2 || !errors.Is(err, provider.ErrFull) {
			t.Fatalf("round %d: got %d posted, error %v, want 2 of the room of 4 and %v", round, n, err, provider.ErrFull)
		}
		cq.put(cq.index, q, cqeRequest, block+unbindBlocks, func(e []byte) { e[cqeQPN] = wqeUMR })
		if n, err := cq.Poll(c[:]); n != 1 || err != nil || c[0].ID != 2 || c[0].Opcode != provider.CompletedLocalInvalidate {
			t.Fatalf("round %d: got %d, error %v, %+v", round, n, err, c)
		}
		block += 2 * unbindBlocks
	}
	q.Reset()
	if n, err := q.PostSend([]provider.SendWR{write}); n != 1 || err != nil || q.send.ring[11] != 0 {
		t.Errorf("after a reset: got %d posted, error %v, flags %#x, want 1 without a fence", n, err, q.send.ring[11])
	}
}

// put writes a completion as the adapter does: the owner last.
func (q *cq) put(index uint32, user *qp, opcode byte, counter uint16, change func(e []byte)) {
	e := q.entry(index)
	*e = [cqeSize]byte{}
	binary.BigEndian.PutUint32(e[cqeUser:], user.index)
	binary.BigEndian.PutUint32(e[cqeQPN:], user.send.number)
	binary.BigEndian.PutUint16(e[cqeCounter:], counter)
	if change != nil {
		change(e[:])
	}
	e[cqeOwner] |= opcode<<4 | byte(index>>q.round&1)
}

// All completion kinds are decoded.
func TestPoll(t *testing.T) {
	for _, test := range []struct {
		name   string
		opcode byte
		change func(e []byte)
		want   provider.Completion
	}{
		{"send", cqeRequest, func(e []byte) { e[cqeQPN] = wqeSendImm }, provider.Completion{Opcode: provider.CompletedSend}},
		{"write", cqeRequest, func(e []byte) { e[cqeQPN] = wqeWrite }, provider.Completion{Opcode: provider.CompletedWrite}},
		{"read", cqeRequest, func(e []byte) { e[cqeQPN], e[cqeByteCount+3] = wqeRead, 9 }, provider.Completion{Opcode: provider.CompletedRead, ByteLen: 9}},
		{"compare and swap", cqeRequest, func(e []byte) { e[cqeQPN] = wqeCompareSwap }, provider.Completion{Opcode: provider.CompletedCompareSwap, ByteLen: 8}},
		{"fetch and add", cqeRequest, func(e []byte) { e[cqeQPN] = wqeFetchAdd }, provider.Completion{Opcode: provider.CompletedFetchAdd, ByteLen: 8}},
		{"receive", cqeRecv, func(e []byte) { e[cqeByteCount+3], e[cqeImm+3] = 7, 5 }, provider.Completion{Opcode: provider.CompletedRecv, ByteLen: 7, PKeyIndex: 5}},
		{"receive with immediate", cqeRecvImm, func(e []byte) { e[cqeImm] = 1 }, provider.Completion{Opcode: provider.CompletedRecv, Imm: 1 << 24, Flags: provider.CompletionWithImm}},
		{"receive with invalidate", cqeRecvInv, func(e []byte) { e[cqeImm] = 1 }, provider.Completion{Opcode: provider.CompletedRecv, InvKey: 1 << 24, Flags: provider.CompletionWithInv}},
		{"write with immediate", cqeWriteImm, func(e []byte) { e[cqeImm] = 1 }, provider.Completion{Opcode: provider.CompletedRecvWriteImm, Imm: 1 << 24, Flags: provider.CompletionWithImm}},
		{"datagram", cqeRecv, func(e []byte) {
			copy(e[cqeSource:], "\x35\x00\x00\x11")
			copy(e[cqeSLID:], "\x00\x22")
			e[cqePathBits] = 0x83
		}, provider.Completion{Opcode: provider.CompletedRecv, Flags: provider.CompletionGRH, SL: 5, SrcQPN: 0x11, SLID: 0x22, PathBits: 3}},
		{"retries exceeded", cqeRequestError, func(e []byte) { e[cqeSyndrome], e[cqeVendor] = 0x15, 0x81 }, provider.Completion{Status: provider.StatusRetryExceeded, VendorErr: 0x81}},
		{"flushed", cqeRecvError, func(e []byte) { e[cqeSyndrome] = 0x05 }, provider.Completion{Status: provider.StatusFlushed}},
		{"undefined syndrome", cqeRequestError, nil, provider.Completion{Status: provider.StatusGeneral}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, cq, q := newPair(t, provider.RC)
			if _, err := q.PostSend([]provider.SendWR{{ID: 0xe, Opcode: provider.OpSend}}); err != nil {
				t.Fatal(err)
			}
			if _, err := q.PostRecv([]provider.RecvWR{{ID: 0xe}}); err != nil {
				t.Fatal(err)
			}
			cq.put(0, q, test.opcode, 0, test.change)
			test.want.ID, test.want.QPN = 0xe, 0x123
			// Different code decodes several completions and a single completion.
			for room := 2; room > 0; room-- {
				c := []provider.Completion{poison, poison}
				cq.index, cq.memory.record[cqConsumer] = 0, 0
				q.send.tail.Store(0)
				q.recv.tail.Store(0)
				if n, err := cq.Poll(c[:room]); n != 1 || err != nil || c[0] != test.want {
					t.Errorf("room for %d: got %d, error %v, %+v, want %+v", room, n, err, c[0], test.want)
				}
				if got := cq.memory.record[cqConsumer]; got != wire32(1) {
					t.Errorf("room for %d: got consumer index %#x, want 1", room, got)
				}
				if got := q.send.tail.Load() + q.recv.tail.Load(); got != 1 {
					t.Errorf("room for %d: got %d free work requests, want 1", room, got)
				}
				if n, err := cq.Poll(c[:room]); n != 0 || err != nil {
					t.Errorf("room for %d: got %d, error %v of an empty queue, want 0", room, n, err)
				}
			}
		})
	}
}

// poison is a completion in which each field is set.
var poison = provider.Completion{
	ID: 1, Status: provider.StatusGeneral, Opcode: provider.CompletedRecvWriteImm, VendorErr: 1, ByteLen: 1, Imm: 1, InvKey: 1, QPN: 1, SrcQPN: 1,
	Flags: provider.CompletionWithInv, PKeyIndex: 1, SLID: 1, SL: 1, PathBits: 1,
}

// Entries that no adapter writes are an error, and never a success.
func TestPoll_Corrupt(t *testing.T) {
	for name, change := range map[string]func(e []byte){
		"no queue pair":    func(e []byte) { e[cqeUser+1] = 1 },
		"compressed":       func(e []byte) { e[cqeOwner] = cqeRecv<<4 | 0xc },
		"opcode":           func(e []byte) { e[cqeOwner] = 9 << 4 },
		"work request":     func(e []byte) { e[cqeQPN] = 0x77 },
		"no window":        func(e []byte) { e[cqeQPN] = wqeUMR },
		"data of 32 bytes": func(e []byte) { e[cqeQPN], e[cqeOwner] = wqeRead, 0x4 },
		"data of 64 bytes": func(e []byte) { e[cqeQPN], e[cqeOwner] = wqeFetchAdd, 0x8 },
	} {
		t.Run(name, func(t *testing.T) {
			_, cq, q := newPair(t, provider.RC)
			cq.put(0, q, cqeRequest, 0, change)
			var c [2]provider.Completion
			for room := range c {
				if n, err := cq.Poll(c[:room+1]); n != 0 || !errors.Is(err, provider.ErrCorrupt) {
					t.Errorf("room for %d: got %d, error %v, want %v", room+1, n, err, provider.ErrCorrupt)
				}
			}
		})
	}
}

// The rings work past their ends: sends with one and two blocks, inline data across the end,
// and completions for unsignaled requests with the next signaled request.
func TestRounds(t *testing.T) {
	_, cq, q := newPair(t, provider.RC)
	payload := []byte("0123456789abcdefghijklmnopqrstuvwxyzABCD")
	var c [8]provider.Completion
	posted, completed := 0, uint32(0)
	for round := range 3 * len(q.send.slots) {
		var first uint32
		for n := 0; ; n++ {
			first = q.send.posted
			wr := provider.SendWR{ID: uint64(posted), Opcode: provider.OpSend}
			if posted%3 != 0 {
				wr.Flags, wr.Inline = provider.SendInline, payload
			}
			if posted%2 == 0 {
				wr.Opcode = provider.OpSendWithImm
			}
			if _, err := q.PostSend([]provider.SendWR{wr}); err != nil {
				if !errors.Is(err, provider.ErrFull) || n != int(q.send.capacity) {
					t.Fatalf("round %d: got error %v after %d, want %v after %d", round, err, n, provider.ErrFull, q.send.capacity)
				}
				break
			}
			if got := binary.BigEndian.Uint32(q.send.ring[int(first)%len(q.send.slots)*blockSize:]); got>>8 != first&0xffff {
				t.Fatalf("request %d: got index %d, want %d", posted, got>>8, first)
			}
			posted++
			cq.put(completed, q, cqeRequest, uint16(first), func(e []byte) { e[cqeQPN] = wqeSend })
		}
		completed++
		if n, err := cq.Poll(c[:]); n != 1 || err != nil || c[0].ID != uint64(posted-1) {
			t.Fatalf("round %d: got %d, error %v, ID %d, want the last one, %d", round, n, err, c[0].ID, posted-1)
		}
	}
}

// Receives fill a ring and complete in the order that the adapter reports.
func TestReceive(t *testing.T) {
	_, cq, q := newPair(t, provider.RC)
	wrs := make([]provider.RecvWR, 5)
	for i := range wrs {
		wrs[i] = provider.RecvWR{ID: uint64(i), SGEs: []provider.SGE{{Addr: 1, Length: 2, LKey: 3}}}
	}
	if n, err := q.PostRecv(wrs); n != 4 || !errors.Is(err, provider.ErrFull) || q.memory.record[qpReceived] != wire32(4) {
		t.Fatalf("got %d posted, error %v, record %#x, want 4", n, err, q.memory.record[qpReceived])
	}
	if got, want := words(q.recv.ring[:32]), "00000002000000030000000000000001\n00000000000001000000000000000000\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for i := range uint32(4) {
		cq.put(i, q, cqeRecv, uint16(i), nil)
	}
	var c [8]provider.Completion
	if n, err := cq.Poll(c[:]); n != 4 || err != nil || c[3].ID != 3 {
		t.Errorf("got %d, error %v, last ID %d, want 4 and 3", n, err, c[3].ID)
	}
	if n, err := q.PostRecv(wrs[4:]); n != 1 || err != nil {
		t.Errorf("got %d posted, error %v, want 1", n, err)
	}
	if n, err := q.PostRecv([]provider.RecvWR{{SGEs: make([]provider.SGE, 3)}}); n != 0 || !errors.Is(err, provider.ErrSGEs) {
		t.Errorf("got %d posted, error %v, want %v", n, err, provider.ErrSGEs)
	}
}

// Reset removes a queue pair's completions and keeps all other completions, in order and
// across the ring's end.
func TestReset(t *testing.T) {
	f, cq, a := newPair(t, provider.RC)
	b := a.device.newQP(t, f, provider.QPAttr{Transport: provider.UC, Cap: provider.QPCap{MaxSendWR: 8}, SendCQ: cq, RecvCQ: cq})
	cq.index = 5
	for i := range uint32(8) {
		q := a
		if i%3 == 0 {
			q = b
		}
		b.send.slots[i].id = uint64(i)
		cq.put(5+i, q, cqeRequest, uint16(i), func(e []byte) { e[cqeQPN] = wqeSend })
	}
	a.Reset()
	var c [8]provider.Completion
	n, err := cq.Poll(c[:])
	if n != 3 || err != nil || c[0].ID != 0 || c[1].ID != 3 || c[2].ID != 6 {
		t.Errorf("got %d, error %v, IDs %d, %d, %d, want 0, 3, 6", n, err, c[0].ID, c[1].ID, c[2].ID)
	}
	if n, err := cq.Poll(c[:]); n != 0 || err != nil {
		t.Errorf("got %d more, error %v, want 0", n, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// A shared receive queue's list: entries complete in any order, and return at its
// end.
func TestSRQ(t *testing.T) {
	f, d := newDevice(t)
	cq := d.newCQ(t, f, 15)
	p, err := d.NewSRQ(provider.SRQAttr{MaxWR: 3, MaxSGE: 1}, answer(f, &f.srq, provider.Created{MaxWR: 3}, 9))
	if err != nil {
		t.Fatal(err)
	}
	q := d.newQP(t, f, provider.QPAttr{Transport: provider.RC, Cap: provider.QPCap{MaxSendWR: 1}, SendCQ: cq, RecvCQ: cq, SRQ: p})
	wrs := []provider.RecvWR{{ID: 10}, {ID: 11}, {ID: 12}, {ID: 13}}
	if n, err := p.PostRecv(wrs); n != 3 || !errors.Is(err, provider.ErrFull) {
		t.Fatalf("got %d posted, error %v, want 3 and %v", n, err, provider.ErrFull)
	}
	var c [4]provider.Completion
	for i, entry := range []uint16{1, 0} {
		cq.put(uint32(i), q, cqeRecv, entry, nil)
	}
	if n, err := cq.Poll(c[:]); n != 2 || err != nil || c[0].ID != 11 || c[1].ID != 10 {
		t.Fatalf("got %d, error %v, IDs %d and %d, want 11 and 10", n, err, c[0].ID, c[1].ID)
	}
	if n, err := p.PostRecv(wrs); n != 2 || !errors.Is(err, provider.ErrFull) {
		t.Errorf("got %d posted, error %v, want 2", n, err)
	}
	list := p.(*srq)
	if list.next(2) != 3 || list.next(3) != 1 || list.next(1) != 0 || list.head != 0 {
		t.Errorf("got links 2 %d, 3 %d, 1 %d, head %d, want 3, 1, 0, 0", list.next(2), list.next(3), list.next(1), list.head)
	}
	// Completions that a reset removes return their entries.
	cq.put(2, q, cqeRecvError, 2, nil)
	q.Reset()
	if list.tail != 2 {
		t.Errorf("after a reset: got last entry %d, want 2", list.tail)
	}
	if err := errors.Join(q.Close(), p.Close()); err != nil {
		t.Error(err)
	}
}

// A receive with a page fault is posted again in another entry, and has one completion, with
// its ID.
func TestSRQ_PageFault(t *testing.T) {
	for _, room := range []int{1, 4} {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			f, d := newDevice(t)
			cq := d.newCQ(t, f, 15)
			p, err := d.NewSRQ(provider.SRQAttr{MaxWR: 3, MaxSGE: 1}, answer(f, &f.srq, provider.Created{MaxWR: 3}, 9))
			if err != nil {
				t.Fatal(err)
			}
			q := d.newQP(t, f, provider.QPAttr{Transport: provider.RC, Cap: provider.QPCap{MaxSendWR: 1}, SendCQ: cq, RecvCQ: cq, SRQ: p})
			sge := func(length uint32) []provider.SGE { return []provider.SGE{{Addr: 7, Length: length, LKey: 8}} }
			// The queue is full, in which case a single entry is free.
			if n, err := p.PostRecv([]provider.RecvWR{{ID: 10, SGEs: sge(1)}, {ID: 11, SGEs: sge(2)}, {ID: 12, SGEs: sge(3)}}); n != 3 || err != nil {
				t.Fatalf("got %d posted, error %v, want 3", n, err)
			}
			fault := func(e []byte) { e[cqeSyndrome], e[cqeVendor] = syndromeAborted, vendorPageFault }
			cq.put(0, q, cqeRecvError, 0, fault)
			into := make([]provider.Completion, room)
			if n, err := cq.Poll(into); n != 0 || err != nil || cq.memory.record[cqConsumer] != wire32(1) {
				t.Fatalf("got %d completions, error %v, consumer index %#x, want 0 and index 1", n, err, cq.memory.record[cqConsumer])
			}
			list := p.(*srq)
			if got, want := words(list.memory.buffer[3*32+16:4*32]), "00000001000000080000000000000007\n"; got != want || list.memory.record[0] != wire32(4) {
				t.Errorf("got entry %s and record %#x, want %s and 4", got, list.memory.record[0], want)
			}
			if n, err := p.PostRecv([]provider.RecvWR{{ID: 13}}); n != 0 || !errors.Is(err, provider.ErrFull) {
				t.Errorf("got %d posted, error %v, want %v", n, err, provider.ErrFull)
			}
			// Another fault for the same work request, then its success, and another error kind.
			cq.put(1, q, cqeRecvError, 3, fault)
			cq.put(2, q, cqeRecv, 0, nil)
			cq.put(3, q, cqeRecvError, 1, func(e []byte) { e[cqeSyndrome] = syndromeAborted })
			var all []provider.Completion
			for len(all) < 2 {
				n, err := cq.Poll(into)
				if n == 0 || err != nil {
					t.Fatalf("got %d completions, error %v, want more", n, err)
				}
				all = append(all, into[:n]...)
			}
			if all[0].ID != 10 || all[0].Status != provider.StatusOK || all[1].ID != 11 || all[1].Status != provider.StatusRemoteAborted {
				t.Errorf("got %+v, want the success of 10 and the failure of 11", all)
			}
			if err := errors.Join(q.Close(), p.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Address vectors for the three networks.
func TestAH(t *testing.T) {
	path := provider.Path{
		DGID: netip.MustParseAddr("fe80::2"), SGIDIndex: 3, FlowLabel: 0x12345, HopLimit: 4, TrafficClass: 5, DLID: 0x77, SL: 6, SrcPathBits: 1, StaticRate: 3, Port: 1,
	}
	mac := func(_, out []byte) (provider.Created, error) {
		copy(out[4:], "\x02\x03\x04\x05\x06\x07")
		return provider.Created{}, nil
	}
	local := path
	local.DGID = netip.Addr{}
	for name, test := range map[string]struct {
		network provider.Network
		path    provider.Path
		create  provider.Create
		want    string
	}{
		"InfiniBand":         {provider.InfiniBand, path, nil, "86010077 00000000 000000000000 0504 40312345 fe800000000000000000000000000002"},
		"InfiniBand, no GRH": {provider.InfiniBand, local, nil, "86010077 00000000 000000000000 0000 00000000 00000000000000000000000000000000"},
		"virtual function":   {provider.GlobalInfiniBand, path, nil, "86010077 00000000 000000000000 0504 40312345 fe800000000000000000000000000002"},
		"RoCE v1":            {provider.RoCEv1, path, mac, "8c000000 00000000 020304050607 0504 00312345 fe800000000000000000000000000002"},
		"RoCE v2":            {provider.RoCEv2, path, mac, "8c00e341 00000000 020304050607 0504 00312345 fe800000000000000000000000000002"},
	} {
		t.Run(name, func(t *testing.T) {
			f, d := newDevice(t)
			f.network = test.network
			a, err := d.NewAH(test.path, 0, test.create)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Repeat("00", avRateSL) + strings.ReplaceAll(test.want, " ", "")
			if got := hex.EncodeToString(a.(*ah).vector[:]); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	f, d := newDevice(t)
	f.network = provider.GlobalInfiniBand
	if _, err := d.NewAH(local, 0, nil); !errors.Is(err, unix.EINVAL) {
		t.Errorf("no GRH from a virtual function: got error %v, want %v", err, unix.EINVAL)
	}
	if got := sourcePort(0); got < 0xc000 {
		t.Errorf("without a flow label: got source port %#x, want at least 0xc000", got)
	}
	if rateCode(200) != 0 || rateCode(0) != 0 {
		t.Errorf("got codes %d and %d for undefined rates, want 0", rateCode(200), rateCode(0))
	}
}

// Posting and polling do not allocate.
func TestAllocations(t *testing.T) {
	_, cq, q := newPair(t, provider.RC)
	wrs := []provider.SendWR{{Opcode: provider.OpWrite, Flags: provider.SendSignaled, SGEs: []provider.SGE{{Length: 8}}}}
	recv := []provider.RecvWR{{SGEs: wrs[0].SGEs}}
	var c [2]provider.Completion
	got := testing.AllocsPerRun(100, func() {
		index, first := cq.index, q.send.posted
		if _, err := q.PostSend(wrs); err != nil {
			t.Fatal(err)
		}
		if _, err := q.PostRecv(recv); err != nil {
			t.Fatal(err)
		}
		cq.put(index, q, cqeRequest, uint16(first), func(e []byte) { e[cqeQPN] = wqeWrite })
		cq.put(index+1, q, cqeRecv, uint16(q.recv.head-1), nil)
		if n, err := cq.Poll(c[:]); n != 2 || err != nil {
			t.Fatal(n, err)
		}
		if err := cq.Arm(false); err != nil {
			t.Fatal(err)
		}
	})
	if got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// FuzzPoll checks that no entry panics, and that only a success is reported as a success.
func FuzzPoll(f *testing.F) {
	for _, opcode := range []byte{cqeRequest, cqeRecv, cqeRecvError, cqeRequestError, cqeInvalid, 5} {
		e := make([]byte, cqeSize)
		e[cqeQPN], e[cqeOwner] = wqeRead, opcode<<4
		f.Add(e, false)
		f.Add(e, true)
	}
	fault := make([]byte, cqeSize)
	fault[cqeSyndrome], fault[cqeVendor], fault[cqeOwner] = syndromeAborted, vendorPageFault, cqeRecvError<<4
	f.Add(fault, true)
	f.Fuzz(func(t *testing.T, b []byte, shared bool) {
		fake, d := newDevice(t)
		cq := d.newCQ(t, fake, 1)
		attr := provider.QPAttr{Transport: provider.RC, Cap: provider.QPCap{MaxSendWR: 1, MaxRecvWR: 1}, SendCQ: cq, RecvCQ: cq}
		if shared {
			srq, err := d.NewSRQ(provider.SRQAttr{MaxWR: 1}, answer(fake, &fake.srq, provider.Created{MaxWR: 1}, 1))
			if err != nil {
				t.Fatal(err)
			}
			defer srq.Close()
			attr.SRQ = srq
		}
		q := d.newQP(t, fake, attr)
		defer q.Close()
		copy(cq.entry(0)[:], b)
		own := cq.entry(0)[cqeOwner]
		// Other code decodes single completions, with the same result.
		c := []provider.Completion{poison, poison}
		n, err := cq.Poll(c[:1])
		if n == 1 && (err != nil || c[0].Status == provider.StatusOK && (own>>4 > cqeRecvInv || own&cqeFormatMask != 0)) {
			t.Errorf("got %+v, error %v for %x", c[0], err, b)
		}
		index, first := cq.index, c[0]
		cq.index = 0
		if shared && n == 1 { // the queue's entry is free already
			return
		}
		if n2, err2 := cq.Poll(c); n2 != n || !errors.Is(err2, err) || cq.index != index || n == 1 && c[0] != first {
			t.Errorf("got %d, error %v, %+v with room for two, want %d, %v, %+v for %x", n2, err2, c[0], n, err, first, b)
		}
	})
}
