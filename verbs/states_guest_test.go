//go:build inguest

package verbs_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

func TestGuestStates(t *testing.T) {
	a := newEndpoint(t, open(t), verbs.QPTypeRC, false)
	in := func(want verbs.QPState) verbs.QPStatus {
		t.Helper()
		s := must(a.qp.Query())(t)
		if s.State != want || a.qp.State() != want {
			t.Errorf("got state %v, %v in the kernel, want %v", a.qp.State(), s.State, want)
		}
		return s
	}
	refused := func(to verbs.QPState, attr verbs.QPAttr) {
		t.Helper()
		before := a.qp.State()
		var wrong *verbs.TransitionError
		if err := a.qp.Modify(to, attr); !errors.As(err, &wrong) {
			t.Errorf("from %v to %v: got error %v, want a TransitionError", before, to, err)
		} else {
			t.Log(err)
		}
		in(before)
	}
	in(verbs.QPStateReset)
	if n, err := a.qp.PostRecv(make([]verbs.RecvWR, 1)); n != 0 || !errors.Is(err, verbs.ErrState) {
		t.Errorf("receive in RESET: got %d posted, error %v, want 0 and %v", n, err, verbs.ErrState)
	}
	refused(verbs.QPStateRTR, verbs.QPAttr{})
	refused(verbs.QPStateRTS, verbs.QPAttr{})
	refused(verbs.QPStateSQD, verbs.QPAttr{})
	refused(verbs.QPStateInit, verbs.QPAttr{Port: new(uint8(1))})
	refused(verbs.QPStateInit, verbs.QPAttr{
		Port: new(uint8(1)), PKeyIndex: new(uint16), Access: new(verbs.Access), SQPSN: new(uint32),
	})
	a.begin()
	in(verbs.QPStateInit)
	a.receive(1)
	if n, err := a.qp.PostSend(make([]verbs.SendWR, 1)); n != 0 || !errors.Is(err, verbs.ErrState) {
		t.Errorf("send in INIT: got %d posted, error %v, want 0 and %v", n, err, verbs.ErrState)
	}
	refused(verbs.QPStateRTS, verbs.QPAttr{SQPSN: new(uint32)})
	refused(verbs.QPStateRTR, verbs.QPAttr{Path: new(path(t, a.context))})

	// An error that only the kernel detects leaves the state unchanged.
	bad := path(t, a.context)
	bad.Port = 2
	if err := a.qp.Modify(verbs.QPStateRTR, verbs.QPAttr{
		Path: &bad, PathMTU: new(ib.MTU1024), DestQPN: new(uint32(1)), RQPSN: new(uint32),
		MaxDestRdAtomic: new(uint8(1)), MinRNRTimer: new(uint8(1)),
	}); !errors.Is(err, unix.EINVAL) || !strings.HasSuffix(err.Error(), "(no port 2)") {
		t.Errorf("path of another port: got error %v, want %v for port 2", err, unix.EINVAL)
	}
	in(verbs.QPStateInit)
	for reason, change := range map[string]func(p *verbs.Path){
		"(GID 100 of port 1 is empty)":       func(p *verbs.Path) { p.SGIDIndex = 100 },
		"(a path over Ethernet needs a GID)": func(p *verbs.Path) { p.DGID = netip.Addr{} },
		": both must be IPv4 or both IPv6)":  func(p *verbs.Path) { p.DGID = netip.MustParseAddr("fe80::1") },
		"(no port 9)":                        func(p *verbs.Path) { p.Port = 9 },
	} {
		p := path(t, a.context)
		change(&p)
		if _, err := a.pd.CreateAH(p); err == nil || !strings.HasSuffix(err.Error(), reason) {
			t.Errorf("%+v: got error %v, want %s", p, err, reason)
		}
	}

	a.finish(a)
	s := in(verbs.QPStateRTS)
	want := path(t, a.context)
	if s.Path.DGID != want.DGID || s.Path.SGIDIndex != want.SGIDIndex || s.Path.HopLimit != 64 || s.DestQPN != a.qp.Number() ||
		s.RQPSN != a.qp.Number() || s.PathMTU != 3 || s.Timeout != 14 || s.RetryCount != 6 || s.RNRRetry != 7 ||
		s.MaxRdAtomic != 4 || s.MaxDestRdAtomic != 4 || s.MinRNRTimer != 1 || s.Port != 1 ||
		s.Access != verbs.AccessRemoteWrite|verbs.AccessRemoteRead|verbs.AccessRemoteAtomic || s.Cap.MaxSendWR < depth {
		t.Errorf("got status %+v", s)
	}
	refused(verbs.QPStateInit, verbs.QPAttr{})
	refused(verbs.QPStateRTR, verbs.QPAttr{})
	refused(verbs.QPStateRTS, verbs.QPAttr{DestQPN: new(uint32)})
	a.modify(verbs.QPStateRTS, verbs.QPAttr{Access: new(verbs.AccessRemoteRead)})
	if s := in(verbs.QPStateRTS); s.Access != verbs.AccessRemoteRead {
		t.Errorf("got access %v, want %v", s.Access, verbs.AccessRemoteRead)
	}

	// In ERR, all posted work requests are flushed, also requests posted later.
	a.modify(verbs.QPStateError, verbs.QPAttr{})
	if c := a.completion(); c.ID != 1 || c.Status != verbs.StatusFlushed {
		t.Errorf("receive in ERR: got %+v, want %v", c, verbs.StatusFlushed)
	}
	a.send(verbs.SendWR{ID: 2, Opcode: verbs.OpSend})
	if c := a.completion(); c.ID != 2 || c.Status != verbs.StatusFlushed {
		t.Errorf("send in ERR: got %+v, want %v", c, verbs.StatusFlushed)
	}
	refused(verbs.QPStateRTS, verbs.QPAttr{})

	// RESET discards posted work requests. Later transfers pass the ends of the
	// rings.
	for round := range uint64(5) {
		a.modify(verbs.QPStateReset, verbs.QPAttr{})
		in(verbs.QPStateReset)
		a.begin()
		a.receive(10)
		a.receive(11)
		a.modify(verbs.QPStateReset, verbs.QPAttr{})
		a.connect(a)
		for id := range uint64(depth) {
			a.receive(100 * (round + 1))
			a.send(verbs.SendWR{ID: id, Opcode: verbs.OpSend})
			for range 2 {
				if c := a.completion(); c.Err() != nil || c.ID != id && c.ID != 100*(round+1) {
					t.Fatalf("round %d: got completion %+v, want ID %d or %d", round, c, id, 100*(round+1))
				}
			}
		}
	}
}

