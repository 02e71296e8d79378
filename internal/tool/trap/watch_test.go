package trap

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// An administration is a simulated port with subnet administration.
type administration struct {
	*umadtest.Port
	lid      ib.LID
	silent   bool
	status   func(mad.InformInfo) mad.Status // nil: all subscriptions are confirmed
	requests []mad.InformInfo
}

func newAdministration() *administration {
	a := &administration{lid: 4}
	a.Port = &umadtest.Port{OnSend: func(p *umadtest.Port, m umad.Message) error {
		switch {
		case a.silent && m.MAD.Class() == mad.ClassSA, m.MAD.Method().IsResponse():
		case m.MAD.Attr() == mad.AttrPortInfo:
			p.Deliver(time.Millisecond, umadtest.ReplyWith(m, &mad.PortInfo{LID: 9, SMLID: a.lid}))
		case m.MAD.Attr() == (&mad.InformInfo{}).Spec().ID && m.Addr.LID == a.lid:
			var s mad.InformInfo
			if err := m.MAD.Decode(&s); err != nil {
				return err
			}
			a.requests = append(a.requests, s)
			m.MAD.SetMethod(mad.MethodGet) // Set is answered by GetResp
			reply := umadtest.Reply(m)
			if a.status != nil {
				reply.MAD.SetStatus(a.status(s))
			}
			p.Deliver(time.Millisecond, reply)
		case m.MAD.Attr() == mad.AttrNodeRecord:
			reply := umadtest.Reply(m)
			reply.MAD.SetStatus(mad.StatusNoRecords)
			p.Deliver(time.Millisecond, reply)
		}
		return nil
	}}
	return a
}

// report delivers a report about a trap after a time.
func (a *administration) report(after time.Duration, tid uint64, trap uint16) {
	a.Deliver(after, reportOf(a.lid, tid, mad.Report{Notice: mad.Notice{Generic: 1, TrapNumber: trap, IssuerLID: 7}}))
}

func reportOf(from ib.LID, tid uint64, r mad.Report) (m umad.Message) {
	m.Addr = umad.Addr{LID: from, QPN: 1, QKey: umad.QP1QKey}
	m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassSA, ClassVersion: 2, Method: mad.MethodReport, TID: tid, Attr: mad.AttrNotice})
	if err := mad.Encode(&r, m.MAD.Data()); err != nil {
		panic(err)
	}
	return m
}

// watch runs Watch in a bubble and returns the kinds of its events, with the trap numbers.
func watch(t *testing.T, a *administration, o Options) (events []string, s *Summary, err error) {
	t.Helper()
	o.Source.OpenPort = func(context.Context) (umad.Port, error) { return a, nil }
	o.Names = lookup.ModeSA
	s, err = Watch(t.Context(), o, func(e *Event) error {
		text := string(e.Kind)
		if e.Notice != nil {
			text = Kind{Number: e.Notice.Notice.TrapNumber}.String()
		}
		if e.Kind != report.Unnamed {
			events = append(events, text)
		}
		return nil
	})
	return events, s, err
}

// wantEvents compares events.
func wantEvents(t *testing.T, got []string, want string) {
	t.Helper()
	if !slices.Equal(got, strings.Fields(want)) {
		t.Errorf("got events %q, want %q", got, strings.Fields(want))
	}
}

// Watch subscribes, passes notices on, and ends its subscriptions.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdministration()
		a.report(time.Second, 1, 128)
		a.report(2*time.Second, 2, 65)
		a.report(3*time.Second, 3, 64)
		events, s, err := watch(t, a, Options{Count: 2})
		if err != nil || s.Notices != 2 || !s.Complete() || !a.Closed() {
			t.Errorf("got error %v, %+v, closed: %t", err, s, a.Closed())
		}
		wantEvents(t, events, "source-up 128 65")
		all := mad.InformInfo{LIDBegin: 0xffff, Type: 0xffff, TrapNumber: 0xffff, ProducerType: 0xffffff, QPN: 1, RespTime: 18}
		var want []mad.InformInfo
		for _, subscribe := range []uint8{1, 0} {
			all.Subscribe = subscribe
			for _, generic := range []uint8{1, 0} {
				all.Generic = generic
				want = append(want, all)
			}
		}
		if !slices.Equal(a.requests, want) {
			t.Errorf("got subscriptions %+v, want %+v", a.requests, want)
		}
		if got := a.Services(); len(got) != 1 || got[0].Class != mad.ClassSA || !slices.Equal(got[0].Methods, []mad.Method{mad.MethodReport}) {
			t.Errorf("got services %+v, want reports", got)
		}
	})
}

