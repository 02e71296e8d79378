package ibsim

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/mad"
)

// fakeServer answers control requests as ibsim does, and leaves the data socket for its
// single slot to the test.
type fakeServer struct {
	name    string // for IBSIM_SOCKNAME
	ctl     net.PacketConn
	data    *net.UnixConn
	client  atomic.Pointer[net.UnixAddr] // the client's data socket
	refuse  atomic.Bool                  // reject all requests
	refused atomic.Uint32                // request kind to reject; 0: accept all
	control chan ibsimproto.Control
}

const testSlot = 3

var servers atomic.Uint32

func newFakeServer(t *testing.T) *fakeServer {
	t.Helper()
	s := &fakeServer{
		name:    fmt.Sprintf("ibkit-test-%d-%d", os.Getpid(), servers.Add(1)),
		control: make(chan ibsimproto.Control, 100),
	}
	ctl, err := net.ListenUnixgram("unixgram", ibsimproto.SockName(s.name).Control())
	if err != nil {
		t.Fatal(err)
	}
	if s.data, err = net.ListenUnixgram("unixgram", ibsimproto.SockName(s.name).Data(testSlot)); err != nil {
		t.Fatal(err)
	}
	s.ctl = ctl
	done := make(chan struct{})
	go func() { s.serve(); close(done) }()
	t.Cleanup(func() {
		ctl.Close()
		s.data.Close()
		<-done
	})
	return s
}

func (s *fakeServer) serve() {
	var b [ibsimproto.ControlSize + 1]byte
	for {
		n, from, err := s.ctl.ReadFrom(b[:])
		if err != nil {
			return
		}
		c, ok := ibsimproto.ParseControl(b[:n])
		if !ok {
			continue // as ibsim: no answer
		}
		s.control <- c
		s.answer(&c)
		_, _ = s.ctl.WriteTo(c[:], ibsimproto.Sender(from))
	}
}

func (s *fakeServer) answer(c *ibsimproto.Control) {
	var attr mad.Attribute
	switch c.Kind() {
	case ibsimproto.Connect:
		s.client.Store(ibsimproto.SockName(s.name).ClientData(ibsimproto.DecodeClientInfo(c.Data()).ID))
		binary.NativeEndian.PutUint32(c.Data(), testSlot)
	case ibsimproto.GetNodeInfo:
		attr = &mad.NodeInfo{NodeType: mad.NodeTypeCA, NumPorts: 2, NodeGUID: 0x100}
	case ibsimproto.GetPortInfo:
		attr = &mad.PortInfo{LocalPort: 1, LID: 4, LMC: 1, SMLID: 2, SMSL: 3, State: ib.PortActive, PhysState: ib.PhysLinkUp, GIDPrefix: 0xfec0 << 48}
	}
	if attr != nil {
		if err := mad.Encode(attr, c.Data()); err != nil {
			panic(err)
		}
	}
	if s.refuse.Load() || c.Kind() == ibsimproto.Kind(s.refused.Load()) && c.Kind() != 0 {
		c.SetKind(ibsimproto.Error)
	}
}

// send sends a datagram to the client's data socket.
func (s *fakeServer) send(t *testing.T, b []byte) {
	t.Helper()
	if _, err := s.data.WriteToUnix(b, s.client.Load()); err != nil {
		t.Fatal(err)
	}
}

// next returns the next control request.
func (s *fakeServer) next(t *testing.T) (kind ibsimproto.Kind, slot uint32, data []byte) {
	t.Helper()
	c := <-s.control
	return c.Kind(), c.Slot(), c.Data()
}
