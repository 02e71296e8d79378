//go:build inguest

package verbs_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// pattern fills memory with bytes that depend on the seed.
func pattern(b []byte, seed byte) []byte {
	for i := range b {
		b[i] = byte(i*7) ^ byte(i>>8) ^ seed
	}
	return b
}

// Data offsets in an endpoint's memory.
const (
	out = 0
	in  = memorySize / 2
)

func (e *endpoint) bytes(offset, length int) []byte { return e.mr.Bytes()[offset : offset+length] }

// pair returns two connected queue pairs, each on its own context.
func pair(t *testing.T, kind verbs.QPType, shared bool) (*endpoint, *endpoint) {
	t.Helper()
	a, b := newEndpoint(t, open(t), kind, shared), newEndpoint(t, open(t), kind, shared)
	a.connect(b)
	b.connect(a)
	return a, b
}

// remote adds the peer memory's address and key to a work request.
func remote(wr verbs.SendWR, to *verbs.MR, offset int) verbs.SendWR {
	wr.RemoteAddr, wr.RKey = to.Addr()+uint64(offset), to.RKey()
	return wr
}

func same(t *testing.T, name string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		i := 0
		for got[i] == want[i] {
			i++
		}
		t.Errorf("%s: got another byte %d of %d", name, i, len(got))
	}
}

func TestGuestData(t *testing.T) {
	for _, kind := range []verbs.QPType{verbs.QPTypeRC, verbs.QPTypeUC} {
		for _, shared := range []bool{false, true} {
			name := kind.String()
			if shared {
				name += " SRQ"
			}
			t.Run(name, func(t *testing.T) {
				a, b := pair(t, kind, shared)
				for i, size := range []int{0, 1, 100, 1024, 1025, 70000} {
					id := uint64(i)
					want := pattern(a.bytes(out, size), byte(i))
					b.receive(id, b.mr.SGE(in, size))
					a.send(verbs.SendWR{ID: id, Opcode: verbs.OpSend, SGEs: []verbs.SGE{a.mr.SGE(out, size)}})
					a.ok(id, verbs.CompletedSend)
					if c := b.ok(id, verbs.CompletedRecv); int(c.ByteLen) != size || c.Flags != verbs.CompletionGRH {
						t.Errorf("receive: got %+v, want %d bytes with a GRH", c, size)
					}
					same(t, "send", b.bytes(in, size), want)

					want = pattern(a.bytes(out, size), byte(i+100))
					b.receive(id)
					wr := verbs.SendWR{ID: id, Opcode: verbs.OpWriteWithImm, Imm: 0x01020304 + uint32(i), SGEs: []verbs.SGE{a.mr.SGE(out, size)}}
					a.send(remote(wr, b.mr, in))
					a.ok(id, verbs.CompletedWrite)
					if c := b.ok(id, verbs.CompletedRecvWriteImm); c.Imm != 0x01020304+uint32(i) || c.Flags&verbs.CompletionWithImm == 0 || int(c.ByteLen) != size {
						t.Errorf("write with immediate: got %+v, want %d bytes, immediate data %#x", c, size, 0x01020304+uint32(i))
					}
					same(t, "write with immediate", b.bytes(in, size), want)
				}
				b.receive(1, b.mr.SGE(in, 16))
				a.send(verbs.SendWR{ID: 2, Opcode: verbs.OpSendWithImm, Imm: 0xfffefdfc, SGEs: []verbs.SGE{a.mr.SGE(out, 16)}})
				a.ok(2, verbs.CompletedSend)
				if c := b.ok(1, verbs.CompletedRecv); c.Imm != 0xfffefdfc || c.Flags != verbs.CompletionGRH|verbs.CompletionWithImm {
					t.Errorf("send with immediate: got %+v, want immediate data 0xfffefdfc", c)
				}

				// A write is not visible to the peer until the send that follows it.
				want := pattern(a.bytes(out, 5000), 99)
				b.receive(3, b.mr.SGE(0, 8))
				a.send(remote(verbs.SendWR{ID: 4, Opcode: verbs.OpWrite, SGEs: []verbs.SGE{a.mr.SGE(out, 5000)}}, b.mr, in))
				a.ok(4, verbs.CompletedWrite)
				a.send(verbs.SendWR{ID: 5, Opcode: verbs.OpSend})
				a.ok(5, verbs.CompletedSend)
				b.ok(3, verbs.CompletedRecv)
				same(t, "write", b.bytes(in, 5000), want)
			})
		}
	}
}