// Reports are confirmed, also reports that come again because the response was lost.
func TestWatch_Reports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdministration()
		a.report(time.Second, 1, 128)
		a.report(time.Second, 1, 128)
		a.report(time.Second, 2, 128) // the same event again
		foreign := reportOf(77, 3, mad.Report{Notice: mad.Notice{Generic: 1, TrapNumber: 65}})
		a.Deliver(time.Second, foreign)
		for _, corrupt := range []func(*mad.Packet){
			func(p *mad.Packet) { p[2] = 1 },                               // class version
			func(p *mad.Packet) { p[17] = 0x11 },                           // attribute
			func(p *mad.Packet) { p.SetStatus(mad.StatusNoResources) },     // status
			func(p *mad.Packet) { p.SetRMPP(mad.RMPP{Flags: 1, Type: 1}) }, // segmented
		} {
			m := reportOf(a.lid, 4, mad.Report{Notice: mad.Notice{Generic: 1, TrapNumber: 65}})
			corrupt(&m.MAD)
			a.Deliver(time.Second, m)
		}
		events, s, err := watch(t, a, Options{Duration: 4 * time.Second})
		if err != nil || s.Notices != 2 || s.Duplicate != 1 || s.Foreign != 1 || s.Malformed != 4 {
			t.Errorf("got error %v, %+v, want 2 notices, 1 duplicate, 1 foreign, 4 malformed", err, s)
		}
		wantEvents(t, events, "source-up 128 128")
		confirmed := 0
		for _, m := range a.Sent() {
			if m.MAD.Method() == mad.MethodReportResp {
				confirmed++
				if m.Addr.LID != a.lid || m.Addr.QPN != 1 || m.Timeout != 0 {
					t.Errorf("got a response to %+v with timeout %v", m.Addr, m.Timeout)
				}
			}
		}
		if confirmed != 3 {
			t.Errorf("got %d responses, want 3", confirmed)
		}
	})
}

// A node with a new name has it in notices with its GID, too.
func TestNames_Renew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		port := &umadtest.Port{OnSend: func(p *umadtest.Port, m umad.Message) error {
			p.Deliver(time.Millisecond, umadtest.ReplyWith(m, new(mad.NewNodeDescription("new"))))
			return nil
		}}
		var x names
		x.init(lookup.ModeAll)
		x.add(7, 0x17, &Node{0x10, mad.NewNodeDescription("old")})
		x.renew(t.Context(), umad.NewClient(port, umad.ClientOptions{}), 7)
		for _, p := range []Place{{LID: 7}, {GID: ib.MakeGID(0, 0x17)}} {
			if x.fill(&p); p.Node == nil || p.Node.Description.Clean() != "new" || p.LID != 7 {
				t.Errorf("got %+v, want the new name", p)
			}
		}
	})
}

// A flood takes limited memory, and notice loss is an event.
func TestWatch_Flood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdministration()
		const extra = 100
		for i := range maxPending + extra {
			a.report(time.Second, uint64(i), 128)
		}
		// While a first notice's name is queried, all others arrive.
		a.report(time.Second-time.Millisecond, 1<<40, 144)
		events, s, err := watch(t, a, Options{Duration: 4 * time.Second})
		if err != nil || s.Notices+s.Dropped != maxPending+extra+1 || s.Dropped == 0 || s.Complete() {
			t.Errorf("got error %v, %+v", err, s)
		}
		if !slices.Contains(events, "dropped") {
			t.Error("got no event of dropped notices")
		}
	})
}

func TestWatch_Refused(t *testing.T) {
	for name, test := range map[string]struct {
		traps   []uint16
		refused func(mad.InformInfo) bool
		events  string
	}{
		"all":        {nil, func(mad.InformInfo) bool { return true }, ""},
		"vendors":    {nil, func(s mad.InformInfo) bool { return s.Generic == 0 }, "refused source-up 64"},
		"one of two": {[]uint16{64, 256}, func(s mad.InformInfo) bool { return s.TrapNumber == 256 }, "refused source-up 64"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAdministration()
				a.status = func(s mad.InformInfo) mad.Status {
					if test.refused(s) {
						return mad.StatusInvalidRequest
					}
					return 0
				}
				a.report(time.Second, 1, 64)
				events, _, err := watch(t, a, Options{Traps: test.traps, Count: 1})
				wantEvents(t, events, test.events)
				var status mad.StatusError
				if refused := errors.As(err, &status); refused != (test.events == "") || !refused && err != nil {
					t.Errorf("got error %v", err)
				}
				if err != nil && !strings.Contains(err.Error(), mad.StatusInvalidRequest.Err().Error()) {
					t.Errorf("got error %v, want the name of the status", err)
				}
			})
		})
	}
}

