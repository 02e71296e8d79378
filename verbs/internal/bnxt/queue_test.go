package bnxt

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// Queues have the sizes that libbnxt_re computes.
func TestSizes(t *testing.T) {
	capacity := provider.QPCap{MaxSendWR: 100, MaxRecvWR: 100, MaxSendSGE: 4, MaxRecvSGE: 3, MaxInline: 96}
	for _, test := range []struct {
		name                   string
		chip                   uint32
		properties             uint64
		slots, table, receives int // bytes
		sqSlots                uint32
		cap                    provider.QPCap
		cq                     int
	}{
		{"Thor", thor, 0, 256 * 128, 256 * 16, 128 * 128, 0, provider.QPCap{MaxSendWR: 127, MaxRecvWR: 127, MaxSendSGE: 4, MaxRecvSGE: 3, MaxInline: 96}, 256},
		{"before p5", older, 0, 256 * 128, 256 * 8, 128 * 128, 0, provider.QPCap{MaxSendWR: 127, MaxRecvWR: 127, MaxSendSGE: 4, MaxRecvSGE: 3, MaxInline: 96}, 256},
		{
			"any depth", thor, uapi.BNXTPow2Disabled, 229 * 128, 229 * 16, 101 * 128, 0,
			provider.QPCap{MaxSendWR: 100, MaxRecvWR: 100, MaxSendSGE: 4, MaxRecvSGE: 3, MaxInline: 96}, 201,
		},
		{
			"Thor2", thor2, uapi.BNXTPow2Disabled | uapi.BNXTMSNTable, 229 * 128, 256 * 8, 101 * 128, 0,
			provider.QPCap{MaxSendWR: 100, MaxRecvWR: 100, MaxSendSGE: 4, MaxRecvSGE: 3, MaxInline: 96}, 201,
		},
		{
			"variable", thor2, uapi.BNXTPow2Disabled | uapi.BNXTMSNTable | uapi.BNXTHaveMode, 2048 * 16, 2048 * 8, 101 * 80, 2048,
			provider.QPCap{MaxSendWR: 127, MaxRecvWR: 100, MaxSendSGE: 4, MaxRecvSGE: 3, MaxInline: 96}, 201,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t, test.chip, test.properties)
			c := f.newCQ(t, 100)
			attr := rc(c)
			attr.Cap = capacity
			q := f.newQP(t, attr)
			if got := len(q.send.ring) * slotSize; got != test.slots {
				t.Errorf("send ring: got %d bytes, want %d", got, test.slots)
			}
			if got := len(q.send.packets.table) * 8; got != test.table {
				t.Errorf("table: got %d bytes, want %d", got, test.table)
			}
			if got := len(q.recv.ring) * slotSize; got != test.receives {
				t.Errorf("receive ring: got %d bytes, want %d", got, test.receives)
			}
			if q.Cap() != test.cap || f.qp.SQSlots != test.sqSlots {
				t.Errorf("got %+v and %d slots, want %+v and %d", q.Cap(), f.qp.SQSlots, test.cap, test.sqSlots)
			}
			if f.RoundCQ(100) != 200 || len(c.ring) != test.cq {
				t.Errorf("CQ: got %d and %d entries, want 200 and %d", f.RoundCQ(100), len(c.ring), test.cq)
			}
			if want := f.qp.QPSVA + uint64(f.pages(uint32(test.slots+test.table))); f.qp.QPRVA != want {
				t.Errorf("receive ring at %#x, want %#x", f.qp.QPRVA, want)
			}
			if err := errors.Join(q.Close(), c.Close(), f.device.Close()); err != nil || f.mapped != 0 {
				t.Errorf("Close: got error %v and %d mappings", err, f.mapped)
			}
		})
	}
}

