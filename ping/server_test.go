package ping

import (
	"errors"
	"fmt"
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
	"github.com/ibkit/ibkit/umad/umadtest"
)

// A request from an ibping client gets the reply of an ibping server.
func TestServer_Classic(t *testing.T) {
	p := pings(pingFrom(7, 0x12345))
	s := serveAll(t, ServeOptions{OUI: OUI, Name: "host.(none)"}, p)
	if got := p.Services()[0]; got.Class != class || got.OUI != OUI || got.ClassVersion != 1 || !slices.Equal(got.Methods, []mad.Method{mad.MethodGet, mad.MethodSend}) {
		t.Errorf("service: got %+v, want Get and Send of class %v", got, class)
	}
	want := pingFrom(7, 0x12345)
	want.Addr.QKey = umad.QP1QKey
	want.MAD.SetMethod(mad.MethodGetResp)
	copy(want.MAD.Data(), "host.(none)")
	if got := p.Sent(); len(got) != 1 || got[0].Addr != want.Addr || got[0].MAD != want.MAD || got[0].Timeout != 0 {
		t.Errorf("reply:\ngot  %+v\nwant %+v", got, want)
	}
	c := s.Counts()
	if want := (Counts{Received: 1, Answered: 1}); c.Total != want || len(c.Sources) != 1 || c.Sources[0].From.String() != "LID 7" || c.Ignored != 0 {
		t.Errorf("counts: got %+v, want %+v from LID 7", c, want)
	}
}

// A name that does not fit is cut, and still ends with a NUL.
func TestServer_LongName(t *testing.T) {
	withEcho := pingFrom(7, 1)
	(&echo{id: 5}).put(withEcho.MAD.Data())
	p := pings(pingFrom(7, 1), withEcho)
	serveAll(t, ServeOptions{OUI: OUI, Name: strings.Repeat("x", 300)}, p)
	for i, size := range []int{dataSize, offEchoMagic} {
		got := string(p.Sent()[i].MAD.Data()[:size])
		if want := strings.Repeat("x", size-1) + "\x00"; got != want {
			t.Errorf("reply %d: got name %q, want %q", i, got, want)
		}
	}
}

// The server returns an ibkit client's data, to a Get and to a Send.
func TestServer_Echo(t *testing.T) {
	grh := &umad.GRH{SGIDIndex: 1, HopLimit: 64, DGID: ib.GIDFrom(netip.MustParseAddr("fe80::7"))}
	for _, answer := range []mad.Method{0, firstAnswerMethod, lastAnswerMethod} {
		t.Run(fmt.Sprint(answer), func(t *testing.T) {
			m := pingFrom(0, 1<<40|9)
			m.Addr.GRH = grh
			request := echo{answer: answer, id: 77, payload: []byte("payload")}
			request.put(m.MAD.Data())
			method := mad.MethodGetResp
			if answer != 0 {
				m.MAD.SetMethod(mad.MethodSend)
				method = answer
			}
			p := pings(m)
			c := serveAll(t, ServeOptions{OUI: OUI, Name: "host"}, p).Counts()
			if len(p.Sent()) != 1 {
				t.Fatalf("got %d replies, counts %+v, want 1", len(p.Sent()), c)
			}
			reply := p.Sent()[0]
			got := &reply.MAD
			e, ok := parseEcho(got.Data())
			if !ok || !e.isAnswer || e.answer != answer || e.id != 77 || string(e.payload) != "payload" {
				t.Errorf("echo: got %+v, %t, want %+v as an answer", e, ok, request)
			}
			if got.Method() != method || got.TID() != 1<<40|9 || string(got.Data()[:5]) != "host\x00" {
				t.Errorf("got method %v, transaction ID %x, name %q, want %v, %x, %q", got.Method(), got.TID(), got.Data()[:5], method, 1<<40|9, "host\x00")
			}
			if a := reply.Addr; a.GRH == nil || *a.GRH != *grh {
				t.Errorf("destination: got %+v, want %+v", a.GRH, grh)
			}
			if got := c.Sources[0].From.String(); got != "fe80::7" {
				t.Errorf("source: got %s, want fe80::7", got)
			}
		})
	}
}

