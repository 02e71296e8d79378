package ibsim

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

func attach(t *testing.T) (*fakeServer, *Port) {
	t.Helper()
	s := newFakeServer(t)
	p, err := Open(t.Context(), Options{SockName: s.name, Node: "H-1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return s, p
}

func directed(tid uint64) *umad.Message {
	m := &umad.Message{Addr: umad.Addr{LID: ib.PermissiveLID}}
	m.MAD.PutSMP(mad.SMPRequest{
		TID: tid, Method: mad.MethodGet, Attr: mad.AttrNodeInfo,
		Directed: true, DrSLID: ib.PermissiveLID, DrDLID: ib.PermissiveLID,
	})
	return m
}

func packet(m *umad.Message) []byte {
	var b ibsimproto.Packet
	encodePacket(&b, m)
	return b[:]
}

func soon() time.Time { return time.Now().Add(testenv.WaitLimit) }

func TestOpen(t *testing.T) {
	s, p := attach(t)
	want := umad.PortAttr{
		Device: "ibsim0", Number: 1, LinkLayer: "InfiniBand", NodeGUID: 0x100, PortGUID: 0x101,
		LID: 4, LMC: 1, SMLID: 2, SMSL: 3, State: ib.PortActive, PhysState: ib.PhysLinkUp, GIDPrefix: 0xfec0 << 48,
	}
	if p.Attr() != want {
		t.Errorf("got  %+v\nwant %+v", p.Attr(), want)
	}
	kind, _, data := s.next(t)
	if kind != ibsimproto.Connect || string(data[12:16]) != "H-1\x00" {
		t.Errorf("control request %d, data %q", kind, data)
	}
	s.next(t)
	s.next(t)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Send(&umad.Message{}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Send: got %v, want %v", err, fs.ErrClosed)
	}
	if err := p.Recv(&umad.Message{}, time.Time{}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Recv: got %v, want %v", err, fs.ErrClosed)
	}
	p.Interrupt()
	if n, err := p.SendBatch(make([]umad.Message, 2)); n != 0 || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("SendBatch: got %d, %v, want %v", n, err, fs.ErrClosed)
	}
	if n, err := p.RecvBatch(make([]umad.Message, 2), time.Time{}); n != 0 || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("RecvBatch: got %d, %v, want %v", n, err, fs.ErrClosed)
	}
	// The first request makes ibsim read the packets that were sent before.
	for _, want := range []ibsimproto.Kind{ibsimproto.GetPort, ibsimproto.Disconnect} {
		if kind, client, _ := s.next(t); kind != want || client != testSlot {
			t.Errorf("on Close: got control request %d of client %d, want %d of %d", kind, client, want, testSlot)
		}
	}
}

