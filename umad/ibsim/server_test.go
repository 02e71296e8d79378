package ibsim

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"

	"github.com/ibkit/ibkit/mad"
)

// fakeServer answers control requests as ibsim does, and leaves the data
// socket of its one slot to the test.
type fakeServer struct {
	name    string // for IBSIM_SOCKNAME
	ctl     net.PacketConn
	data    *net.UnixConn
	client  atomic.Pointer[net.UnixAddr] // the client's data socket
	refuse  atomic.Bool                  // say no to all requests
	control chan [ctlSize]byte
}

const testSlot = 3

var servers atomic.Uint32

func newFakeServer(t *testing.T) *fakeServer {
	t.Helper()
	s := &fakeServer{
		name:    fmt.Sprintf("ibkit-test-%d-%d", os.Getpid(), servers.Add(1)),
		control: make(chan [ctlSize]byte, 100),
	}
	ctl, err := net.ListenUnixgram("unixgram", s.addr(":ctl"))
	if err != nil {
		t.Fatal(err)
	}
	if s.data, err = net.ListenUnixgram("unixgram", s.addr(fmt.Sprintf(":out%d", testSlot))); err != nil {
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

func (s *fakeServer) addr(socket string) *net.UnixAddr {
	return &net.UnixAddr{Net: "unixgram", Name: "@" + s.name + socket + "\x00"}
}

func (s *fakeServer) serve() {
	var b [ctlSize]byte
	for {
		n, from, err := s.ctl.ReadFrom(b[:])
		if err != nil {
			return
		}
		if n != ctlSize || binary.NativeEndian.Uint32(b[:]) != ctlMagic {
			continue // as ibsim: no answer
		}
		if local, ok := from.(*net.UnixAddr); ok {
			local.Name += "\x00" // package net takes it for the end of the name
		}
		s.control <- b
		s.answer(&b)
		_, _ = s.ctl.WriteTo(b[:], from)
	}
}

func (s *fakeServer) answer(b *[ctlSize]byte) {
	data := b[ctlHeader:]
	var attr mad.Attribute
	switch binary.NativeEndian.Uint32(b[8:]) {
	case ctlConnect:
		s.client.Store(s.addr(fmt.Sprintf(":in%d", binary.NativeEndian.Uint32(data))))
		binary.NativeEndian.PutUint32(data, testSlot)
	case ctlGetNodeInfo:
		attr = &mad.NodeInfo{NodeType: mad.NodeTypeCA, NumPorts: 2, NodeGUID: 0x100}
	case ctlGetPortInfo:
		attr = &mad.PortInfo{LocalPort: 1, LID: 4, LMC: 1, SMLID: 2, SMSL: 3, State: mad.PortActive, PhysState: mad.PhysLinkUp, GIDPrefix: 0xfec0 << 48}
	}
	if attr != nil {
		if err := mad.Encode(attr, data); err != nil {
			panic(err)
		}
	}
	if s.refuse.Load() {
		binary.NativeEndian.PutUint32(b[8:], ctlError)
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
func (s *fakeServer) next(t *testing.T) (kind, client uint32, data []byte) {
	t.Helper()
	b := <-s.control
	return binary.NativeEndian.Uint32(b[8:]), binary.NativeEndian.Uint32(b[4:]), b[ctlHeader:]
}