// A packet that is not a well-formed ping gets no reply.
func TestServer_Ignored(t *testing.T) {
	tests := []struct {
		name   string
		change func(m *umad.Message)
	}{
		{"own reply, returned", func(m *umad.Message) { m.Status = 110 }},
		{"base version", func(m *umad.Message) { m.MAD[0] = 2 }},
		{"class", func(m *umad.Message) { m.MAD[1] = 0x33 }},
		{"class version", func(m *umad.Message) { m.MAD[2] = 2 }},
		{"response", func(m *umad.Message) { m.MAD.SetMethod(mad.MethodGetResp) }},
		{"Set", func(m *umad.Message) { m.MAD.SetMethod(mad.MethodSet) }},
		{"status", func(m *umad.Message) { m.MAD.SetStatus(4) }},
		{"attribute", func(m *umad.Message) { m.MAD[17] = 1 }},
		{"modifier", func(m *umad.Message) { m.MAD[23] = 1 }},
		{"RMPP", func(m *umad.Message) {
			m.MAD.SetRMPP(mad.RMPP{Version: 1, Type: mad.RMPPData, Flags: mad.RMPPActive})
		}},
		{"OUI", func(m *umad.Message) { m.MAD.SetOUI(OUI + 1) }},
		{"Send without a reply method", func(m *umad.Message) { m.MAD.SetMethod(mad.MethodSend) }},
		{"Send as the answer method", func(m *umad.Message) {
			m.MAD.SetMethod(mad.MethodSend)
			(&echo{answer: mad.MethodSend}).put(m.MAD.Data())
		}},
		{"answer to a Send", func(m *umad.Message) {
			m.MAD.SetMethod(mad.MethodSend)
			(&echo{isAnswer: true, answer: firstAnswerMethod}).put(m.MAD.Data())
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := pingFrom(7, 1)
			tt.change(&m)
			p := pings(m)
			c := serveAll(t, ServeOptions{OUI: OUI}, p).Counts()
			if len(p.Sent()) != 0 || c.Ignored != 1 || c.Total != (Counts{}) || len(c.Sources) != 0 {
				t.Errorf("got %d replies, counts %+v, want one ignored packet", len(p.Sent()), c)
			}
		})
	}
}

// A source gets one second's replies at once, and further replies at the rate.
func TestServer_Rate(t *testing.T) {
	p := &umadtest.Port{}
	for i := range 30 {
		p.Deliver(0, pingFrom(7, uint64(i)))
	}
	p.Deliver(0, pingFrom(8, 0))
	s := NewServer(ServeOptions{OUI: OUI, Rate: 10})
	now := s.start
	s.now = func() time.Time { return now }
	p.OnRecv = func(p *umadtest.Port) error {
		if p.Pending() == 11 { // 20 packets from the first source were received
			now = now.Add(550 * time.Millisecond)
		}
		return nil
	}
	runServer(t, s, p)
	c := s.Counts()
	if got, want := c.Sources[0].Counts, (Counts{Received: 30, Answered: 15, Limited: 15}); got != want {
		t.Errorf("first source: got %+v, want %+v", got, want)
	}
	if got, want := c.Sources[1].Counts, (Counts{Received: 1, Answered: 1}); got != want {
		t.Errorf("second source: got %+v, want %+v", got, want)
	}
}

// Sources with few pings get replies while another source floods the server.
func TestServer_Fair(t *testing.T) {
	p := &umadtest.Port{}
	const flood, others = 20000, 20
	for i := range flood {
		p.Deliver(0, pingFrom(7, uint64(i)))
		if i%(flood/others) == flood/others-1 {
			p.Deliver(0, pingFrom(ib.LID(8+i%3), uint64(i)))
		}
	}
	// Packets received between a ping and the reply.
	waited := 0
	p.OnSend = func(p *umadtest.Port, m umad.Message) error {
		if m.Addr.LID != 7 {
			waited = max(waited, flood+others-p.Pending()-int(m.MAD.TID()))
		}
		return nil
	}
	c := serveAll(t, ServeOptions{OUI: OUI}, p).Counts()
	var rest Counts
	for _, s := range c.Sources[1:] {
		rest.add(&s.Counts)
	}
	if want := (Counts{Received: others, Answered: others}); rest != want {
		t.Errorf("other sources: got %+v, want %+v", rest, want)
	}
	if of := c.Sources[0].Counts; of.Received != flood || of.Answered+of.Dropped != flood || of.Dropped == 0 {
		t.Errorf("flooding source: got %+v, want %d pings, some of them dropped", of, flood)
	}
	if waited > maxDrain+others {
		t.Errorf("got a reply after %d further packets, want at most %d", waited, maxDrain+others)
	}
}