// A client that answers for a node announces it when it attaches.
func TestListen(t *testing.T) {
	for _, responder := range []bool{false, true} {
		s := newFakeServer(t)
		p, err := Open(t.Context(), Options{SockName: s.name, Responder: responder})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, data := s.next(t); ibsimproto.DecodeClientInfo(data).IsSM != responder {
			t.Errorf("attached by %x", data)
		}
		if err := p.Listen(umad.Service{Class: 0x32}); (err == nil) != responder {
			t.Errorf("responder %v: error %v", responder, err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestListen_Unmatched checks that a request that no service receives is answered with a
// status, singly and in a batch.
func TestListen_Unmatched(t *testing.T) {
	s := newFakeServer(t)
	p, err := Open(t.Context(), Options{SockName: s.name, Responder: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Listen(umad.Service{Class: mad.ClassSA, Methods: []mad.Method{mad.MethodReport}}); err != nil {
		t.Fatal(err)
	}
	report := &umad.Message{Addr: umad.Addr{LID: 4, QPN: 1}}
	report.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassSA, ClassVersion: 2, Method: mad.MethodReport, TID: 9})
	for name, receive := range map[string]func(m *umad.Message) error{
		"single": func(m *umad.Message) error { return p.Recv(m, soon()) },
		"batch": func(m *umad.Message) error {
			batch := make([]umad.Message, 2)
			n, err := p.RecvBatch(batch, soon())
			if n != 1 {
				t.Errorf("got %d messages, want 1", n)
			}
			*m = batch[0]
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.send(t, packet(directed(5)))
			s.send(t, packet(report))
			var m umad.Message
			if err := receive(&m); err != nil || m.MAD.Method() != mad.MethodReport {
				t.Fatalf("got %v, %+v, want the report", err, m)
			}
			var b [ibsimproto.PacketSize]byte
			if _, err := s.data.Read(b[:]); err != nil {
				t.Fatal(err)
			}
			if !decodePacket(&m, b[:]) || m.MAD.Method() != mad.MethodGetResp || m.MAD.TID() != 5 || m.MAD.Status() != mad.StatusBadMethodAttr || !m.MAD.Returning() {
				t.Errorf("got %+v, want a response with status %v", m, mad.StatusBadMethodAttr)
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	s := newFakeServer(t)
	s.refuse.Store(true)
	if _, err := Open(t.Context(), Options{SockName: s.name, Node: "nobody"}); err == nil || !strings.Contains(err.Error(), `no node "nobody"`) {
		t.Errorf("refused: %v", err)
	}
	if _, err := Open(t.Context(), Options{SockName: s.name, Node: strings.Repeat("x", ibsimproto.NodeIDSize)}); err == nil {
		t.Error("a name that is too long is cut")
	}
	_, err := Open(t.Context(), Options{SockName: s.name + "-not"})
	var hint interface{ Hint() string }
	if !errors.As(err, &hint) || strings.Contains(err.Error(), "\x00") {
		t.Errorf("nobody there: %q", err)
	}
}

// TestOpenDetaches checks that a client which cannot go on gives its place back:
// the server has ten.
func TestOpenDetaches(t *testing.T) {
	s := newFakeServer(t)
	s.refused.Store(uint32(ibsimproto.GetNodeInfo))
	if _, err := Open(t.Context(), Options{SockName: s.name}); err == nil || !strings.Contains(err.Error(), "read NodeInfo of the local node: refused") {
		t.Errorf("error %v", err)
	}
	for _, want := range []ibsimproto.Kind{ibsimproto.Connect, ibsimproto.GetNodeInfo, ibsimproto.Disconnect} {
		if kind, _, _ := s.next(t); kind != want {
			t.Errorf("control request %d, want %d", kind, want)
		}
	}
}

// TestNoAnswer checks that the client does not wait for a silent server
// longer than it is given.
func TestNoAnswer(t *testing.T) {
	s := newFakeServer(t)
	s.ctl.Close() // the name stays bound to a socket without a reader
	silent, err := net.ListenUnixgram("unixgram", ibsimproto.SockName(s.name).Control())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	e, err := dialUnix(ibsimproto.SockName(s.name))
	if err != nil {
		t.Fatal(err)
	}
	defer e.data.Close()
	defer e.control.Close()
	p := &Port{control: e.control, answerIn: time.Millisecond}
	if _, err := p.request(ibsimproto.GetPortInfo, [ibsimproto.ControlDataSize]byte{}); err == nil || !strings.Contains(err.Error(), "no reply within 1ms") {
		t.Errorf("error %v", err)
	}
}

// TestExchange checks that a request reaches the server, and that its reply or its
// report about a dropped packet returns.
func TestExchange(t *testing.T) {
	s, p := attach(t)
	if err := p.Send(directed(0x1234)); err != nil {
		t.Fatal(err)
	}
	var b [512]byte
	n, err := s.data.Read(b[:])
	if err != nil || string(b[:n]) != string(packet(directed(0x1234))) {
		t.Fatalf("server got %x, error %v", b[:n], err)
	}
	(*ibsimproto.Packet)(b[:n]).SetStatus(ibsimproto.StatusDropped)
	s.send(t, b[:n])
	var m umad.Message
	if err := p.Recv(&m, soon()); err != nil || m.Status != syscall.ETIMEDOUT || m.MAD.TID() != 0x1234 {
		t.Errorf("got %+v, error %v", m, err)
	}
}

func TestForeignDatagrams(t *testing.T) {
	s, p := attach(t)
	for _, size := range []int{0, 1, ibsimproto.PacketSize - 1, ibsimproto.PacketSize + 1, 400} {
		s.send(t, make([]byte, size))
	}
	s.send(t, packet(directed(9)))
	var m umad.Message
	if err := p.Recv(&m, soon()); err != nil || m.MAD.TID() != 9 || p.Foreign() != 5 {
		t.Errorf("TID %d, %d foreign, error %v", m.MAD.TID(), p.Foreign(), err)
	}
	// However many come, they take no longer than the deadline.
	s.send(t, nil)
	s.send(t, nil)
	if err := p.Recv(&m, time.Now().Add(-time.Hour)); !errors.Is(err, os.ErrDeadlineExceeded) || p.Foreign() != 6 {
		t.Errorf("%d foreign, error %v", p.Foreign(), err)
	}
	s.send(t, []byte("not a packet"))
	if err := p.Recv(&m, testenv.Soon()); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestDeadline(t *testing.T) {
	s, p := attach(t)
	var m umad.Message
	for _, deadline := range []time.Time{time.Now().Add(-time.Hour), testenv.Soon()} {
		if err := p.Recv(&m, deadline); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	}
	// A waiting packet is read even after the deadline.
	s.send(t, packet(directed(1)))
	if err := p.Recv(&m, time.Now().Add(-time.Hour)); err != nil {
		t.Error(err)
	}
}

func TestInterrupt(t *testing.T) {
	s, p := attach(t)
	var m umad.Message
	waits := make(chan error)
	go func() { waits <- p.Recv(&m, time.Time{}) }()
	p.Interrupt() // before or while it waits
	if err := <-waits; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	// It may do so once more, and no more than that.
	s.send(t, packet(directed(1)))
	err := p.Recv(&m, soon())
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = p.Recv(&m, soon())
	}
	if err != nil {
		t.Errorf("after the interruption: %v", err)
	}
}

// TestFull checks that a server which does not read is not waited for.
func TestFull(t *testing.T) {
	_, p := attach(t)
	for range 10000 {
		if err := p.Send(directed(1)); err != nil {
			if !errors.Is(err, umad.ErrWouldBlock) {
				t.Errorf("error %v", err)
			}
			return
		}
	}
	t.Error("everything fits")
}

func TestServerGone(t *testing.T) {
	s, p := attach(t)
	s.data.Close()
	s.ctl.Close()
	if err := p.Send(directed(1)); !errors.Is(err, umad.ErrDeviceRemoved) {
		t.Errorf("error %v", err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestLIDThenRoute(t *testing.T) {
	_, p := attach(t)
	m := directed(1)
	m.Addr.LID = 5
	if err := p.Send(m); !errors.Is(err, errLIDThenRoute) {
		t.Errorf("error %v", err)
	}
}

func TestAllocations(t *testing.T) {
	s, p := attach(t)
	m, b := directed(1), packet(directed(2))
	got := testing.AllocsPerRun(4, func() { // the queue has room for ten
		if err := p.Send(m); err != nil {
			t.Fatal(err)
		}
	})
	if got > 0 {
		t.Errorf("Send allocates %v times", got)
	}
	for range 5 {
		s.send(t, b)
	}
	var in umad.Message
	got = testing.AllocsPerRun(4, func() {
		if err := p.Recv(&in, time.Time{}); err != nil {
			t.Fatal(err)
		}
	})
	if got > 0 {
		t.Errorf("Recv allocates %v times", got)
	}
}

// TestUDP attaches to a server that is reached by UDP.
func TestUDP(t *testing.T) {
	ctl, data := listenPair(t)
	s := &fakeServer{ctl: ctl, control: make(chan ibsimproto.Control, 100)}
	done := make(chan struct{})
	go func() { s.serve(); close(done) }()
	defer func() { ctl.Close(); <-done }()
	p, err := Open(t.Context(), Options{Server: "127.0.0.1", Port: ctl.LocalAddr().(*net.UDPAddr).Port})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Send(directed(7)); err != nil {
		t.Fatal(err)
	}
	var b [512]byte
	n, from, err := data.ReadFrom(b[:])
	if err != nil || n != ibsimproto.PacketSize {
		t.Fatalf("server got %d bytes, error %v", n, err)
	}
	if _, err := data.WriteTo(b[:n], from); err != nil {
		t.Fatal(err)
	}
	var m umad.Message
	if err := p.Recv(&m, soon()); err != nil || m.MAD.TID() != 7 {
		t.Errorf("TID %d, error %v", m.MAD.TID(), err)
	}
}

// listenPair returns sockets on a port and on the port for the test's slot.
func listenPair(t *testing.T) (ctl, data net.PacketConn) {
	t.Helper()
	for range 100 {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		d, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: c.LocalAddr().(*net.UDPAddr).Port + 1 + testSlot})
		if err == nil {
			t.Cleanup(func() { d.Close() })
			return c, d
		}
		c.Close()
	}
	t.Fatal("no two ports are free")
	return nil, nil
}

func TestOptionsFromEnv(t *testing.T) {
	tests := []struct {
		name string
		env  map[string]string
		want Options
		bad  bool
	}{
		{name: "nothing"},
		{
			name: "local",
			env:  map[string]string{"IBSIM_SOCKNAME": "a", "SIM_HOST": "H-1", "IBSIM_SERVER_PORT": "nonsense"},
			want: Options{SockName: "a", Node: "H-1"},
		},
		{
			name: "remote",
			env:  map[string]string{"IBSIM_SERVER_NAME": "host", "IBSIM_SERVER_PORT": "7171"},
			want: Options{Server: "host", Port: 7171},
		},
		{name: "bad port", env: map[string]string{"IBSIM_SERVER_NAME": "host", "IBSIM_SERVER_PORT": "0"}, bad: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := OptionsFromEnv(func(key string) string { return tt.env[key] })
			if (err != nil) != tt.bad || !tt.bad && got != tt.want {
				t.Errorf("got %+v, error %v", got, err)
			}
		})
	}
}