// Failed work requests have the right status and error.
func TestGuestFailures(t *testing.T) {
	fails := func(name string, status verbs.Status, try func(a, b *endpoint) verbs.SendWR, peer ...verbs.Status) {
		t.Run(name, func(t *testing.T) {
			a, b := newEndpoint(t, open(t), verbs.QPTypeRC, false), newEndpoint(t, open(t), verbs.QPTypeRC, false)
			a.rnrRetry = 3
			a.connect(b)
			b.connect(a)
			wr := try(a, b)
			wr.ID = 1
			a.send(wr)
			c := a.completion()
			if c.Status != status || c.ID != 1 || c.QPN != a.qp.Number() {
				t.Errorf("got completion %+v, want %v", c, status)
			}
			t.Log(c.Err())
			for _, status := range peer {
				if c := b.completion(); c.Status != status {
					t.Errorf("peer: got completion %+v, want %v", c, status)
				}
			}
			// The queue pair is in ERR now.
			a.send(verbs.SendWR{ID: 2, Opcode: verbs.OpSend})
			if c := a.completion(); c.ID != 2 || c.Status != verbs.StatusFlushed {
				t.Errorf("next send: got %+v, want %v", c, verbs.StatusFlushed)
			}
			if s := must(a.qp.Query())(t); s.State != verbs.QPStateError {
				t.Errorf("got state %v, want %v", s.State, verbs.QPStateError)
			}
		})
	}
	write := func(a, b *endpoint) verbs.SendWR {
		return remote(verbs.SendWR{Opcode: verbs.OpWrite, SGEs: []verbs.SGE{a.mr.SGE(0, 8)}}, b.mr, 0)
	}
	fails("invalid key", verbs.StatusRemoteAccess, func(a, b *endpoint) verbs.SendWR {
		wr := write(a, b)
		wr.RKey ^= 1
		return wr
	})
	fails("past the end of the region", verbs.StatusRemoteAccess, func(a, b *endpoint) verbs.SendWR {
		wr := write(a, b)
		wr.RemoteAddr += memorySize - 7
		return wr
	})
	// Hardware reports StatusLocalProt.
	fails("invalid local key", verbs.StatusLocalQPOp, func(a, b *endpoint) verbs.SendWR {
		wr := write(a, b)
		wr.SGEs[0].LKey ^= 1
		return wr
	})
	fails("no receive", verbs.StatusRNRExceeded, func(a, b *endpoint) verbs.SendWR {
		return verbs.SendWR{Opcode: verbs.OpSend}
	})
	// Hardware reports StatusRemoteInvalid, and StatusLocalLength at the peer.
	fails("receive is too short", verbs.StatusRemoteOp, func(a, b *endpoint) verbs.SendWR {
		b.receive(1, b.mr.SGE(0, 7))
		return verbs.SendWR{Opcode: verbs.OpSend, SGEs: []verbs.SGE{a.mr.SGE(0, 8)}}
	}, verbs.StatusLocalQPOp)
	fails("no peer", verbs.StatusRetryExceeded, func(a, b *endpoint) verbs.SendWR {
		if err := b.qp.Close(); err != nil {
			t.Error(err)
		}
		return verbs.SendWR{Opcode: verbs.OpSend}
	})
	fails("region cannot be invalidated", verbs.StatusLocalQPOp, func(a, b *endpoint) verbs.SendWR {
		return verbs.SendWR{Opcode: verbs.OpLocalInvalidate, InvalidateKey: a.mr.RKey()}
	})
}

