package ping

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// What an ibping client sends comes back as an ibping server answers it.
func TestServeClassic(t *testing.T) {
	f := &servedFake{arrivals: []umad.Message{pingFrom(7, 0x12345)}}
	s := serveFake(t, ServeOptions{OUI: OUI, Name: "host.(none)"}, f)
	if f.heard.Class != Class || f.heard.OUI != OUI || f.heard.ClassVersion != 1 || !slices.Equal(f.heard.Methods, []mad.Method{mad.MethodGet, mad.MethodSend}) {
		t.Errorf("listened for %+v", f.heard)
	}
	want := pingFrom(7, 0x12345)
	want.Addr.QKey = umad.QP1QKey
	want.MAD.SetMethod(mad.MethodGetResp)
	copy(want.MAD.Data(), "host.(none)")
	if len(f.sent) != 1 || f.sent[0].Addr != want.Addr || f.sent[0].MAD != want.MAD || f.sent[0].Timeout != 0 {
		t.Errorf("got %+v\nwant %+v", f.sent, want)
	}
	c := s.Counts()
	if want := (Counts{Received: 1, Answered: 1}); c.Total != want || len(c.Sources) != 1 || c.Sources[0].From.String() != "LID 7" || c.Ignored != 0 {
		t.Errorf("counted %+v", c)
	}
}

// A name that is too long for its room is cut, and still ends.
func TestServeLongName(t *testing.T) {
	withEcho := pingFrom(7, 1)
	(&Echo{ID: 5}).Put(withEcho.MAD.Data())
	f := &servedFake{arrivals: []umad.Message{pingFrom(7, 1), withEcho}}
	serveFake(t, ServeOptions{OUI: OUI, Name: strings.Repeat("x", 300)}, f)
	for i, size := range []int{dataSize, offEchoMagic} {
		data := f.sent[i].MAD.Data()
		if string(data[:size]) != strings.Repeat("x", size-1)+"\x00" {
			t.Errorf("name %q", data[:size])
		}
	}
}

// What a client of ibkit adds comes back, whichever way the ping goes.
func TestServeEcho(t *testing.T) {
	grh := &umad.GRH{SGIDIndex: 1, HopLimit: 64, DGID: netip.MustParseAddr("fe80::7").As16()}
	for _, answer := range []mad.Method{0, FirstAnswerMethod, LastAnswerMethod} {
		m := pingFrom(0, 1<<40|9)
		m.Addr.GRH = grh
		want := Echo{Answer: answer, ID: 77, Payload: []byte("payload")}
		want.Put(m.MAD.Data())
		method := mad.MethodGetResp
		if answer != 0 {
			m.MAD.SetMethod(mad.MethodSend)
			method = answer
		}
		f := &servedFake{arrivals: []umad.Message{m}}
		c := serveFake(t, ServeOptions{OUI: OUI, Name: "host"}, f).Counts()
		if len(f.sent) != 1 {
			t.Fatalf("method %v: not answered: %+v", answer, c)
		}
		got := &f.sent[0].MAD
		echo, ok := ParseEcho(got.Data())
		if !ok || !echo.IsAnswer || echo.Answer != answer || echo.ID != 77 || string(echo.Payload) != "payload" {
			t.Errorf("method %v: got %+v, %v", answer, echo, ok)
		}
		if got.Method() != method || got.TID() != 1<<40|9 || string(got.Data()[:5]) != "host\x00" {
			t.Errorf("method %v: answered by %v, TID %x, name %q", answer, got.Method(), got.TID(), got.Data()[:5])
		}
		if a := f.sent[0].Addr; a.GRH == nil || *a.GRH != *grh {
			t.Errorf("method %v: sent to %+v", answer, a.GRH)
		}
		if c.Sources[0].From.String() != "fe80::7" {
			t.Errorf("source %v", c.Sources[0].From)
		}
	}
}

