package selftest

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/internal/uverbs"
	"github.com/ibkit/ibkit/internal/uverbs/uverbstest"
	"github.com/ibkit/ibkit/verbs"
)

// on returns a tester and its adapter, which has a defect.
func on(t *testing.T, defect uverbstest.Defect) (*tester, *uverbstest.Adapter) {
	t.Helper()
	a := uverbstest.NewAdapter(t)
	a.Defect = defect
	opened, err := uverbs.Open("rxe0", uverbstest.DriverRXE, a)
	if err != nil {
		t.Fatal(err)
	}
	c := opened.(*verbs.Context)
	t.Cleanup(func() { c.Close() }) // the test checks errors
	r := newTester(t.Context(), &port.Port{
		Context: c, Device: "rxe0", Number: 1,
		Attr: verbs.PortAttr{State: ib.PortActive, LinkLayer: ib.LinkLayerEthernet, ActiveMTU: ib.MTU1024, MaxMsgSize: 64 << 10},
		Limits: verbs.DeviceAttr{
			MaxSGE: 32, MaxSGERd: 32, MaxSRQ: 10, MaxQPRdAtom: 4, MaxQPInitRdAtom: 4, AtomicCap: 1, PhysPortCount: 1,
		},
		GIDs: []verbs.GIDEntry{{Port: 1, Index: 3, Type: verbs.GIDTypeRoCEv2, GID: netip.MustParseAddr("::ffff:192.0.2.1")}},
	})
	if err := r.choose(-1); err != nil {
		t.Fatal(err)
	}
	return r, a
}

// find returns the case with a transport and a name.
func (t *tester) find(tb testing.TB, name string) testCase {
	tb.Helper()
	for _, c := range t.all() {
		if c.group+" "+c.name == name {
			return c
		}
	}
	tb.Fatalf("got no case %q", name)
	return testCase{}
}

// An adapter without defects passes all cases that it supports, and the report describes it.
func TestReport(t *testing.T) {
	r, a := on(t, uverbstest.NoDefect)
	r.quiet = time.Millisecond
	var begun, done []string
	report, err := r.report(Options{
		Program: "ibkit 1.0.0",
		Begin:   func(n, of int, c Case) { begun = append(begun, c.Name) },
		Done: func(c Case) {
			done = append(done, c.Name)
			if n := a.Objects(); n > 0 {
				t.Errorf("%s %s: got %d open objects", c.Transport, c.Name, n)
			}
		},
	})
	if err != nil || report.Partial || !slices.Equal(begun, done) || len(done) != len(report.Cases) {
		t.Fatalf("got error %v, partial %v, %d cases begun, %d done, %d in the report", err, report.Partial, len(begun), len(done), len(report.Cases))
	}
	var unsupported []string
	for _, c := range report.Cases {
		switch c.Outcome {
		case Fail:
			t.Errorf("%s %s: %s", c.Transport, c.Name, *c.Reason)
		case Unsupported:
			unsupported = append(unsupported, c.Transport+" "+c.Name)
		}
	}
	// Huge pages and dma-bufs depend on the host.
	unsupported = slices.DeleteFunc(unsupported, func(name string) bool { return strings.HasPrefix(name, "device ") })
	if want := []string{
		"rc flush of receives in the error state", "uc flush of receives in the error state", "ud flush of receives in the error state",
	}; !slices.Equal(unsupported, want) {
		t.Errorf("got unsupported %q, want %q", unsupported, want)
	}
	if report.CountOf(Pass)+report.CountOf(Unsupported) != len(report.Cases) || report.Schema != Schema || report.Program != "ibkit 1.0.0" {
		t.Errorf("got %d passed, schema %q, program %q", report.CountOf(Pass), report.Schema, report.Program)
	}
	d := report.Device
	if d.Name != "rxe0" || d.Driver != "rxe" || d.Port != 1 || d.MTU != 1024 || d.Link != "Ethernet" || *d.GIDIndex != 3 || *d.GIDType != "RoCE v2" {
		t.Errorf("got %+v", d)
	}
}

