package serve

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// idle returns a server with clients that are not connected to programs.
func idle(t *testing.T, f *sim.Fabric) (*Server, func(slot, id uint32) (*socket, error)) {
	t.Helper()
	s, err := newServer(f)
	if err != nil {
		t.Fatal(err)
	}
	return s, func(uint32, uint32) (*socket, error) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		if err != nil {
			return nil, err
		}
		return &socket{fd: fds[0], remote: &unix.SockaddrUnix{Name: "@nobody"}}, unix.Close(fds[1])
	}
}

// FuzzControl checks that the control socket accepts any datagram.
func FuzzControl(f *testing.F) {
	for kind := ibsimproto.Error; kind <= ibsimproto.GetPKeys+1; kind++ {
		c := ibsimproto.NewControl(kind, 0, ibsimproto.ClientInfo{ID: 1, IsSM: true}.Encode())
		f.Add(c[:])
	}
	f.Add([]byte{})
	fabric := build(f, "single-switch")
	f.Fuzz(func(t *testing.T, b []byte) {
		s, open := idle(t, fabric)
		first := ibsimproto.NewControl(ibsimproto.Connect, 0, ibsimproto.ClientInfo{ID: 1}.Encode())
		s.handleControl(first[:], open)
		if _, ok := s.handleControl(b, open); ok && len(b) != ibsimproto.ControlSize {
			t.Errorf("%d bytes: got a reply, want none", len(b))
		}
		s.close()
		s.running.Wait()
	})
}

// FuzzPacket checks that a data socket accepts any datagram: each is answered, forwarded
// to the client, or dropped and counted, except for packets that need no reply.
func FuzzPacket(f *testing.F) {
	add := func(m *umad.Message) {
		var p ibsimproto.Packet
		p.Reset()
		p.SetLIDs(m.Addr.LID, 0)
		copy(p.MAD(), m.MAD[:])
		f.Add(p[:])
	}
	add(nodeInfo(mad.RouteOf(1, 2)))
	response := nodeInfo(mad.Local)
	response.MAD[3], response.MAD[4] = byte(mad.MethodGetResp), 0x80
	add(response)
	m := &umad.Message{Addr: umad.Addr{LID: 1}}
	m.MAD.PutSMP(mad.SMPRequest{Method: mad.MethodSet, Attr: mad.AttrPortInfo, Modifier: 1})
	add(m)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		fabric, err := sim.Build("single-switch:hosts=2")
		if err != nil {
			t.Fatal(err)
		}
		s, _ := idle(t, fabric)
		at, err := fabric.Place("")
		if err != nil {
			t.Fatal(err)
		}
		out, in := pair(t)
		c := &client{at: at, sender: fabric.NewSender(at), data: out}
		s.clients[0] = c
		s.setSM(c, true)
		quiet := false
		if len(b) == ibsimproto.PacketSize {
			m := (*mad.Packet)((*ibsimproto.Packet)(b).MAD())
			quiet = m.Method() == mad.MethodTrapRepress || isRMPPControl(m)
		}
		s.handlePacket(c, b)
		// A change may cause a trap as well, and a table takes several packets.
		sent, malformed := count(t, in), s.malformed.Load() > 0
		if malformed && sent > 0 || !malformed && sent == 0 && !quiet {
			t.Errorf("got %d packets, counters %+v", sent, s.Counters())
		}
		s.close()
		s.running.Wait()
	})
}

// pair returns two connected sockets.
func pair(t *testing.T) (a, b *socket) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, b = &socket{fd: fds[0]}, &socket{fd: fds[1]}
	t.Cleanup(func() { a.close(); b.close() })
	return a, b
}

// count returns the number of queued datagrams.
func count(t *testing.T, s *socket) (n int) {
	t.Helper()
	var b [ibsimproto.PacketSize]byte
	for {
		switch _, _, err := unix.Recvfrom(s.fd, b[:], unix.MSG_DONTWAIT); err {
		case nil:
			n++
		case unix.EAGAIN:
			return n
		default:
			t.Fatal(err)
		}
	}
}
