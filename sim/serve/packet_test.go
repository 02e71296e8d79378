package serve

import (
	"crypto/sha256"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// TestServe_Seed checks that the same seed and events give the same packets.
func TestServe_Seed(t *testing.T) {
	run := func(seed uint64) [sha256.Size]byte {
		f := build(t, "single-switch:hosts=4,radix=8")
		f.Model = sim.Model{Loss: 0.1, Duplicate: 0.1, Seed: seed}
		events, err := f.ParseEvents(strings.NewReader("@50 hang host003\n@100 unlink host002\n@150 model loss=0.5\n"), "events")
		if err != nil {
			t.Fatal(err)
		}
		f.Play(events, func(err error) { t.Error(err) })
		_, name := serve(t, f, 0)
		p := attach(t, name, "")
		h := sha256.New()
		for i := range 200 {
			// The replies to a request are received before the next request is sent.
			m := nodeInfo(mad.RouteOf(1, byte(1+i%3)))
			m.MAD.SetTID(uint64(i))
			if err := p.Send(m); err != nil {
				t.Fatal(err)
			}
			got := receive(t, p)
			h.Write(got.MAD[:])
			h.Write([]byte{byte(got.Status)})
		}
		return [sha256.Size]byte(h.Sum(nil))
	}
	if a, b := run(1), run(1); a != b {
		t.Error("got different packets with the same seed")
	}
	if run(1) == run(2) {
		t.Error("got the same packets with different seeds")
	}
}

// TestForward_Directed sends a directed-route request to another client's subnet manager,
// which receives the return path.
func TestForward_Directed(t *testing.T) {
	f := build(t, "single-switch:hosts=3,radix=4")
	f.Unconfigure()
	s, name := serve(t, f, 0)
	requester, responder := attach(t, name, "host001"), attach(t, name, "host003")
	setSM(t, s, responder, 1)
	request := &umad.Message{Addr: umad.Addr{LID: ib.PermissiveLID}}
	request.MAD.PutSMP(mad.SMPRequest{
		TID: 5, Method: mad.MethodGet, Attr: mad.AttrSMInfo, Route: mad.RouteOf(1, 3),
		Directed: true, DrSLID: ib.PermissiveLID, DrDLID: ib.PermissiveLID,
	})
	if err := requester.Send(request); err != nil {
		t.Fatal(err)
	}
	m := receive(t, responder)
	if h := m.MAD.Header(); h.HopPointer != 3 || m.MAD.ReturnPath() != mad.RouteOf(1, 1) || h.Attr != mad.AttrSMInfo {
		t.Fatalf("got request %+v, return path %v, want hop pointer 3, path 1,1", h, m.MAD.ReturnPath())
	}
	m.MAD[3], m.MAD[4] = byte(mad.MethodGetResp), 0x80
	if err := responder.Send(&m); err != nil {
		t.Fatal(err)
	}
	if m := receive(t, requester); m.Status != 0 || m.MAD.Header().HopPointer != 0 || m.MAD.Method() != mad.MethodGetResp {
		t.Errorf("got response %+v, status %v, want hop pointer 0", m.MAD.Header(), m.Status)
	}
}

// TestSend_DeadUDPClient checks that a client is detached when a packet cannot be sent
// to it.
func TestSend_DeadUDPClient(t *testing.T) {
	f := build(t, "single-switch:hosts=3,radix=4")
	s, err := newServer(f)
	if err != nil {
		t.Fatal(err)
	}
	defer s.running.Wait()
	defer s.close()
	at, err := f.Place("host002")
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	c, err := s.attach(at, true, func(uint32) (*socket, error) {
		return newSocket(syscall.AF_INET, udpSockaddr(nil, 0), udpSockaddr([]byte{127, 0, 0, 1}, closedPort(t)))
	})
	s.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	c.send(new(ibsimproto.Packet))
	for left := 1; left > 0; { // until the reader detaches the client
		s.mu.Lock()
		left = len(s.clients)
		s.mu.Unlock()
	}
}

// closedPort returns an unused UDP port on this host.
func closedPort(t *testing.T) int {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).Port
}