// Each defect of an adapter fails a case, with its reason.
func TestCases_Defects(t *testing.T) {
	for _, test := range []struct {
		defect uverbstest.Defect
		name   string
		want   string
	}{
		{uverbstest.WrongPayload, "rc send", "1 bytes: byte 0 of the payload"},
		{uverbstest.WrongPayload, "uc write", "1 bytes: byte 0 of the payload"},
		{uverbstest.WrongPayload, "rc read", "1 bytes: byte 0 of the payload"},
		{uverbstest.WrongPayload, "ud send with immediate", "1 bytes: byte 0 of the payload"},
		{uverbstest.WrongPayload, "uc inline write", "of the payload"},
		{uverbstest.WrongPayload, "rc several SGEs", "payload: got"},
		{uverbstest.WrongPayload, "rc 70000 messages in a ring of 64", "message 0: got payload"},
		{uverbstest.WrongPayload, "rc 4 queue pairs, one completion queue", "payload on QP"},
		{uverbstest.WrongID, "rc fence", "completion: got ID"},
		{uverbstest.WrongPayload, "ud error: wrong Q_Key", ""},
		{uverbstest.Overrun, "rc send", "beside the payload"},
		{uverbstest.Overrun, "rc read", "beside the payload"},
		{uverbstest.WrongID, "rc send", "responder: completion: got ID"},
		{uverbstest.WrongID, "uc full queues", "completion: got ID 0x1, want 0x0"},
		{uverbstest.WrongID, "ud shared receive queue", "with ID"},
		{uverbstest.WrongQPN, "rc send", "requester: completion: got QP"},
		{uverbstest.WrongQPN, "rc full queues", "completion: got QP"},
		{uverbstest.WrongOpcode, "rc write", "requester: completion: got opcode 128, want 1"},
		{uverbstest.WrongOpcode, "rc read", "completion: got opcode 128, want 2"},
		{uverbstest.WrongLength, "uc send", "responder: completion: got 1 bytes, want 0"},
		{uverbstest.WrongLength, "rc several SGEs", "responder: completion: got"},
		{uverbstest.WrongImmediate, "rc send with immediate", "got immediate data 0x4030201, want 0x1020304"},
		{uverbstest.NoImmediate, "rc write with immediate", "got flags 0x0, want 0x2"},
		{uverbstest.NoGRH, "ud send", "got no GRH flag"},
		{uverbstest.WrongSource, "ud send", "got source QP"},
		{uverbstest.AnyRKey, "rc error: write, wrong rkey", "requester: completion: got success, want remote access error"},
		{uverbstest.AnyRKey, "rc error: atomic, region without remote atomic", "got success, want remote access error"},
		{uverbstest.AnyLKey, "rc error: send, wrong lkey", "got RNR retries exceeded"},
		{uverbstest.AnyLKey, "uc error: send, wrong lkey", "got success, want local protection error"},
		{uverbstest.AnyLKey, "rc error: read into a region without local write", "got success"},
		{uverbstest.AnyAccess, "rc error: read, queue pair without remote read", "got success, want remote access error"},
		{uverbstest.AnyLength, "rc error: message longer than the receive", "requester: completion: got success, want remote invalid request"},
		{uverbstest.AnyQKey, "ud error: wrong Q_Key", "received the datagram with the wrong Q_Key"},
		{uverbstest.NoFlush, "rc error: write, wrong rkey", "next work request: got 0 of 1 completions"},
		{uverbstest.NoFlush, "uc flush", "receive: got 0 of 4 completions"},
		{uverbstest.NoErrorState, "rc error: write, wrong rkey", "next work request: completion: got"},
		{uverbstest.WrongState, "rc error: write, wrong rkey", "requester: got state RTS, want ERR"},
		{uverbstest.DroppedAtomic, "rc fetch and add", "atomic 1: got new value"},
		{uverbstest.WrongAtomic, "rc compare and swap", "atomic 1: got previous value"},
		{uverbstest.IgnoredInvalidate, "rc memory window and invalidate", "send with invalidate: write through an invalidated key: completion: got success"},
		{uverbstest.NoInvalidateKey, "rc memory window and invalidate", "send with invalidate: completion: got flags 0x8 and key 0x0"},
		{uverbstest.LostCompletion, "uc send", "requester: got 0 of 1 completions in 1ms"},
		{uverbstest.LostEvent, "rc completion events", "event 1: got no event in 1ms"},
		{uverbstest.LostEvent, "rc shared receive queue limit", "got no event of the limit in 1ms"},
		{uverbstest.AnyEvent, "ud solicited events", "message without the flag: got an event"},
		{uverbstest.FailedDestroy, "rc send", "close QP"},
	} {
		t.Run(test.name+" "+test.want, func(t *testing.T) {
			r, _ := on(t, test.defect)
			r.timeout, r.quiet = time.Millisecond, time.Minute
			var got Case
			r.run(r.find(t, test.name), &got)
			switch {
			case test.want == "" && got.Outcome != Pass:
				t.Errorf("got %s: %s, want %s", got.Outcome, *got.Reason, Pass)
			case test.want != "" && (got.Outcome != Fail || !strings.Contains(*got.Reason, test.want)):
				reason := ""
				if got.Reason != nil {
					reason = *got.Reason
				}
				t.Errorf("got %s: %s, want %s with %q", got.Outcome, reason, Fail, test.want)
			}
		})
	}
}