// The payload is in the work request, or in several SGEs.
func TestGuestPieces(t *testing.T) {
	a, b := pair(t, verbs.QPTypeRC, false)
	want := pattern(make([]byte, maxInline), 3)
	for _, size := range []int{0, 1, 127, 128} {
		b.receive(1, b.mr.SGE(in, 7), b.mr.SGE(in+1000, 500))
		a.send(verbs.SendWR{ID: 2, Opcode: verbs.OpSend, Flags: verbs.SendInline, Inline: want[:size]})
		a.ok(2, verbs.CompletedSend)
		b.ok(1, verbs.CompletedRecv)
		got := append(bytes.Clone(b.bytes(in, min(7, size))), b.bytes(in+1000, max(0, size-7))...)
		same(t, "inline send", got, want[:size])

		a.send(remote(verbs.SendWR{ID: 3, Opcode: verbs.OpWrite, Flags: verbs.SendInline, Inline: want[:size]}, b.mr, in))
		a.ok(3, verbs.CompletedWrite)
		same(t, "inline write", b.bytes(in, size), want[:size])
	}
	pieces := []verbs.SGE{a.mr.SGE(10, 1), a.mr.SGE(5000, 3000), a.mr.SGE(0, 0), a.mr.SGE(100, 99)}
	pattern(a.bytes(0, 10000), 5)
	want = append(bytes.Clone(a.bytes(10, 1)), a.bytes(5000, 3000)...)
	want = append(want, a.bytes(100, 99)...)
	b.receive(1, b.mr.SGE(in, 2000), b.mr.SGE(in+4000, 1), b.mr.SGE(in+5000, 2000))
	a.send(verbs.SendWR{ID: 4, Opcode: verbs.OpSend, SGEs: pieces})
	a.ok(4, verbs.CompletedSend)
	b.ok(1, verbs.CompletedRecv)
	got := append(bytes.Clone(b.bytes(in, 2000)), b.bytes(in+4000, 1)...)
	same(t, "pieces", append(got, b.bytes(in+5000, 1099)...), want)
}

