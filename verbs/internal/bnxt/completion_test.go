package bnxt

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A completion completes all work requests before its index, also if they do not fit at once.
func TestPoll_Several(t *testing.T) {
	f := newFake(t, thor, 0)
	c := f.newCQ(t, 8)
	a := adapter{q: c}
	q := f.newQP(t, rc(c))
	postSends(t, q, provider.SendSignaled, 1, 2)
	postSends(t, q, 0, 3)
	postSends(t, q, provider.SendSignaled, 4)
	postSends(t, q, 0, 5, 6)
	a.sent(q, 6, 0)
	into := make([]provider.Completion, 2)
	for i, want := range [][]uint64{{1, 2}, {4}, {}} {
		n, err := c.Poll(into)
		if n != len(want) || err != nil || n > 0 && into[0].ID != want[0] || n > 1 && into[1].ID != want[1] {
			t.Errorf("poll %d: got %d completions %+v and error %v, want %v", i, n, into[:n], err, want)
		}
	}
	if q.send.done != 6 || c.head != 1 {
		t.Errorf("got %d work requests done and entry %d, want 6 and 1", q.send.done, c.head)
	}
}

// The data of received messages.
func TestPoll_Received(t *testing.T) {
	f := newFake(t, thor, 0)
	c := f.newCQ(t, 8)
	a := adapter{q: c}
	attr := rc(c)
	q := f.newQP(t, attr)
	attr.Transport = provider.UD
	ud := f.newQP(t, attr)
	for _, q := range []*qp{q, ud} {
		if n, err := q.PostRecv([]provider.RecvWR{{ID: 1}, {ID: 2}, {ID: 3}}); n != 3 || err != nil {
			t.Fatal(n, err)
		}
	}
	received := provider.Completion{QPN: 0x23, Opcode: provider.CompletedRecv, ByteLen: 8}
	want := received
	want.ID, want.Imm, want.Flags = 1, 0x01020304, provider.CompletionWithImm
	a.received(q, 0x01020304<<32|8, 0, cqeImm)
	poll(t, c, want)
	want.ID, want.Opcode = 2, provider.CompletedRecvWriteImm
	a.received(q, 0x01020304<<32|8, 1, cqeImm|cqeWrite)
	poll(t, c, want)
	want = received
	want.ID, want.InvKey, want.Flags = 3, 0x99, provider.CompletionWithInv
	a.received(q, 0x99<<32|8, 2, cqeInvalidate)
	poll(t, c, want)
	want = received
	want.ID, want.ByteLen, want.SrcQPN, want.Imm = 1, 104, 0xab1234, 5
	want.Flags = provider.CompletionGRH | provider.CompletionWithImm
	a.put(entry{5<<32 | 0xc000 | 104, ud.handle, 0x1234<<48 | 0x020304050607, 0xab<<56 | 0x30<<16 | cqeImm | typeRecvUD<<cqeType})
	poll(t, c, want)
}

// After the entry that reports an error, the work requests of both queues complete here: also
// those that are posted later, but only once the adapter's completions are polled.
func TestFlush(t *testing.T) {
	f := newFake(t, thor, 0)
	c, other := f.newCQ(t, 32), f.newCQ(t, 32)
	a, b := adapter{q: c}, adapter{q: other}
	attr := rc(c)
	attr.RecvCQ = other
	q := f.newQP(t, attr)
	flushed := func(id uint64, opcode provider.CompletionOpcode) provider.Completion {
		return provider.Completion{ID: id, Status: provider.StatusFlushed, QPN: 0x23, Opcode: opcode}
	}
	postSends(t, q, 0, 1)
	postSends(t, q, provider.SendSignaled, 2, 3)
	postSends(t, q, 0, 4)
	if n, err := q.PostRecv([]provider.RecvWR{{ID: 5}, {ID: 6}}); n != 2 || err != nil {
		t.Fatalf("got %d posted, error %v", n, err)
	}
	a.sent(q, 3, 7)
	failed := provider.Completion{ID: 3, Status: provider.StatusRemoteAccess, QPN: 0x23, VendorErr: 7}
	poll(t, c, provider.Completion{ID: 2, QPN: 0x23}, failed, flushed(4, provider.CompletedSend))
	poll(t, other)
	a.ended(q)
	b.received(q, 8, 0, 0)
	poll(t, c)
	poll(t, other, provider.Completion{ID: 5, QPN: 0x23, Opcode: provider.CompletedRecv, ByteLen: 8}, flushed(6, provider.CompletedRecv))
	postSends(t, q, 0, 7)
	poll(t, c, flushed(7, provider.CompletedSend))
	a.sent(q, 4, 11) // late
	poll(t, c)
	q.Reset()
	postSends(t, q, 0, 8)
	poll(t, c)
	a.ended(q)
	poll(t, c, flushed(8, provider.CompletedSend))
	if err := q.Close(); err != nil || c.flushed.Load() != nil || other.flushed.Load() != nil {
		t.Errorf("Close: got error %v and queues in error", err)
	}
}