// The rings are used as often as the name of the case says.
func TestCases_Wrap(t *testing.T) {
	for name, want := range map[string]int{"rc 70000 messages in a ring of 64": 70000, "ud 5000 messages in a ring of 64": 5000} {
		r, a := on(t, uverbstest.NoDefect)
		var got Case
		if r.run(r.find(t, name), &got); got.Outcome != Pass || a.Received < want {
			t.Errorf("%s: got %s and %d messages, want %d", name, got.Outcome, a.Received, want)
		}
	}
}

// Missing capabilities of the device are unsupported, not failed.
func TestCases_Unsupported(t *testing.T) {
	for name, lack := range map[string]func(*verbs.DeviceAttr){
		"rc fetch and add":              func(d *verbs.DeviceAttr) { d.AtomicCap = 0 },
		"rc error: atomic, wrong rkey":  func(d *verbs.DeviceAttr) { d.AtomicCap = 0 },
		"rc shared receive queue":       func(d *verbs.DeviceAttr) { d.MaxSRQ = 0 },
		"rc shared receive queue limit": func(d *verbs.DeviceAttr) { d.MaxSRQ = 0 },
		"xrc send":                      func(d *verbs.DeviceAttr) { d.Caps |= capXRC },
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := on(t, uverbstest.NoDefect)
			lack(&r.port.Limits)
			var got Case
			if r.run(r.find(t, name), &got); got.Outcome != Unsupported {
				t.Errorf("got %s, want %s", got.Outcome, Unsupported)
			}
		})
	}
}

// An interrupt ends the cases; the report has the finished cases.
func TestReport_Interrupted(t *testing.T) {
	reason := errors.New("interrupted")
	r, _ := on(t, uverbstest.NoDefect)
	ctx, cancel := context.WithCancelCause(t.Context())
	r.ctx = ctx
	report, err := r.report(Options{Begin: func(n, _ int, _ Case) {
		if n == 3 {
			cancel(reason)
		}
	}})
	if !errors.Is(err, reason) || !report.Partial || len(report.Cases) != 2 {
		t.Errorf("got error %v, partial %v, %d cases, want %v and 2 cases", err, report.Partial, len(report.Cases), reason)
	}
}

// Without a GID, queue pairs of InfiniBand reach each other by LID.
func TestReport_InfiniBand(t *testing.T) {
	r, _ := on(t, uverbstest.NoDefect)
	r.port.Attr.LinkLayer, r.gid = ib.LinkLayerInfiniBand, netip.Addr{}
	for _, name := range []string{"rc send", "ud send"} {
		var got Case
		if r.run(r.find(t, name), &got); got.Outcome != Pass {
			t.Errorf("%s: got %s: %s", name, got.Outcome, *got.Reason)
		}
	}
	if d := r.describe("").Device; d.GIDIndex != nil || d.GIDType != nil || d.Link != "InfiniBand" {
		t.Errorf("got %+v, want no GID", d)
	}
}

// Messages have the sizes around packets that the port allows.
func TestSizes(t *testing.T) {
	r, _ := on(t, uverbstest.NoDefect)
	for kind, want := range map[verbs.QPType][]int{
		verbs.QPTypeRC: {0, 1, 3, 4, 63, 64, 65, 255, 1023, 1024, 1025, 2049, 64 << 10},
		verbs.QPTypeUD: {0, 1, 3, 4, 63, 64, 65, 255, 1023, 1024},
	} {
		if got := r.sizes(kind, verbs.OpSend); !slices.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", kind, got, want)
		}
	}
}