// Work requests generate a completion if they are signaled, or always with
// SignalAll.
func TestGuestSignalAll(t *testing.T) {
	e := newEndpoint(t, open(t), verbs.QPTypeRC, false)
	for _, all := range []bool{false, true} {
		t.Run(fmt.Sprint("SignalAll ", all), func(t *testing.T) {
			one := *e
			one.t = t
			one.qp = must(e.pd.CreateQP(verbs.QPInit{
				Type: verbs.QPTypeRC, SendCQ: e.cq, RecvCQ: e.cq, SignalAll: all,
				Cap: verbs.QPCap{MaxSendWR: depth, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
			}))(t)
			one.connect(&one)
			if s := must(one.qp.Query())(t); s.SignalAll != all {
				t.Errorf("got %v from the kernel, want %v", s.SignalAll, all)
			}
			if n, err := one.qp.PostSend([]verbs.SendWR{{ID: 1, Opcode: verbs.OpWrite}}); n != 1 || err != nil {
				t.Fatalf("got %d posted, error %v, want 1", n, err)
			}
			one.send(verbs.SendWR{ID: 2, Opcode: verbs.OpWrite})
			if all {
				one.ok(1, verbs.CompletedWrite)
			}
			one.ok(2, verbs.CompletedWrite)
		})
	}
}

func TestGuestReadAtomic(t *testing.T) {
	a, b := pair(t, verbs.QPTypeRC, false)
	for i, size := range []int{1, 1024, 70001} {
		want := pattern(b.bytes(out, size), byte(i))
		a.send(remote(verbs.SendWR{ID: 1, Opcode: verbs.OpRead, SGEs: []verbs.SGE{a.mr.SGE(in, size)}}, b.mr, out))
		if c := a.ok(1, verbs.CompletedRead); int(c.ByteLen) != size {
			t.Errorf("read: got %+v, want %d bytes", c, size)
		}
		same(t, "read", a.bytes(in, size), want)
	}
	word, before := b.bytes(out, 8), a.bytes(in, 8)
	binary.NativeEndian.PutUint64(word, 1<<40)
	atomic := func(wr verbs.SendWR, op verbs.CompletionOpcode, want uint64) {
		t.Helper()
		was := binary.NativeEndian.Uint64(word)
		wr.SGEs = []verbs.SGE{a.mr.SGE(in, 8)}
		a.send(remote(wr, b.mr, out))
		a.ok(wr.ID, op)
		if got := binary.NativeEndian.Uint64(before); got != was {
			t.Errorf("%v: got previous value %d, want %d", wr.Opcode, got, was)
		}
		if got := binary.NativeEndian.Uint64(word); got != want {
			t.Errorf("%v: got %d, want %d", wr.Opcode, got, want)
		}
	}
	atomic(verbs.SendWR{ID: 1, Opcode: verbs.OpFetchAdd, CompareAdd: 5}, verbs.CompletedFetchAdd, 1<<40+5)
	atomic(verbs.SendWR{ID: 2, Opcode: verbs.OpCompareSwap, CompareAdd: 7, Swap: 9}, verbs.CompletedCompareSwap, 1<<40+5)
	atomic(verbs.SendWR{ID: 3, Opcode: verbs.OpCompareSwap, CompareAdd: 1<<40 + 5, Swap: 9}, verbs.CompletedCompareSwap, 9)
	atomic(verbs.SendWR{ID: 4, Opcode: verbs.OpFetchAdd, CompareAdd: ^uint64(0)}, verbs.CompletedFetchAdd, 8)
}

// A window permits access with its own key, until a local or a remote invalidation.
func TestGuestWindow(t *testing.T) {
	a, b := pair(t, verbs.QPTypeRC, false)
	window := must(b.pd.AllocMW())(t)
	key := window.RKey()
	bind := func() {
		t.Helper()
		next := key&^0xff | (key+1)&0xff
		b.send(verbs.SendWR{ID: 1, Opcode: verbs.OpBindMW, Bind: &verbs.Bind{
			Window: key, RKey: next, LKey: b.mr.LKey(), Addr: b.mr.Addr() + in, Length: 100, Access: verbs.AccessRemoteWrite,
		}})
		b.ok(1, verbs.CompletedBindMW)
		key = next
	}
	write := func() {
		t.Helper()
		a.send(verbs.SendWR{
			ID: 2, Opcode: verbs.OpWrite, SGEs: []verbs.SGE{a.mr.SGE(out, 100)}, RemoteAddr: b.mr.Addr() + in, RKey: key,
		})
	}
	bind()
	want := pattern(a.bytes(out, 100), 1)
	write()
	a.ok(2, verbs.CompletedWrite)
	same(t, "write through a window", b.bytes(in, 100), want)

	b.receive(3)
	a.send(verbs.SendWR{ID: 4, Opcode: verbs.OpSendInvalidate, InvalidateKey: key})
	a.ok(4, verbs.CompletedSend)
	if c := b.ok(3, verbs.CompletedRecv); c.Flags&verbs.CompletionWithInv == 0 || c.InvKey != key {
		t.Errorf("send with invalidate: got %+v, want key %#x", c, key)
	}
	bind()
	b.send(verbs.SendWR{ID: 5, Opcode: verbs.OpLocalInvalidate, InvalidateKey: key})
	b.ok(5, verbs.CompletedLocalInvalidate)
	write()
	if c := a.completion(); c.Status != verbs.StatusRemoteAccess {
		t.Errorf("write with an invalidated key: got %+v, want %v", c, verbs.StatusRemoteAccess)
	} else {
		t.Log(c.Err())
	}
}

func TestGuestDatagrams(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprint("SRQ ", shared), func(t *testing.T) {
			a, b := newEndpoint(t, open(t), verbs.QPTypeUD, shared), newEndpoint(t, open(t), verbs.QPTypeUD, shared)
			a.connect(b)
			b.connect(a)
			ah := must(a.pd.CreateAH(path(t, a.context)))(t)
			const grh = 40
			for i, size := range []int{0, 1, 1024} {
				id := uint64(i)
				want := pattern(a.bytes(out, size), byte(i))
				b.receive(id, b.mr.SGE(in, grh+size))
				a.send(verbs.SendWR{
					ID: id, Opcode: verbs.OpSendWithImm, Imm: 77, SGEs: []verbs.SGE{a.mr.SGE(out, size)},
					AH: ah.Destination(), RemoteQPN: b.qp.Number(), QKey: qkey,
				})
				a.ok(id, verbs.CompletedSend)
				c := b.ok(id, verbs.CompletedRecv)
				if int(c.ByteLen) != grh+size || c.SrcQPN != a.qp.Number() || c.Imm != 77 || c.Flags != verbs.CompletionGRH|verbs.CompletionWithImm {
					t.Errorf("datagram: got %+v, want %d bytes from QP %#x", c, grh+size, a.qp.Number())
				}
				same(t, "datagram", b.bytes(in+grh, size), want)
			}
		})
	}
}

