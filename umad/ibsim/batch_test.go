package ibsim

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/umad"
)

// messages returns n requests with transaction IDs from 1.
func messages(n int) []umad.Message {
	m := make([]umad.Message, n)
	for i := range m {
		m[i] = *directed(uint64(i + 1))
	}
	return m
}

// sentTIDs returns the transaction IDs in the packets that wait at the server.
func (s *fakeServer) sentTIDs(t *testing.T) (tids []uint64) {
	t.Helper()
	var b [ibsimproto.PacketSize]byte
	for {
		if err := s.data.SetReadDeadline(testenv.Soon()); err != nil {
			t.Fatal(err)
		}
		n, err := s.data.Read(b[:])
		if err != nil {
			return tids
		}
		var m umad.Message
		if !decodePacket(&m, b[:n]) {
			t.Fatalf("server received %d bytes, want a packet", n)
		}
		tids = append(tids, m.MAD.TID())
	}
}

func TestPort_SendBatch(t *testing.T) {
	s, p := attach(t)
	if n, err := p.SendBatch(messages(5)); n != 5 || err != nil {
		t.Fatalf("got %d, %v, want 5 messages sent", n, err)
	}
	if got := s.sentTIDs(t); len(got) != 5 || got[0] != 1 || got[4] != 5 {
		t.Errorf("got transaction IDs %v, want 1 to 5", got)
	}
}

func TestPort_SendBatchFull(t *testing.T) {
	s, p := attach(t)
	n, err := p.SendBatch(messages(10000))
	if !errors.Is(err, umad.ErrWouldBlock) {
		t.Fatalf("got %d, %v, want error %v", n, err, umad.ErrWouldBlock)
	}
	if got := s.sentTIDs(t); len(got) != n {
		t.Errorf("the server received %d packets, want the %d sent", len(got), n)
	}
}

// The messages before an invalid message are sent.
func TestPort_SendBatchInvalid(t *testing.T) {
	for _, invalid := range []int{0, 2} {
		s, p := attach(t)
		m := messages(4)
		m[invalid].Addr.LID = 5
		if n, err := p.SendBatch(m); n != invalid || !errors.Is(err, errLIDThenRoute) {
			t.Errorf("message %d invalid: got %d, %v, want %d sent and error %v", invalid, n, err, invalid, errLIDThenRoute)
		}
		if got := s.sentTIDs(t); len(got) != invalid {
			t.Errorf("message %d invalid: the server received %v, want %d packets", invalid, got, invalid)
		}
	}
}

func TestPort_RecvBatch(t *testing.T) {
	s, p := attach(t)
	for _, b := range [][]byte{packet(directed(1)), []byte("foreign"), packet(directed(2)), make([]byte, ibsimproto.PacketSize+1), packet(directed(3))} {
		s.send(t, b)
	}
	m := make([]umad.Message, 8)
	n, err := p.RecvBatch(m, soon())
	if n != 3 || err != nil || p.Foreign() != 2 {
		t.Fatalf("got %d, %v, %d foreign datagrams, want 3 messages and 2 foreign datagrams", n, err, p.Foreign())
	}
	for i := range n {
		if got, want := m[i].MAD.TID(), uint64(i+1); got != want {
			t.Errorf("message %d: got transaction ID %d, want %d", i, got, want)
		}
	}
	s.send(t, []byte("foreign"))
	if n, err := p.RecvBatch(m, time.Now().Add(-time.Hour)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("nothing but a foreign datagram: got %d, %v, want error %v", n, err, os.ErrDeadlineExceeded)
	}
	s.send(t, packet(directed(4)))
	s.send(t, packet(directed(5)))
	if n, err := p.RecvBatch(m[:1], soon()); n != 1 || err != nil || m[0].MAD.TID() != 4 {
		t.Errorf("room for one: got %d, %v, transaction ID %d, want the first message", n, err, m[0].MAD.TID())
	}
}