// Replies wait while the port has no room, and stay in order.
func TestServer_WouldBlock(t *testing.T) {
	p := &umadtest.Port{}
	for i := range 10 {
		p.Deliver(0, pingFrom(ib.LID(7+i%2), uint64(i)))
	}
	tries := 0
	p.OnSend = func(*umadtest.Port, umad.Message) error {
		if tries++; tries%3 != 0 {
			return umad.ErrWouldBlock
		}
		return nil
	}
	c := serveAll(t, ServeOptions{OUI: OUI}, p).Counts()
	if want := (Counts{Received: 10, Answered: 10}); c.Total != want {
		t.Errorf("counts: got %+v, want %+v", c.Total, want)
	}
	for lid := range ib.LID(2) {
		var tids []uint64
		for _, m := range p.Sent() {
			if m.Addr.LID == 7+lid {
				tids = append(tids, m.MAD.TID())
			}
		}
		if !slices.IsSorted(tids) || len(tids) != 5 {
			t.Errorf("LID %d: got replies to %v, want 5 in order", 7+lid, tids)
		}
	}
}

// A reply that cannot be sent is counted, and does not end the server.
func TestServer_SendError(t *testing.T) {
	p := pings(pingFrom(7, 1), pingFrom(7, 2))
	p.OnSend = func(_ *umadtest.Port, m umad.Message) error {
		if m.MAD.TID() == 1 {
			return errors.New("host unreachable")
		}
		return nil
	}
	var log strings.Builder
	o := ServeOptions{OUI: OUI, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	c := serveAll(t, o, p).Counts()
	if want := (Counts{Received: 2, Answered: 1, Failed: 1}); c.Total != want {
		t.Errorf("counts: got %+v, want %+v", c.Total, want)
	}
	for _, want := range []string{`level=DEBUG msg=failed device="" port=0 source="LID 7" reason="host unreachable"`, `msg=answered device="" port=0 source="LID 7"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log: got\n%s\nwant a line with %q", &log, want)
		}
	}
}

// A port that breaks ends its server, and the next port with its name continues its
// counts.
func TestServer_DeviceRemoved(t *testing.T) {
	s := NewServer(ServeOptions{OUI: OUI})
	for range 2 {
		p := pings(pingFrom(7, 1))
		p.Attributes = umad.PortAttr{Device: "test0", Number: 1}
		p.OnRecv = func(p *umadtest.Port) error {
			if p.Pending() == 0 {
				return umad.ErrDeviceRemoved
			}
			return nil
		}
		if err := s.Serve(t.Context(), p); !errors.Is(err, umad.ErrDeviceRemoved) {
			t.Errorf("receive: got error %v, want %v", err, umad.ErrDeviceRemoved)
		}
	}
	p := pings(pingFrom(7, 1))
	p.OnSend = func(*umadtest.Port, umad.Message) error { return umad.ErrDeviceRemoved }
	if err := s.Serve(t.Context(), p); !errors.Is(err, umad.ErrDeviceRemoved) {
		t.Errorf("send: got error %v, want %v", err, umad.ErrDeviceRemoved)
	}
	if c := s.Counts(); len(c.Ports) != 2 || c.Sources[0].Device != "test0" || c.Sources[0].Answered != 2 || c.Total.Failed != 1 {
		t.Errorf("counts: got %+v, want 2 answered at test0 and 1 failed at the other port", c)
	}
}

func TestServer_Refused(t *testing.T) {
	s := NewServer(ServeOptions{})
	taken := &umadtest.Port{OnListen: func(umad.Service) error { return umad.ErrTaken }}
	if err := s.Serve(t.Context(), taken); !errors.Is(err, umad.ErrTaken) {
		t.Errorf("another server: got error %v, want %v", err, umad.ErrTaken)
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
	if err := s.Serve(t.Context(), p); err == nil || !strings.Contains(err.Error(), "receives responses only") {
		t.Errorf("port of a simulator: got error %v", err)
	}
	if c := s.Counts(); len(c.Ports) != 0 || c.Name == "" {
		t.Errorf("counts: got %+v, want no port and a name", c)
	}
}