// Without subnet administration there is an error, and no wait for notices.
func TestWatch_NoAdministration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdministration()
		a.lid = 0
		if _, _, err := watch(t, a, Options{}); !errors.Is(err, umad.ErrNoSM) {
			t.Errorf("without a manager: got %v, want %v", err, umad.ErrNoSM)
		}
		a = newAdministration()
		a.silent = true
		if _, _, err := watch(t, a, Options{}); !errors.Is(err, umad.ErrTimeout) {
			t.Errorf("without a reply: got %v, want %v", err, umad.ErrTimeout)
		}
		a = newAdministration()
		answer := a.OnSend
		a.OnSend = func(p *umadtest.Port, m umad.Message) error {
			if m.MAD.Attr() == mad.AttrNodeRecord {
				return umad.ErrDeviceRemoved
			}
			return answer(p, m)
		}
		if _, _, err := watch(t, a, Options{Duration: time.Second}); !errors.Is(err, umad.ErrDeviceRemoved) {
			t.Errorf("without the device: got %v, want %v", err, umad.ErrDeviceRemoved)
		}
		a = newAdministration()
		a.OnListen = func(umad.Service) error { return umad.ErrTaken }
		if _, _, err := watch(t, a, Options{}); !errors.Is(err, umad.ErrTaken) {
			t.Errorf("with another program: got %v, want %v", err, umad.ErrTaken)
		}
	})
}

// The subscription is renewed, at a new subnet manager as well. When it cannot be renewed,
// this is reported once, and again when it can.
func TestWatch_Renewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdministration()
		time.AfterFunc(7*time.Second, func() { a.silent = true })
		time.AfterFunc(30*time.Second, func() { a.silent = false })
		time.AfterFunc(40*time.Second, func() { a.lid = 5 })
		time.AfterFunc(50*time.Second, func() { a.report(0, 1, 64) })
		events, s, err := watch(t, a, Options{Traps: []uint16{64}, Count: 1})
		if err != nil || s.Losses != 1 || s.Complete() {
			t.Errorf("got error %v, %+v, want one loss", err, s)
		}
		wantEvents(t, events, "source-up source-lost source-up source-up 64")
	})
}

// Ending the context ends the subscriptions, too.
func TestWatch_Interrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdministration()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		open := func(context.Context) (umad.Port, error) { return a, nil }
		if _, err := Watch(ctx, Options{Source: fabric.Source{OpenPort: open}, Traps: []uint16{64}, Names: lookup.ModeSA}, func(*Event) error { return nil }); err != nil {
			t.Errorf("got error %v, want none", err)
		}
		if n := len(a.requests); n != 2 || a.requests[1].Subscribe != 0 {
			t.Errorf("got subscriptions %+v, want one and its end", a.requests)
		}
		a = newAdministration()
		failed := errors.New("broken pipe")
		if _, err := Watch(t.Context(), Options{Source: fabric.Source{OpenPort: open}, Names: lookup.ModeSA}, func(*Event) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("got error %v, want that of the function", err)
		}
	})
}

// FuzzReport receives arbitrary reports.
func FuzzReport(f *testing.F) {
	for _, k := range Kinds {
		s := Source{LID: 3, Port: 1}
		n, err := s.Notice(k.Number, s.Details(k.Number))
		if err != nil {
			f.Fatal(err)
		}
		var b [80]byte
		if err := mad.Encode(&mad.Report{Notice: *n}, b[:]); err != nil {
			f.Fatal(err)
		}
		f.Add(b[:])
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var m umad.Message
		m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassSA, ClassVersion: 2, Method: mad.MethodReport, Attr: mad.AttrNotice})
		copy(m.MAD.Data(), data)
		w := &watcher{client: umad.NewClient(&umadtest.Port{}, umad.ClientOptions{})}
		w.receive(&m)
		if len(w.pending) != 1 {
			t.Fatalf("got %d notices, want 1", len(w.pending))
		}
		if n := w.pending[0]; n.Text() == "" {
			t.Errorf("got no text for %+v", n)
		}
	})
}
