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
	// maxClients bounds what strangers can make a server hold open.
	maxClients = 1024

	// maxBacklog is how many packets wait for a client that does not read. The
	// kernel has room for ten more; a client that sends without reading would
	// otherwise wait for us, and we for it.
	maxBacklog = 1024
)

// A client is a program that is attached to a node.
type client struct {
	slot   uint32
	at     *sim.Port
	sender *sim.Sender
	data   *socket
	out    []delivery // what comes of the packet that is being handled

	isSM  bool // wants what the node's agents do not answer
	hadSM bool // the port said it has a subnet manager before the client did

	mu      sync.Mutex // over what follows
	ended   bool
	backlog []ibsimproto.Packet // waits for room; a goroutine sends it while there is any
	sending sync.WaitGroup      // of that goroutine
}

// attach makes a client and starts to serve it. The caller holds the lock.
func (s *Server) attach(at *sim.Port, isSM bool, open func(slot uint32) (*socket, error)) (*client, error) {
	s.dropDead()
	if s.closed || len(s.clients) >= maxClients {
		return nil, errors.New("no room")
	}
	if isSM && s.managers[at] != nil {
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
	c := &client{slot: slot, at: at, sender: s.fabric.NewSender(at), data: data}
	s.clients[slot] = c
	s.setSM(c, isSM)
	s.running.Go(func() { s.read(c) })
	return c, nil
}

// detach ends a client, which may have ended before. The caller holds the lock.
func (s *Server) detach(c *client) {
	if s.clients[c.slot] != c {
		return
	}
	s.setSM(c, false)
	delete(s.clients, c.slot)
	c.end()
}

// end makes those who serve the client stop.
func (c *client) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.data.shutdown()
}

// setSM takes in whether the client acts as a manager, which its port tells
// everyone who asks. The caller holds the lock.
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

// dropDead detaches clients that ended without saying so. A datagram socket
// tells of that only when one writes to it, or connects it to the same name
// again. The caller holds the lock.
func (s *Server) dropDead() {
	for _, c := range s.clients {
		if errors.Is(c.data.connect(), unix.ECONNREFUSED) {
			s.detach(c)
		}
	}
}

// read handles what a client sends until it is detached.
func (s *Server) read(c *client) {
	var b [ibsimproto.PacketSize + 1]byte
	for {
		n, err := c.data.read(b[:])
		if err != nil || n == 0 && c.hasEnded() {
			break
		}
		s.handlePacket(c, b[:n])
	}
	s.end(c)
	c.sending.Wait()
	c.data.close()
}

func (c *client) hasEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (s *Server) end(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detach(c)
}

// send sends a packet to a client, after what waits for it. It reports false
// where there is no more room for it to wait.
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

// sendBacklog sends what waits for the client.
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

// checkSent has the reader find out where the client is gone. The caller holds
// the client's lock.
func (c *client) checkSent(err error) {
	if err != nil {
		c.ended = true
		c.data.shutdown()
	}
}