// What is not a well-formed ping gets no answer.
func TestServeIgnores(t *testing.T) {
	changes := map[string]func(m *umad.Message){
		"own answer, back unanswered": func(m *umad.Message) { m.Status = 110 },
		"base version":                func(m *umad.Message) { m.MAD[0] = 2 },
		"class":                       func(m *umad.Message) { m.MAD[1] = 0x33 },
		"class version":               func(m *umad.Message) { m.MAD[2] = 2 },
		"a response":                  func(m *umad.Message) { m.MAD.SetMethod(mad.MethodGetResp) },
		"Set":                         func(m *umad.Message) { m.MAD.SetMethod(mad.MethodSet) },
		"status":                      func(m *umad.Message) { m.MAD.SetStatus(4) },
		"attribute":                   func(m *umad.Message) { m.MAD[17] = 1 },
		"modifier":                    func(m *umad.Message) { m.MAD[23] = 1 },
		"RMPP":                        func(m *umad.Message) { m.MAD.SetRMPP(mad.RMPP{Version: 1, Type: mad.RMPPData, Flags: mad.RMPPActive}) },
		"OUI":                         func(m *umad.Message) { m.MAD[offOUI+2]++ },
		"Send without an answer":      func(m *umad.Message) { m.MAD.SetMethod(mad.MethodSend) },
		"Send answered by a Send": func(m *umad.Message) {
			m.MAD.SetMethod(mad.MethodSend)
			(&Echo{Answer: mad.MethodSend}).Put(m.MAD.Data())
		},
		"an answer to a Send": func(m *umad.Message) {
			m.MAD.SetMethod(mad.MethodSend)
			(&Echo{IsAnswer: true, Answer: FirstAnswerMethod}).Put(m.MAD.Data())
		},
	}
	for name, change := range changes {
		m := pingFrom(7, 1)
		change(&m)
		f := &servedFake{arrivals: []umad.Message{m}}
		c := serveFake(t, ServeOptions{OUI: OUI}, f).Counts()
		if len(f.sent) != 0 || c.Ignored != 1 || c.Total != (Counts{}) || len(c.Sources) != 0 {
			t.Errorf("%s: sent %d, counted %+v", name, len(f.sent), c)
		}
	}
}

// A source gets as many answers as come in within a second at once, and then as
// they come in.
func TestServeRate(t *testing.T) {
	f := &servedFake{}
	for i := range 30 {
		f.arrivals = append(f.arrivals, pingFrom(7, uint64(i)))
	}
	f.arrivals = append(f.arrivals, pingFrom(8, 0))
	ctx, cancel := context.WithCancel(t.Context())
	f.end = cancel
	s := NewServer(ServeOptions{OUI: OUI, Rate: 10})
	now := s.start
	s.now = func() time.Time { return now }
	f.onRecv = func() {
		if len(f.arrivals) == 11 { // 20 of the first source are in
			now = now.Add(550 * time.Millisecond)
		}
	}
	if err := s.Serve(ctx, f); err != nil {
		t.Fatal(err)
	}
	c := s.Counts()
	if want := (Counts{Received: 30, Answered: 15, Limited: 15}); c.Sources[0].Counts != want {
		t.Errorf("counted %+v, want %+v", c.Sources[0].Counts, want)
	}
	if want := (Counts{Received: 1, Answered: 1}); c.Sources[1].Counts != want {
		t.Errorf("the other source: %+v", c.Sources[1].Counts)
	}
}

// Who sends one ping in a while is answered while another floods.
func TestServeFair(t *testing.T) {
	f := &servedFake{}
	const flood, others = 20000, 20
	for i := range flood {
		f.arrivals = append(f.arrivals, pingFrom(7, uint64(i)))
		if i%(flood/others) == flood/others-1 {
			f.arrivals = append(f.arrivals, pingFrom(ib.LID(8+i%3), uint64(i)))
		}
	}
	// Answers to those that flood do not wait for more than are read at once.
	waited := 0
	f.onSend = func(m *umad.Message) error {
		if m.Addr.LID != 7 {
			waited = max(waited, flood+others-len(f.arrivals)-int(m.MAD.TID()))
		}
		return nil
	}
	c := serveFake(t, ServeOptions{OUI: OUI}, f).Counts()
	var rest Counts
	for _, s := range c.Sources[1:] {
		rest.add(&s.Counts)
	}
	if want := (Counts{Received: others, Answered: others}); rest != want {
		t.Errorf("of the others: %+v, want %+v", rest, want)
	}
	of := c.Sources[0].Counts
	if of.Received != flood || of.Answered+of.Dropped != flood || of.Dropped == 0 {
		t.Errorf("of the flood: %+v", of)
	}
	if waited > drainMost+others {
		t.Errorf("an answer waited until %d pings had come in behind it", waited)
	}
}

