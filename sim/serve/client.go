package serve

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

const (
	// maxClients bounds what strangers can make a server hold open.
	maxClients = 1024

	// backlog is how many packets wait for a client that does not read. The
	// kernel has room for ten more; a client that sends without reading would
	// otherwise wait for us, and we for it.
	backlog = 1024
)

// A client is a program that is attached to a node.
type client struct {
	slot uint32
	at   *sim.Port
	data net.Conn
	out  chan ibsimproto.Packet // closed when the client is detached

	isSM  bool // wants what the node's agents do not answer
	hadSM bool // the port said it has a subnet manager before the client did
}

// attach makes a client and starts to serve it. The caller holds the lock.
func (s *Server) attach(at *sim.Port, isSM bool, open func(slot uint32) (net.Conn, error)) (*client, error) {
	s.dropDead()
	if s.closed || len(s.clients) >= maxClients {
		return nil, errors.New("no room")
	}
	if isSM && s.managerAt(at) != nil {
		return nil, errors.New("the node has such a client")
	}
	slot := uint32(0)
	for s.clients[slot] != nil {
		slot++
	}
	data, err := open(slot)
	// Somebody else may have the UDP port that belongs to a slot.
	for errors.Is(err, unix.EADDRINUSE) && slot < maxClients {
		for slot++; s.clients[slot] != nil; slot++ {
		}
		data, err = open(slot)
	}
	if err != nil {
		return nil, err
	}
	c := &client{slot: slot, at: at, data: data, out: make(chan ibsimproto.Packet, backlog)}
	s.clients[slot] = c
	c.setSM(isSM)
	s.running.Go(func() { s.read(c) })
	s.running.Go(func() { s.write(c) })
	return c, nil
}

// detach ends a client, which may have ended before. The caller holds the lock.
func (s *Server) detach(c *client) {
	if s.clients[c.slot] != c {
		return
	}
	delete(s.clients, c.slot)
	c.setSM(false)
	c.data.Close()
	close(c.out)
}

// setSM takes in whether the client acts as a manager, which its port tells
// everyone who asks.
func (c *client) setSM(isSM bool) {
	if isSM == c.isSM {
		return
	}
	c.isSM = isSM
	capabilities := &c.at.Info.CapMask
	if isSM {
		c.hadSM = capabilities.Has(mad.CapSM)
		*capabilities |= mad.CapSM
	} else if !c.hadSM {
		*capabilities &^= mad.CapSM
	}
}

// managerAt returns the client that is to have what a node's agents do not
// answer; nil where there is none. The caller holds the lock.
func (s *Server) managerAt(at *sim.Port) *client {
	for _, c := range s.clients {
		if c.isSM && c.at == at.Management() {
			return c
		}
	}
	return nil
}

// dropDead detaches clients that ended without saying so. A datagram socket
// tells of that only when one writes to it, or connects it to the same name
// again. The caller holds the lock.
func (s *Server) dropDead() {
	for _, c := range s.clients {
		local, ok := c.data.(*net.UnixConn)
		if !ok {
			continue
		}
		raw, err := local.SyscallConn()
		if err != nil {
			continue
		}
		name := local.RemoteAddr().String() + "\x00"
		_ = raw.Control(func(fd uintptr) { err = unix.Connect(int(fd), &unix.SockaddrUnix{Name: name}) })
		if errors.Is(err, unix.ECONNREFUSED) {
			s.detach(c)
		}
	}
}

// read handles what a client sends until its socket is closed.
func (s *Server) read(c *client) {
	var b [ibsimproto.PacketSize + 1]byte
	for {
		n, err := c.data.Read(b[:])
		if err != nil {
			s.end(c)
			return
		}
		s.handlePacket(c, b[:n])
	}
}

// write sends what waits for a client until that is detached.
func (s *Server) write(c *client) {
	for p := range c.out {
		if _, err := c.data.Write(p[:]); err != nil {
			s.end(c)
		}
	}
}

func (s *Server) end(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detach(c)
}

// push has a packet sent to a client. The caller holds the lock.
func (s *Server) push(c *client, p *ibsimproto.Packet) {
	select {
	case c.out <- *p:
	default:
		s.overflowed.Add(1)
	}
}