// Each error code has its status.
func TestStatuses(t *testing.T) {
	f := newFake(t, thor, 0)
	c := f.newCQ(t, 8)
	a := adapter{q: c}
	q := f.newQP(t, rc(c))
	for receives, statuses := range map[bool]map[uint64]provider.Status{
		false: {
			1: provider.StatusBadResponse, 2: provider.StatusLocalLength, 3: provider.StatusLocalQPOp, 4: provider.StatusLocalProt, 5: provider.StatusMWBind,
			6: provider.StatusRemoteInvalid, 7: provider.StatusRemoteAccess, 8: provider.StatusRemoteOp, 9: provider.StatusRNRExceeded,
			10: provider.StatusRetryExceeded, 11: provider.StatusFlushed, 12: provider.StatusGeneral, 255: provider.StatusGeneral,
		},
		true: {
			1: provider.StatusLocalAccess, 2: provider.StatusLocalLength, 3: provider.StatusLocalProt, 4: provider.StatusLocalQPOp, 5: provider.StatusMWBind,
			6: provider.StatusRemoteInvalid, 7: provider.StatusFlushed, 9: provider.StatusGeneral,
		},
	} {
		for code, want := range statuses {
			q.Reset()
			if receives {
				if n, err := q.PostRecv([]provider.RecvWR{{ID: 9}}); n != 1 || err != nil {
					t.Fatal(n, err)
				}
				a.received(q, 0, 0, code<<cqeStatus)
			} else {
				postSends(t, q, 0, 9)
				a.sent(q, 1, code)
			}
			into := make([]provider.Completion, 2)
			if n, err := c.Poll(into); n != 1 || err != nil || into[0].Status != want || into[0].ID != 9 || uint64(into[0].VendorErr) != code {
				t.Errorf("receives %t, code %d: got %d completions, error %v, %+v, want %v", receives, code, n, err, into[0], want)
			}
		}
	}
	q.Reset()
	if n, err := q.PostRecv([]provider.RecvWR{{ID: 9}}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	a.received(q, 0, 0, statusHardwareFlush<<cqeStatus)
	poll(t, c)
	a.ended(q)
	poll(t, c, provider.Completion{ID: 9, Status: provider.StatusFlushed, QPN: 0x23, Opcode: provider.CompletedRecv})
}

// A shared queue's completions name work requests, which are free again, polled or not, and
// used again in the order in which they became free.
func TestSRQ(t *testing.T) {
	f := newFake(t, thor, 0)
	c := f.newCQ(t, 16)
	a := adapter{q: c}
	s := f.newSRQ(t, provider.SRQAttr{MaxWR: 3, MaxSGE: 1})
	attr := rc(c)
	attr.SRQ = s
	q := f.newQP(t, attr)
	if n, err := q.PostRecv(make([]provider.RecvWR, 1)); n != 0 || !errors.Is(err, provider.ErrFull) || f.qp.QPRVA != 0 {
		t.Errorf("own queue: got %d posted and error %v, want %v", n, err, provider.ErrFull)
	}
	wrs := []provider.RecvWR{{ID: 70, SGEs: []provider.SGE{{Addr: 1, Length: 2, LKey: 3}}}, {ID: 71}, {ID: 72}, {ID: 73}}
	if n, err := s.PostRecv(wrs); n != 3 || !errors.Is(err, provider.ErrFull) || f.bell() != bellOf(bellSRQ, 0x23, 3) {
		t.Errorf("got %d posted, error %v, want 3 and %v", n, err, provider.ErrFull)
	}
	if got := slots(s.ring[:3]); got[0] != 0x030080 || got[1] != 0 || got[4] != 1 || got[5] != 2<<32|3 {
		t.Errorf("got work request %#x", got)
	}
	a.received(q, 8, 1, 0)
	poll(t, c, provider.Completion{ID: 71, QPN: 0x23, Opcode: provider.CompletedRecv, ByteLen: 8})
	a.received(q, 8, 0, 0)
	if err := q.Close(); err != nil || s.used != 1 {
		t.Errorf("Close: got error %v and %d work requests in use, want 1", err, s.used)
	}
	poll(t, c)
	for i, number := range []uint64{3, 1} {
		if n, err := s.PostRecv(wrs[1:2]); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		at := (3 + i) % 4
		if got, want := f.bell(), bellOf(bellSRQ, 0x23, uint64(3+i+1)%4|uint64(3+i+1)/4<<bellEpoch); got != want {
			t.Errorf("got doorbell %#x, want %#x", got, want)
		}
		if got := slots(s.ring[at*staticSlots:])[1]; got != number {
			t.Errorf("entry %d: got number %d, want %d", at, got, number)
		}
	}
}

// A shared queue is armed for its limit while more work requests are posted.
func TestSRQ_Limit(t *testing.T) {
	f := newFake(t, thor2, 0)
	f.toggle = make([]byte, minPage)
	binary.NativeEndian.PutUint32(f.toggle, 6)
	s := f.newSRQ(t, provider.SRQAttr{MaxWR: 7, MaxSGE: 1})
	post := func(n int) {
		t.Helper()
		if got, err := s.PostRecv(make([]provider.RecvWR, n)); got != n || err != nil {
			t.Fatal(got, err)
		}
	}
	post(2)
	s.SetLimit(2)
	if got := f.bell(); got != bellOf(bellSRQ, 0x23, 2) {
		t.Errorf("with as many: got doorbell %#x", got)
	}
	post(1)
	armed := bellOf(bellSRQArm, 0x23, 2|2<<bellToggle)
	if got := f.bell(); got != armed {
		t.Errorf("with more: got doorbell %#x, want %#x", got, armed)
	}
	post(1)
	if got := f.bell(); got != bellOf(bellSRQ, 0x23, 4) {
		t.Errorf("armed: got doorbell %#x", got)
	}
	s.SetLimit(2)
	if got := f.bell(); got != armed {
		t.Errorf("again: got doorbell %#x, want %#x", got, armed)
	}
	if err := errors.Join(s.Close(), f.device.Close()); err != nil || f.mapped != 0 {
		t.Errorf("Close: got error %v and %d mappings", err, f.mapped)
	}
}

// A queue pair's completions vanish with it; other completions stay.
func TestPurge(t *testing.T) {
	f := newFake(t, thor, 0)
	c := f.newCQ(t, 8)
	a := adapter{q: c}
	gone, stays := f.newQP(t, rc(c)), f.newQP(t, rc(c))
	postSends(t, gone, provider.SendSignaled, 1)
	postSends(t, stays, provider.SendSignaled, 2)
	a.sent(gone, 1, 0)
	a.sent(stays, 1, 0)
	a.ended(gone)
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	poll(t, c, provider.Completion{ID: 2, QPN: 0x23})
	if c.head != 3 {
		t.Errorf("got entry %d, want 3", c.head)
	}
	other := f.newCQ(t, 8)
	for name, put := range map[string]func(a *adapter){
		"unknown queue pair":         func(a *adapter) { a.put(entry{1 << 40, 1, 0, typeSend << cqeType}) },
		"unknown type":               func(a *adapter) { a.put(entry{stays.handle, 1, 0, 0x5 << cqeType}) },
		"cut-off":                    func(a *adapter) { a.put(entry{3: typeCutoff << cqeType}) },
		"no work request":            func(a *adapter) { a.sent(stays, 1, 0) },
		"too many work requests":     func(a *adapter) { a.sent(stays, 7, 0) },
		"no receive":                 func(a *adapter) { a.received(stays, 1, 0, 0) },
		"other completion queue":     func(a *adapter) { a.q = other; a.sent(stays, 1, 0) },
		"other receive's completion": func(a *adapter) { a.q = other; a.received(stays, 1, 0, 0) },
	} {
		a := adapter{q: f.newCQ(t, 8)}
		attr := rc(a.q)
		stays = f.newQP(t, attr)
		put(&a)
		if n, err := a.q.Poll(make([]provider.Completion, 2)); n != 0 || !errors.Is(err, provider.ErrCorrupt) {
			t.Errorf("%s: got %d completions and error %v, want %v", name, n, err, provider.ErrCorrupt)
		}
		other = f.newCQ(t, 8)
	}
}

// Arming repeats the driver's toggle, and the consumer's index with its epoch. The doorbell of
// polling follows half a round.
func TestArm(t *testing.T) {
	f := newFake(t, thor2, 0)
	f.toggle = make([]byte, minPage)
	c := f.newCQ(t, 3)
	q := f.newQP(t, rc(c))
	a := adapter{q: c}
	for i := range uint64(20) {
		binary.NativeEndian.PutUint32(f.toggle, uint32(i))
		kind := bellCQArm - i&1
		if err := c.Arm(i&1 != 0); err != nil {
			t.Fatal(err)
		}
		at := i%8 | i/8&1<<bellEpoch
		if got, want := f.bell(), bellOf(kind, 0x23, at|i&3<<bellToggle); got != want {
			t.Errorf("entry %d: got doorbell %#x, want %#x", i, got, want)
		}
		postSends(t, q, provider.SendSignaled, i)
		f.bell()
		a.sent(q, (i+1)%uint64(len(q.send.requests)), 0)
		poll(t, c, provider.Completion{ID: i, QPN: 0x23})
		want := uint64(0)
		if (i+1)%4 == 0 {
			want = bellOf(bellCQ, 0x23, (i+1)%8|(i+1)/8&1<<bellEpoch)
		}
		if got := f.bell(); got != want {
			t.Errorf("entry %d polled: got doorbell %#x, want %#x", i, got, want)
		}
	}
	if c.Delivered(); f.bell() != 0 {
		t.Error("Delivered: got a doorbell")
	}
}

// Posting and polling do not allocate.
func TestAllocations(t *testing.T) {
	f := newFake(t, thor, 0)
	c := f.newCQ(t, 8)
	a := adapter{q: c}
	q := f.newQP(t, rc(c))
	wrs := []provider.SendWR{{Opcode: provider.OpSend, SGEs: make([]provider.SGE, 2)}}
	receives := []provider.RecvWR{{SGEs: make([]provider.SGE, 1)}}
	into := make([]provider.Completion, 1)
	if n := testing.AllocsPerRun(1000, func() {
		number := uint64(q.recv.next)
		q.PostSend(wrs)
		q.PostRecv(receives)
		a.sent(q, uint64(q.send.next), 0)
		c.Poll(into)
		a.received(q, 8, number, 0)
		c.Poll(into)
	}); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
}

// Whatever an adapter writes, polling neither panics nor makes a success of an error.
func FuzzPoll(f *testing.F) {
	f.Add(uint64(1), uint64(1), uint64(0), uint64(typeSend<<cqeType))
	f.Add(uint64(8), uint64(1), uint64(0), uint64(typeRecvRC<<cqeType|cqeImm))
	f.Add(uint64(8), uint64(2), uint64(0), uint64(typeRecvUD<<cqeType))
	f.Add(uint64(1), uint64(2), uint64(0), uint64(7<<cqeStatus|typeSend<<cqeType))
	f.Add(uint64(1), uint64(0), uint64(0), uint64(typeTerminal<<cqeType))
	f.Fuzz(func(t *testing.T, word0, word1, word2, word3 uint64) {
		for _, properties := range []uint64{0, uapi.BNXTMSNTable | uapi.BNXTHaveMode | uapi.BNXTPow2Disabled} {
			fake := newFake(t, thor2, properties)
			c := fake.newCQ(t, 8)
			s := fake.newSRQ(t, provider.SRQAttr{MaxWR: 3, MaxSGE: 1})
			attr := rc(c)
			q := fake.newQP(t, attr)
			attr.SRQ = s
			shares := fake.newQP(t, attr)
			postSends(t, q, provider.SendSignaled, 1, 2, 3)
			q.PostRecv(make([]provider.RecvWR, 3))
			s.PostRecv(make([]provider.RecvWR, 3))
			a := adapter{q: c}
			a.put(entry{word0, word1, word2, word3 &^ cqePhase})
			into := make([]provider.Completion, 2)
			for range 4 {
				n, err := c.Poll(into)
				if err != nil && !errors.Is(err, provider.ErrCorrupt) {
					t.Fatal(err)
				}
				for _, x := range into[:n] {
					if x.Status == provider.StatusOK && word3>>cqeStatus&0xff != 0 && x.ID == 3 {
						t.Errorf("got %+v for %#x", x, word3)
					}
				}
			}
			if err := errors.Join(q.Close(), shares.Close(), s.Close(), c.Close(), fake.device.Close()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