// Invalid work requests are rejected before they enter the ring.
func TestGuestRefused(t *testing.T) {
	a, b := pair(t, verbs.QPTypeRC, false)
	sge := a.mr.SGE(0, 8)
	for name, test := range map[string]struct {
		wr   verbs.SendWR
		want error
	}{
		"opcode":             {verbs.SendWR{Opcode: 20}, verbs.ErrOpcode},
		"opcode past a word": {verbs.SendWR{Opcode: 200}, verbs.ErrOpcode},
		"SGEs":               {verbs.SendWR{Opcode: verbs.OpSend, SGEs: make([]verbs.SGE, a.qp.Cap().MaxSendSGE+1)}, verbs.ErrSGEs},
		"inline":             {verbs.SendWR{Opcode: verbs.OpSend, Flags: verbs.SendInline, Inline: make([]byte, a.qp.Cap().MaxInline+1)}, verbs.ErrInline},
		"inline read":        {verbs.SendWR{Opcode: verbs.OpRead, Flags: verbs.SendInline, Inline: make([]byte, 1)}, verbs.ErrInline},
		"atomic of 4 bytes":  {verbs.SendWR{Opcode: verbs.OpFetchAdd, SGEs: []verbs.SGE{a.mr.SGE(0, 4)}}, verbs.ErrLength},
		"too long": {
			verbs.SendWR{Opcode: verbs.OpSend, SGEs: []verbs.SGE{{Length: 1 << 31}, {Length: 1}}}, verbs.ErrLength,
		},
		"bind without window": {verbs.SendWR{Opcode: verbs.OpBindMW}, verbs.ErrOpcode},
	} {
		t.Run(name, func(t *testing.T) {
			wrs := []verbs.SendWR{{ID: 1, Opcode: verbs.OpWrite, Flags: verbs.SendSignaled}, test.wr, {ID: 2, Opcode: verbs.OpSend}}
			if n, err := a.qp.PostSend(wrs); n != 1 || !errors.Is(err, test.want) {
				t.Errorf("got %d posted, error %v, want 1 and %v", n, err, test.want)
			}
			one := *a
			one.t = t
			one.ok(1, verbs.CompletedWrite) // rung for the requests before the rejected request
		})
	}
	// A full queue.
	wrs := make([]verbs.SendWR, 1000)
	for i := range wrs {
		wrs[i] = verbs.SendWR{Opcode: verbs.OpWrite, SGEs: []verbs.SGE{sge}}
		wrs[i] = remote(wrs[i], b.mr, 0)
	}
	n, err := a.qp.PostSend(wrs)
	if n < depth || !errors.Is(err, verbs.ErrFull) {
		t.Errorf("full queue: got %d posted, error %v, want at least %d and %v", n, err, depth, verbs.ErrFull)
	}
	recvs := make([]verbs.RecvWR, 1000)
	if n, err := a.qp.PostRecv(recvs); n < depth || n >= len(recvs) || !errors.Is(err, verbs.ErrFull) {
		t.Errorf("full queue: got %d receives posted, error %v, want at least %d and %v", n, err, depth, verbs.ErrFull)
	}
	if _, err := b.qp.PostRecv([]verbs.RecvWR{{SGEs: make([]verbs.SGE, b.qp.Cap().MaxRecvSGE+1)}}); !errors.Is(err, verbs.ErrSGEs) {
		t.Errorf("got error %v, want %v", err, verbs.ErrSGEs)
	}

	u := newEndpoint(t, open(t), verbs.QPTypeUD, true)
	u.connect(u)
	ah := must(u.pd.CreateAH(path(t, u.context)))(t)
	if err := ah.Close(); err != nil {
		t.Error(err)
	}
	for name, wr := range map[string]verbs.SendWR{
		"no AH":     {Opcode: verbs.OpSend},
		"closed AH": {Opcode: verbs.OpSend, AH: ah.Destination()},
	} {
		if n, err := u.qp.PostSend([]verbs.SendWR{wr}); n != 0 || !errors.Is(err, verbs.ErrAH) {
			t.Errorf("%s: got %d posted, error %v, want 0 and %v", name, n, err, verbs.ErrAH)
		}
	}
	if _, err := u.qp.PostSend([]verbs.SendWR{{Opcode: verbs.OpWrite}}); !errors.Is(err, verbs.ErrOpcode) {
		t.Errorf("write over UD: got error %v, want %v", err, verbs.ErrOpcode)
	}
	if _, err := u.qp.PostRecv(make([]verbs.RecvWR, 1)); err == nil {
		t.Error("receive on a QP with an SRQ: got no error")
	}
}