// Completions arrive through the channel, for both arming methods.
func TestGuestCompletionEvents(t *testing.T) {
	a, b := pair(t, verbs.QPTypeRC, false)
	const messages = 50
	received := make(chan verbs.Completion)
	go func() {
		defer close(received)
		for range messages {
			var c [1]verbs.Completion
			if n, err := b.cq.Wait(t.Context(), c[:]); n != 1 || err != nil {
				t.Errorf("got %d completions, error %v, want 1", n, err)
				return
			}
			received <- c[0]
		}
	}()
	for id := range uint64(messages) {
		b.receive(id, b.mr.SGE(in, 8))
		a.send(verbs.SendWR{ID: id, Opcode: verbs.OpSend, SGEs: []verbs.SGE{a.mr.SGE(out, 8)}})
		a.check(a.event(), id, verbs.CompletedSend)
		b.check(<-received, id, verbs.CompletedRecv)
	}
	// This uses up the previous Arm.
	b.receive(1)
	a.send(verbs.SendWR{ID: 1, Opcode: verbs.OpSend, Flags: verbs.SendSolicited})
	b.ok(1, verbs.CompletedRecv)
	events := func(within time.Duration) (n int, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		for ; err == nil; n++ {
			_, err = b.channel.Wait(ctx)
		}
		return n - 1, err
	}
	_, _ = events(10 * time.Millisecond)
	if err := b.cq.Arm(true); err != nil {
		t.Fatal(err)
	}
	b.receive(2)
	a.send(verbs.SendWR{ID: 2, Opcode: verbs.OpSend})
	b.ok(2, verbs.CompletedRecv)
	if n, err := events(10 * time.Millisecond); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("unsolicited completion: got %d events, error %v, want 0 and %v", n, err, context.DeadlineExceeded)
	}
	b.receive(3)
	a.send(verbs.SendWR{ID: 3, Opcode: verbs.OpSend, Flags: verbs.SendSolicited})
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if cq, err := b.channel.Wait(ctx); cq != b.cq || err != nil {
		t.Errorf("got event of %v, error %v, want %v", cq, err, b.cq)
	}
	b.ok(3, verbs.CompletedRecv)
}
