package serve

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/ibsim"
)

var started atomic.Int32

// serve serves a fabric during a test and returns the socket name.
func serve(t *testing.T, f *sim.Fabric, udpPort int) (*Server, string) {
	t.Helper()
	return serveWith(t, f, Options{UDPPort: udpPort})
}

func serveWith(t *testing.T, f *sim.Fabric, o Options) (*Server, string) {
	t.Helper()
	o.SockName = fmt.Sprintf("ibkit-serve-%d-%d", os.Getpid(), started.Add(1))
	s, err := Listen(f, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s, o.SockName
}

func build(t testing.TB, description string) *sim.Fabric {
	t.Helper()
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func attach(t *testing.T, name, node string) *ibsim.Port {
	t.Helper()
	p, err := ibsim.Open(t.Context(), ibsim.Options{SockName: name, Node: node})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// exchange sends a message and returns the next message received.
func exchange(t *testing.T, p umad.Port, m *umad.Message) umad.Message {
	t.Helper()
	if err := p.Send(m); err != nil {
		t.Fatal(err)
	}
	return receive(t, p)
}

func receive(t *testing.T, p umad.Port) (m umad.Message) {
	t.Helper()
	if err := p.Recv(&m, time.Now().Add(testenv.WaitLimit)); err != nil {
		t.Fatal(err)
	}
	return m
}

func nodeInfo(route mad.Route) *umad.Message {
	m := &umad.Message{Addr: umad.Addr{LID: ib.PermissiveLID}}
	m.MAD.PutSMP(mad.SMPRequest{
		TID: 0x1234, Method: mad.MethodGet, Attr: mad.AttrNodeInfo, Route: route,
		Directed: true, DrSLID: ib.PermissiveLID, DrDLID: ib.PermissiveLID,
	})
	return m
}

// TestServe_SameReplies compares the replies to a client with the replies within the process.
func TestServe_SameReplies(t *testing.T) {
	f := build(t, "demo")
	_, name := serve(t, build(t, "demo"), 0)
	direct, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	p := attach(t, name, "")
	got, want := p.Attr(), direct.Attr()
	if got.NodeGUID != want.NodeGUID || got.LID != want.LID || got.SMLID != want.SMLID || got.State != want.State {
		t.Errorf("got port %+v, want %+v", got, want)
	}
	for _, route := range []mad.Route{mad.Local, mad.RouteOf(1), mad.RouteOf(1, 1)} {
		got, want := exchange(t, p, nodeInfo(route)), exchange(t, direct, nodeInfo(route))
		got.MAD.SetTID(got.MAD.TID() & (1<<slotShift - 1))
		if got.Status != 0 || got.MAD != want.MAD {
			t.Errorf("route %v: got %x, want %x", route, got.MAD, want.MAD)
		}
	}
}

// TestServe_RouteFromLID sends a directed route that starts at a LID, as ibportstate does for
// a port's peer.
func TestServe_RouteFromLID(t *testing.T) {
	f := build(t, "demo")
	_, name := serve(t, build(t, "demo"), 0)
	direct, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	p := attach(t, name, "")
	place := func(name string) *sim.Port {
		at, err := f.Place(name)
		if err != nil {
			t.Fatal(err)
		}
		return at.Management()
	}
	m := func() *umad.Message {
		m := &umad.Message{Addr: umad.Addr{LID: place("leaf1").Info.LID}}
		m.MAD.PutSMP(mad.SMPRequest{
			TID: 0x1234, Method: mad.MethodGet, Attr: mad.AttrNodeInfo, Route: mad.RouteOf(1),
			Directed: true, DrSLID: p.Attr().LID, DrDLID: ib.PermissiveLID,
		})
		return m
	}
	got, want := exchange(t, p, m()), exchange(t, direct, m())
	got.MAD.SetTID(got.MAD.TID() & (1<<slotShift - 1))
	if got.Status != 0 || got.MAD != want.MAD {
		t.Errorf("got status %v, %x, want %x", got.Status, got.MAD, want.MAD)
	}
	var info mad.NodeInfo
	if err := got.MAD.Decode(&info); err != nil || info.NodeGUID != place("spine1").GUID {
		t.Errorf("got node %v, %v, want spine1, %v", info.NodeGUID, err, place("spine1").GUID)
	}
}

func TestServe_Unanswered(t *testing.T) {
	s, name := serve(t, build(t, "demo"), 0)
	p := attach(t, name, "")
	if m := exchange(t, p, nodeInfo(mad.RouteOf(0x4d))); m.Status != syscall.ETIMEDOUT || m.MAD.TID() != 0x1234 {
		t.Errorf("got %+v, want a timeout with the same TID", m)
	}
	if got := s.Counters(); got != (Counters{Received: 1, Unanswered: 1}) {
		t.Errorf("got counters %+v, want 1 received, 1 unanswered", got)
	}
}

// TestAttach_ManyClients attaches more clients than ibsim supports.
func TestAttach_ManyClients(t *testing.T) {
	_, name := serve(t, build(t, "demo"), 0)
	var ports []*ibsim.Port
	for range 15 { // package umad/ibsim has 16 client IDs per process
		ports = append(ports, attach(t, name, ""))
	}
	for i, p := range ports {
		if m := exchange(t, p, nodeInfo(mad.Local)); m.Status != 0 || m.MAD.TID()>>slotShift != uint64(i) {
			t.Errorf("client %d: got %+v", i, m)
		}
	}
}

func TestAttach_ByDescription(t *testing.T) {
	f := build(t, "demo")
	n := f.Nodes[len(f.Nodes)-1]
	n.Desc = mad.NewNodeDescription("the last one")
	_, name := serve(t, f, 0)
	if p := attach(t, name, "the last one"); p.Attr().NodeGUID != n.Info.NodeGUID {
		t.Errorf("got port %+v, want the last node", p.Attr())
	}
	if _, err := ibsim.Open(t.Context(), ibsim.Options{SockName: name, Node: "nobody"}); err == nil {
		t.Error("unknown node: got a port, want an error")
	}
}

// TestForward passes a request from a client to another client, and the response back.
func TestForward(t *testing.T) {
	f := build(t, "single-switch")
	s, name := serve(t, f, 0)
	requester, responder := attach(t, name, ""), attach(t, name, lastHost(f).ID)
	ping := &umad.Message{Addr: umad.Addr{LID: responder.Attr().LID, QPN: 1, QKey: umad.QP1QKey}}
	ping.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: 0x32, ClassVersion: 1, Method: mad.MethodGet, TID: 9})
	if m := exchange(t, requester, ping); m.Status != syscall.ETIMEDOUT {
		t.Errorf("without a responder: got %+v, want a timeout", m)
	}

	setSM(t, s, responder, 1)
	if err := requester.Send(ping); err != nil {
		t.Fatal(err)
	}
	m := receive(t, responder)
	if m.Addr.LID != requester.Attr().LID || m.MAD.Class() != 0x32 {
		t.Fatalf("got request %+v", m)
	}
	m.MAD[3] = byte(mad.MethodGetResp)
	if err := responder.Send(&m); err != nil {
		t.Fatal(err)
	}
	if m := receive(t, requester); m.Status != 0 || m.MAD.Method() != mad.MethodGetResp || m.Addr.LID != responder.Attr().LID {
		t.Errorf("got response %+v", m)
	}
}

// TestSetSM checks that a port has CapSM while a client is its subnet manager, which then
// receives requests.
func TestSetSM(t *testing.T) {
	f := build(t, "single-switch")
	f.Unconfigure()
	s, name := serve(t, f, 0)
	p := attach(t, name, lastHost(f).ID)
	if lastHost(f).Ports[1].Info.CapMask.Has(mad.CapSM) {
		t.Error("before SetIsSM: got CapSM, want it cleared")
	}
	setSM(t, s, p, 1)
	request := nodeInfo(mad.Local)
	request.MAD.PutSMP(mad.SMPRequest{
		TID: 5, Method: mad.MethodGet, Attr: mad.AttrSMInfo,
		Directed: true, DrSLID: ib.PermissiveLID, DrDLID: ib.PermissiveLID,
	})
	if m := exchange(t, p, request); m.MAD.Method() != mad.MethodGet || m.MAD.Attr() != mad.AttrSMInfo || m.Status != 0 {
		t.Errorf("got %+v, want the request for SMInfo", m)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if lastHost(f).Ports[1].Info.CapMask.Has(mad.CapSM) {
		t.Error("after the client closed: got CapSM, want it cleared")
	}
}

// setSM sends SetIsSM, which package umad/ibsim does not send.
func setSM(t *testing.T, s *Server, p *ibsim.Port, isSM byte) {
	t.Helper()
	var slot uint32
	s.mu.Lock()
	for _, c := range s.clients {
		if c.at.Node.Info.NodeGUID == p.Attr().NodeGUID {
			slot = c.slot
		}
	}
	s.mu.Unlock()
	data := [ibsimproto.ControlDataSize]byte{isSM, isSM, isSM, isSM}
	r := ibsimproto.NewControl(ibsimproto.SetIsSM, slot, data)
	if reply, ok := s.handleControl(r[:], nil); !ok || reply.Kind() != ibsimproto.SetIsSM {
		t.Fatal("SetIsSM was rejected")
	}
}

func lastHost(f *sim.Fabric) *sim.Node {
	for i := len(f.Nodes) - 1; i >= 0; i-- {
		if n := f.Nodes[i]; !n.IsSwitch() {
			return n
		}
	}
	return nil
}

// TestAttach_DeadClient checks that a slot is reused if the client ended without
// disconnecting.
func TestAttach_DeadClient(t *testing.T) {
	s, name := serve(t, build(t, "demo"), 0)
	names := ibsimproto.SockName(name)
	data, err := net.ListenUnixgram("unixgram", names.ClientData(1))
	if err != nil {
		t.Fatal(err)
	}
	r := ibsimproto.NewControl(ibsimproto.Connect, 0, ibsimproto.ClientInfo{ID: 1}.Encode())
	open := func(slot, id uint32) (*socket, error) { return s.listeners[0].open(slot, id, nil) }
	if reply, _ := s.handleControl(r[:], open); reply.Kind() != ibsimproto.Connect {
		t.Fatal("Connect was rejected")
	}
	data.Close()
	if reply, _ := s.handleControl(r[:], open); reply.Kind() != ibsimproto.Error {
		t.Error("without a data socket: Connect was accepted")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.clients) != 0 {
		t.Errorf("got %d clients, want 0", len(s.clients))
	}
}

func TestServe_UDP(t *testing.T) {
	free, err := net.ListenUDP("udp4", nil)
	if err != nil {
		t.Fatal(err)
	}
	port := free.LocalAddr().(*net.UDPAddr).Port
	free.Close()
	serve(t, build(t, "demo"), port)
	p, err := ibsim.Open(t.Context(), ibsim.Options{Server: "127.0.0.1", Port: port})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if m := exchange(t, p, nodeInfo(mad.RouteOf(1))); m.Status != 0 || m.MAD.Method() != mad.MethodGetResp {
		t.Errorf("got %+v", m)
	}
}

func TestListen_NameInUse(t *testing.T) {
	_, name := serve(t, build(t, "demo"), 0)
	if _, err := Listen(build(t, "demo"), Options{SockName: name}); err == nil {
		t.Error("got a second server with the same name")
	}
}