// Each operation has the documented layout: bnxt_re-abi.h, struct bnxt_re_bsqe and others.
func TestPostSend(t *testing.T) {
	sges := []provider.SGE{{Addr: 0x1122334455667788, Length: 0x800, LKey: 0x99}, {Addr: 0x10, Length: 1, LKey: 0x20}}
	const all = provider.SendSignaled | provider.SendFence | provider.SendSolicited
	for _, test := range []struct {
		name string
		ud   bool
		wr   provider.SendWR
		want []uint64
	}{
		{"send", false, provider.SendWR{Opcode: provider.OpSend, SGEs: sges}, []uint64{0x040000, 0x801, 0, 0, 0x1122334455667788, 0x800<<32 | 0x99, 0x10, 1<<32 | 0x20}},
		{"flags", false, provider.SendWR{Opcode: provider.OpSend, Flags: all}, []uint64{0x020d00, 0, 0, 0}},
		{"immediate data", false, provider.SendWR{Opcode: provider.OpSendWithImm, Imm: 0x01020304}, []uint64{0x01020304<<32 | 0x020001, 0, 0, 0}},
		{
			"inline", false, provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, Inline: []byte("0123456789abcdefXY")},
			[]uint64{0x041000, 18, 0, 0, 0x3736353433323130, 0x6665646362613938, 0x5958, 0},
		},
		{"write", false, provider.SendWR{Opcode: provider.OpWrite, SGEs: sges[1:], RemoteAddr: 0x55, RKey: 0x66}, []uint64{0x030004, 1, 0x55, 0x66, 0x10, 1<<32 | 0x20}},
		{
			"write with immediate data", false, provider.SendWR{Opcode: provider.OpWriteWithImm, Imm: 7, RemoteAddr: 0x55, RKey: 0x66},
			[]uint64{7<<32 | 0x020005, 0, 0x55, 0x66},
		},
		{"read", false, provider.SendWR{Opcode: provider.OpRead, SGEs: sges[1:], RemoteAddr: 0x55, RKey: 0x66}, []uint64{0x030006, 1, 0x55, 0x66, 0x10, 1<<32 | 0x20}},
		{
			"compare and swap", false,
			provider.SendWR{Opcode: provider.OpCompareSwap, SGEs: []provider.SGE{{Addr: 8, Length: 8, LKey: 9}}, RemoteAddr: 0x55, RKey: 0x66, CompareAdd: 11, Swap: 12},
			[]uint64{0x66<<32 | 0x030008, 0x55, 12, 11, 8, 8<<32 | 9},
		},
		{
			"fetch and add", false,
			provider.SendWR{Opcode: provider.OpFetchAdd, SGEs: []provider.SGE{{Addr: 8, Length: 8, LKey: 9}}, RemoteAddr: 0x55, RKey: 0x66, CompareAdd: 11, Swap: 12},
			[]uint64{0x66<<32 | 0x03000b, 0x55, 11, 0, 8, 8<<32 | 9},
		},
		{
			"datagram", true, provider.SendWR{Opcode: provider.OpSendWithImm, Imm: 3, SGEs: sges[1:], AH: provider.NewDestination(&ah{0x77}), RemoteQPN: 0x123456, QKey: 0x11111111},
			[]uint64{3<<32 | 0x030001, 0x11111111<<32 | 1, 0x77<<32 | 0x123456, 0, 0x10, 1<<32 | 0x20},
		},
	} {
		for _, properties := range []uint64{0, uapi.BNXTHaveMode} {
			t.Run(fmt.Sprintf("%s %d", test.name, properties), func(t *testing.T) {
				f := newFake(t, thor, properties)
				attr := rc(f.newCQ(t, 8))
				if test.ud {
					attr.Transport = provider.UD
				}
				q := f.newQP(t, attr)
				for i := range q.send.ring {
					q.send.ring[i] = slot{1, 1} // of an earlier round
				}
				if n, err := q.PostSend([]provider.SendWR{test.wr}); n != 1 || err != nil {
					t.Fatalf("got %d posted and error %v", n, err)
				}
				if diff := cmp.Diff(test.want, slots(q.send.ring[:len(test.want)/2])); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				index := uint64(1)
				if properties != 0 {
					index = uint64(len(test.want) / 2)
				}
				if got, want := f.bell(), bellOf(bellSQ, 0x23, index); got != want {
					t.Errorf("got doorbell %#x, want %#x", got, want)
				}
			})
		}
	}
}