// Answers wait while the way out is full.
func TestServeFull(t *testing.T) {
	f := &servedFake{}
	for i := range 10 {
		f.arrivals = append(f.arrivals, pingFrom(ib.LID(7+i%2), uint64(i)))
	}
	tries := 0
	f.onSend = func(*umad.Message) error {
		if tries++; tries%3 != 0 {
			return umad.ErrWouldBlock
		}
		return nil
	}
	c := serveFake(t, ServeOptions{OUI: OUI}, f).Counts()
	if want := (Counts{Received: 10, Answered: 10}); c.Total != want {
		t.Errorf("counted %+v", c.Total)
	}
	for lid := range ib.LID(2) {
		var tids []uint64
		for _, m := range f.sent {
			if m.Addr.LID == 7+lid {
				tids = append(tids, m.MAD.TID())
			}
		}
		if !slices.IsSorted(tids) || len(tids) != 5 {
			t.Errorf("LID %d: answered %v", 7+lid, tids)
		}
	}
}

// An answer that cannot be sent is counted, and nothing more.
func TestServeFailed(t *testing.T) {
	f := &servedFake{arrivals: []umad.Message{pingFrom(7, 1), pingFrom(7, 2)}}
	f.onSend = func(m *umad.Message) error {
		if m.MAD.TID() == 1 {
			return errors.New("no way there")
		}
		return nil
	}
	var log strings.Builder
	o := ServeOptions{OUI: OUI, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	c := serveFake(t, o, f).Counts()
	if want := (Counts{Received: 2, Answered: 1, Failed: 1}); c.Total != want {
		t.Errorf("counted %+v", c.Total)
	}
	for _, want := range []string{`level=DEBUG msg=failed device="" port=0 source="LID 7" reason="no way there"`, `msg=answered device="" port=0 source="LID 7"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not in the log:\n%s", want, &log)
		}
	}
}

// A port that breaks ends its server, and what was counted stays for the next.
func TestServeGone(t *testing.T) {
	s := NewServer(ServeOptions{OUI: OUI})
	for range 2 {
		f := &servedFake{attr: umad.PortAttr{Device: "test0", Number: 1}, arrivals: []umad.Message{pingFrom(7, 1)}, broken: umad.ErrDeviceRemoved}
		if err := s.Serve(t.Context(), f); !errors.Is(err, umad.ErrDeviceRemoved) {
			t.Errorf("got error %v", err)
		}
	}
	f := &servedFake{arrivals: []umad.Message{pingFrom(7, 1)}, onSend: func(*umad.Message) error { return umad.ErrDeviceRemoved }}
	if err := s.Serve(t.Context(), f); !errors.Is(err, umad.ErrDeviceRemoved) {
		t.Errorf("got error %v", err)
	}
	if c := s.Counts(); len(c.Ports) != 2 || c.Sources[0].Device != "test0" || c.Sources[0].Answered != 2 || c.Total.Failed != 1 {
		t.Errorf("counted %+v", c)
	}
}

func TestServeRefused(t *testing.T) {
	s := NewServer(ServeOptions{})
	if err := s.Serve(t.Context(), &servedFake{refused: umad.ErrTaken}); !errors.Is(err, umad.ErrTaken) {
		t.Errorf("got error %v", err)
	}
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := s.Serve(t.Context(), p); err == nil || !strings.Contains(err.Error(), "nobody but this process") {
		t.Errorf("got error %v", err)
	}
	if c := s.Counts(); len(c.Ports) != 0 || c.Name == "" {
		t.Errorf("counted %+v", c)
	}
}
