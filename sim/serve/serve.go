// Package serve serves a simulated fabric on the sockets used by ibsim, the linux-rdma
// simulator, for the same clients: C tools with libumad2sim.so preloaded, and ibkit's
// package umad/ibsim.
//
// The fabric's agents answer first. Requests that no agent answers go to a client at the
// destination node, if a client has registered as a subnet manager; the client's responses
// return to the requester. Other requests come back at once with an error, as in ibsim.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/internal/timeline"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

// Options configure a server's sockets. The zero value selects ibsim's default sockets, for
// clients on this host only.
type Options struct {
	SockName string // first part of the socket names; "": "sim"

	// UDPPort, if not 0, is a port for clients on other hosts, on all IPv4 addresses of
	// this host. Each client uses a different higher port.
	UDPPort int

	// RMPP transfers long subnet administration replies in segments. libumad2sim.so does
	// not support RMPP: clients that use it need replies that are cut to one packet.
	RMPP bool

	// Console is the socket path for commands from the same user, see [ConsolePath]. "":
	// the server has no console.
	Console string
}

// Counters count packets and the reasons for lost packets.
type Counters struct {
	Received   uint64 // all packets from clients
	Malformed  uint64 // dropped: another protocol
	Unanswered uint64 // returned to the sender: no route or no reply
	Overflowed uint64 // dropped: the client does not read
}

// A Server serves a fabric and is the only user of that fabric.
type Server struct {
	listeners []*listener
	console   *net.UnixListener // nil: no console
	delayed   *timeline.Timeline[delivery]
	changed   chan struct{} // signals new events or traps

	received, malformed, unanswered, overflowed atomic.Uint64

	mu       sync.Mutex // guards the fields below
	fabric   *sim.Fabric
	clients  map[uint32]*client    // by slot
	managers map[*sim.Port]*client // clients with isSM
	consoles map[*net.UnixConn]struct{}
	closed   bool
	running  sync.WaitGroup // readers and consoles
}

// Listen opens the sockets. [Server.Serve] serves them.
//
// libumad2sim.so discards the last 32 bytes of each MAD and returns random data instead.
// PortCountersExtended has some error counters in these bytes, so Listen removes these
// counters from the agents' capabilities; C tools use other attributes then.
func Listen(f *sim.Fabric, o Options) (*Server, error) {
	for _, n := range f.Nodes {
		caps, caps2 := n.PerfCaps()
		n.SetPerfCaps(caps, caps2&^mad.PerfAdditionalExtended)
	}
	f.NoRMPP = !o.RMPP
	s, err := newServer(f)
	if err != nil {
		return nil, fmt.Errorf("serve simulated fabric: %w", err)
	}
	if err := s.listen(o); err != nil {
		s.closeListeners()
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *Server) listen(o Options) error {
	name := cmp.Or(o.SockName, ibsimproto.DefaultSockName)
	local, err := listenUnix(ibsimproto.SockName(name))
	if err != nil {
		return fmt.Errorf("listen as ibsim %q: %w", name, err)
	}
	s.listeners = append(s.listeners, local)
	if o.UDPPort != 0 {
		udp, err := listenUDP(o.UDPPort)
		if err != nil {
			return fmt.Errorf("listen as ibsim on UDP port %d: %w", o.UDPPort, err)
		}
		s.listeners = append(s.listeners, udp)
	}
	if o.Console != "" {
		if s.console, err = listenConsole(o.Console); err != nil {
			return fmt.Errorf("listen as console %s: %w", o.Console, err)
		}
	}
	return nil
}

func (s *Server) closeListeners() {
	for _, l := range s.listeners {
		l.control.Close()
	}
	if s.console != nil {
		s.console.Close()
	}
}

func newServer(f *sim.Fabric) (*Server, error) {
	later, err := timeline.New[delivery]()
	if err != nil {
		return nil, err
	}
	s := &Server{
		delayed:  later,
		changed:  make(chan struct{}, 1),
		fabric:   f,
		clients:  map[uint32]*client{},
		managers: map[*sim.Port]*client{},
		consoles: map[*net.UnixConn]struct{}{},
	}
	s.running.Go(func() { later.Run(s.deliver) })
	return s, nil
}

// Serve serves clients until the context ends, and then closes all sockets. It returns an
// error if a control socket fails.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var controls sync.WaitGroup
	for _, l := range s.listeners {
		controls.Go(func() { cancel(s.serveControl(l)) })
	}
	if s.console != nil {
		controls.Go(func() { cancel(s.serveConsole(s.console)) })
	}
	controls.Go(func() { s.runEvents(ctx) })
	<-ctx.Done()
	s.closeListeners()
	controls.Wait()
	s.close()
	s.running.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("serve simulated fabric: %w", err)
	}
	return nil
}

// serveControl answers control datagrams until the socket is closed.
func (s *Server) serveControl(l *listener) error {
	var b [ibsimproto.ControlSize + 1]byte
	for {
		n, from, err := l.control.ReadFrom(b[:])
		if err != nil {
			return err
		}
		from = ibsimproto.Sender(from)
		reply, ok := s.handleControl(b[:n], func(slot, id uint32) (*socket, error) { return l.open(slot, id, from) })
		if !ok {
			s.malformed.Add(1)
			continue
		}
		// A client that does not wait for the reply gets no reply.
		_, _ = l.control.WriteTo(reply[:], from)
	}
}

func (s *Server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, c := range s.clients {
		s.detach(c)
	}
	for c := range s.consoles {
		c.Close()
	}
	s.delayed.End()
}

// Counters returns the current counters.
func (s *Server) Counters() Counters {
	return Counters{
		Received:   s.received.Load(),
		Malformed:  s.malformed.Load(),
		Unanswered: s.unanswered.Load(),
		Overflowed: s.overflowed.Load(),
	}
}