// The tables have the packet numbers of messages: of work requests up to Thor.
func TestPackets(t *testing.T) {
	wrs := []provider.SendWR{
		{Opcode: provider.OpSend, SGEs: []provider.SGE{{Length: 1025}}},
		{Opcode: provider.OpRead, SGEs: []provider.SGE{{Length: 1024}, {Length: 1}}},
		{Opcode: provider.OpWrite},
		{Opcode: provider.OpFetchAdd, SGEs: []provider.SGE{{Length: 8}}},
	}
	for _, test := range []struct {
		name       string
		chip       uint32
		properties uint64
		want       []uint64 // first words
	}{
		{"before p5", older, 0, []uint64{0xfffffe, 2<<32 | 2<<24, 3<<32 | 1<<24 | 2, 4<<32 | 4<<24 | 3}},
		{"Thor", thor, 0, []uint64{0xfffffe, 0, 2<<32 | 2<<24, 8, 3<<32 | 1<<24 | 2, 16, 4<<32 | 4<<24 | 3, 24}},
		{"Thor2", thor2, uapi.BNXTMSNTable, []uint64{0xfffffe, 1<<48 | 2<<24, 2<<48 | 3<<24 | 2, 3<<48 | 4<<24 | 3}},
		{"variable", thor2, uapi.BNXTMSNTable | uapi.BNXTHaveMode, []uint64{0xfffffe, 3<<48 | 2<<24, 7<<48 | 3<<24 | 2, 9<<48 | 4<<24 | 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFake(t, test.chip, test.properties)
			q := f.newQP(t, rc(f.newCQ(t, 8)))
			if n, err := q.PostSend(wrs); n != len(wrs) || err != nil {
				t.Fatalf("got %d posted and error %v", n, err)
			}
			if diff := cmp.Diff(test.want, words(q.send.packets.table[:len(test.want)])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A ring takes as many work requests as its capacity, through several rounds, and rings once
// for a call. The doorbell has the round's epoch.
func TestFull(t *testing.T) {
	for _, properties := range []uint64{0, uapi.BNXTPow2Disabled, uapi.BNXTPow2Disabled | uapi.BNXTHaveMode, uapi.BNXTMSNTable | uapi.BNXTHaveMode} {
		t.Run(fmt.Sprint(properties), func(t *testing.T) {
			f := newFake(t, thor, properties)
			c := f.newCQ(t, 8)
			q := f.newQP(t, rc(c))
			a := adapter{q: c}
			wrs := make([]provider.SendWR, 1000)
			for i := range wrs {
				wrs[i] = provider.SendWR{ID: uint64(i), Opcode: provider.OpSend, SGEs: make([]provider.SGE, i%3)}
			}
			entries, total, used := uint32(len(q.send.requests)), uint32(0), 0
			for round := range 40 {
				n, err := q.PostSend(wrs)
				if n < int(q.Cap().MaxSendWR) || !errors.Is(err, provider.ErrFull) {
					t.Fatalf("round %d: got %d posted and error %v, want at least %d and %v", round, n, err, q.Cap().MaxSendWR, provider.ErrFull)
				}
				total += uint32(n)
				index, epoch := uint64(total%entries), uint64(total/entries&1)
				if f.variable() {
					for i := range n {
						used += headerSlots + i%3
					}
					index, epoch = uint64(used%len(q.send.ring)), uint64(used/len(q.send.ring)&1)
				}
				if got, want := f.bell(), bellOf(bellSQ, 0x23, index|epoch<<bellEpoch); got != want {
					t.Fatalf("round %d: got doorbell %#x, want %#x", round, got, want)
				}
				a.sent(q, uint64(total%entries), 0)
				poll(t, c)
				if q.send.used != q.send.doneSlots.Load() {
					t.Fatalf("round %d: got %d slots in use", round, q.send.used-q.send.doneSlots.Load())
				}
			}
			q.Reset()
			if n, err := q.PostSend(wrs[:1]); n != 1 || err != nil || slots(q.send.ring)[0] != 0x020000 {
				t.Errorf("after Reset: got %d posted and error %v", n, err)
			}
		})
	}
}

// Receives keep an entry free, and their IDs come back in order.
func TestReceives(t *testing.T) {
	for _, properties := range []uint64{0, uapi.BNXTPow2Disabled, uapi.BNXTHaveMode} {
		t.Run(fmt.Sprint(properties), func(t *testing.T) {
			f := newFake(t, thor, properties)
			c := f.newCQ(t, 4)
			q := f.newQP(t, rc(c))
			a := adapter{q: c}
			total, entries := uint64(0), uint64(len(q.recv.ids))
			for round := range uint64(5) {
				wrs := make([]provider.RecvWR, 100)
				for i := range wrs {
					wrs[i] = provider.RecvWR{ID: round*100 + uint64(i), SGEs: []provider.SGE{{Addr: 1, Length: 2, LKey: 3}}}
				}
				n, err := q.PostRecv(wrs)
				if n != int(q.Cap().MaxRecvWR) || !errors.Is(err, provider.ErrFull) {
					t.Fatalf("got %d posted and error %v, want %d and %v", n, err, q.Cap().MaxRecvWR, provider.ErrFull)
				}
				end := total + uint64(n)
				if got, want := f.bell(), bellOf(bellRQ, 0x23, end%entries|end/entries&1<<bellEpoch); got != want {
					t.Fatalf("got doorbell %#x, want %#x", got, want)
				}
				for i := range uint64(n) {
					number := (total + i) % entries
					w := slots(q.recv.ring[number*uint64(q.recv.step):][:3])
					if want := []uint64{0x030080, number, 0, 0, 1, 2<<32 | 3}; !slices.Equal(w, want) {
						t.Fatalf("got work request %#x, want %#x", w, want)
					}
					a.received(q, 60, number, 0)
					poll(t, c, provider.Completion{ID: wrs[i].ID, QPN: 0x23, Opcode: provider.CompletedRecv, ByteLen: 60})
					f.bell()
				}
				total = end
			}
			if n, err := q.PostRecv(make([]provider.RecvWR, 1)); n != 1 || err != nil || slots(q.recv.ring[total%entries*uint64(q.recv.step):][:1])[0] != 0x030080 {
				t.Errorf("without SGEs: got %d posted, error %v", n, err)
			}
		})
	}
}
