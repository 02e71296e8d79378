package serve

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

const (
	// maxClients limits the resources that clients can occupy.
	maxClients = 1024

	// maxBacklog is the maximum number of packets queued for a client that does not read.
	// The kernel queues ten more. Without the backlog, the server and a client that sends
	// without reading would block each other.
	maxBacklog = 1024
)

// A client is a program attached to a node.
type client struct {
	slot   uint32
	at     *sim.Port
	sender *sim.Sender
	data   *socket
	out    []delivery // output for the packet that is being handled

	isSM  bool // receives requests that the node's agents do not answer
	hadSM bool // the port had CapSM before the client set it

	drained chan struct{} // closed when the last packet has been read

	mu      sync.Mutex // guards the fields below
	ended   bool
	leaving bool                // no more packets will follow the packets that have arrived
	backlog []ibsimproto.Packet // sent by sendBacklog, which runs while backlog is not empty
	sending sync.WaitGroup      // for sendBacklog
}

// attach adds a client and starts its reader. The caller holds the lock.
func (s *Server) attach(at *sim.Port, isSM bool, open func(slot uint32) (*socket, error)) (*client, error) {
	s.dropDead()
	if s.closed || len(s.clients) >= maxClients {
		return nil, errors.New("too many clients")
	}
	if isSM && s.managers[at] != nil {
		return nil, errors.New("the node has a subnet manager client")
	}
	slot := uint32(0)
	for s.clients[slot] != nil {
		slot++
	}
	data, err := open(slot)
	// Another program may use a slot's UDP port.
	for errors.Is(err, unix.EADDRINUSE) && slot < maxClients {
		for slot++; s.clients[slot] != nil; slot++ {
		}
		data, err = open(slot)
	}
	if err != nil {
		return nil, err
	}
	c := &client{slot: slot, at: at, sender: s.fabric.NewSender(at), data: data, drained: make(chan struct{})}
	s.clients[slot] = c
	s.setSM(c, isSM)
	s.running.Go(func() { s.read(c) })
	return c, nil
}

// detach removes a client unless it was removed before. The caller holds the lock.
func (s *Server) detach(c *client) {
	if s.clients[c.slot] != c {
		return
	}
	s.setSM(c, false)
	delete(s.clients, c.slot)
	c.end()
}

// end stops a client's reader and sender.
func (c *client) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.data.shutdown()
}

// setSM records whether the client is a manager, and sets CapSM on the client's port. The
// caller holds the lock.
func (s *Server) setSM(c *client, isSM bool) {
	if isSM == c.isSM {
		return
	}
	c.isSM = isSM
	capabilities := &c.at.Info.CapMask
	if isSM {
		s.managers[c.at] = c
		c.hadSM = capabilities.Has(mad.CapSM)
		*capabilities |= mad.CapSM
		return
	}
	delete(s.managers, c.at)
	if !c.hadSM {
		*capabilities &^= mad.CapSM
	}
}

// dropDead detaches clients that ended without disconnecting. A datagram socket reports
// this only for a write, or when it is connected to the same address again. The caller
// holds the lock.
func (s *Server) dropDead() {
	for _, c := range s.clients {
		if errors.Is(c.data.connect(), unix.ECONNREFUSED) {
			s.detach(c)
		}
	}
}

// read handles a client's packets until the client is detached.
func (s *Server) read(c *client) {
	var b [ibsimproto.PacketSize + 1]byte
	for {
		n, err := c.data.read(b[:])
		if err != nil || n == 0 && c.hasEnded() {
			break
		}
		s.handlePacket(c, b[:n])
	}
	close(c.drained)
	s.end(c)
	c.sending.Wait()
	c.data.close()
}

func (c *client) hasEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended || c.leaving
}

// disconnect detaches a client after the packets that it has sent: it may have sent a trap,
// to which there is no reply. It reports false for an unknown client. The caller must not hold
// the lock.
func (s *Server) disconnect(slot uint32) bool {
	s.mu.Lock()
	c := s.clients[slot]
	s.mu.Unlock()
	if c == nil {
		return false
	}
	c.mu.Lock()
	c.leaving = true
	c.mu.Unlock()
	c.data.shutdownRead()
	<-c.drained
	s.end(c)
	return true
}

func (s *Server) end(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detach(c)
}

// send sends a packet to a client or adds it to the backlog. It reports false if the
// backlog is full.
func (c *client) send(p *ibsimproto.Packet) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return true
	}
	if len(c.backlog) == 0 {
		if err := c.data.send(p[:]); !errors.Is(err, unix.EAGAIN) {
			c.checkSent(err)
			return true
		}
		c.sending.Go(c.sendBacklog)
	}
	if len(c.backlog) >= maxBacklog {
		return false
	}
	c.backlog = append(c.backlog, *p)
	return true
}

// sendBacklog sends a client's backlog.
func (c *client) sendBacklog() {
	for {
		c.data.awaitRoom()
		c.mu.Lock()
		var err error
		for len(c.backlog) > 0 && !c.ended && err == nil {
			if err = c.data.send(c.backlog[0][:]); !errors.Is(err, unix.EAGAIN) {
				c.checkSent(err)
				c.backlog, err = c.backlog[1:], nil
			}
		}
		if c.ended || len(c.backlog) == 0 {
			c.backlog = nil
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
	}
}

// checkSent stops the reader if the client no longer exists. The caller holds the
// client's lock.
func (c *client) checkSent(err error) {
	if err != nil {
		c.ended = true
		c.data.shutdown()
	}
}
