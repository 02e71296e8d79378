// Package serve puts a simulated fabric behind the sockets of ibsim, the
// simulator of linux-rdma, so that its clients can use it: the C tools with
// libumad2sim.so preloaded, and ibkit's own package umad/ibsim.
//
// Agents that the fabric has answer what they know. What they do not know is
// handed to a client that has said it wants it, such as a subnet manager or an
// ibping server; its answers find their way back. What nobody answers comes back
// at once with an error, as from ibsim.
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

// Options say where a server listens. The zero value is where ibsim listens by
// default: on this host only.
type Options struct {
	SockName string // what the names of the sockets begin with; "": "sim"

	// UDPPort, where it is not 0, is a port on which clients elsewhere are
	// served as well, on all of this host's IPv4 addresses. Each takes another
	// port above it.
	UDPPort int

	// Console is the path of the socket by which programs of the same user
	// change the fabric, see [ConsolePath]; "": there is none.
	Console string
}

// Counters are what became of datagrams that did not get through.
type Counters struct {
	Received   uint64 // all packets of clients
	Malformed  uint64 // dropped: not of ibsim's protocol
	Unanswered uint64 // returned to the sender: no way there, or nobody to answer
	Overflowed uint64 // dropped: the client does not read
}

// A Server serves one fabric, which nobody else may use meanwhile.
type Server struct {
	listeners []*listener
	console   *net.UnixListener // nil: there is none
	later     *timeline.Timeline[delivery]
	changed   chan struct{} // the fabric may have new events and traps

	received, malformed, unanswered, overflowed atomic.Uint64

	mu       sync.Mutex // over what follows
	fabric   *sim.Fabric
	clients  map[uint32]*client    // by slot
	managers map[*sim.Port]*client // those that want what agents do not answer
	consoles map[*net.UnixConn]struct{}
	closed   bool
	running  sync.WaitGroup // of clients' goroutines
}

// Listen opens the sockets that clients attach by. They are served by
// [Server.Serve].
//
// libumad2sim.so drops the last 32 bytes of each MAD and leaves what was in
// memory there, where PortCountersExtended has some of its error counters. So
// agents have none of those from now on; the C tools take the other ones.
func Listen(f *sim.Fabric, o Options) (*Server, error) {
	for _, n := range f.Nodes {
		caps, caps2 := n.PerfCaps()
		n.SetPerfCaps(caps, caps2&^mad.PerfAdditionalExtended)
	}
	f.NoRMPP = true // as libumad2sim.so
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
		later:    later,
		changed:  make(chan struct{}, 1),
		fabric:   f,
		clients:  map[uint32]*client{},
		managers: map[*sim.Port]*client{},
		consoles: map[*net.UnixConn]struct{}{},
	}
	s.running.Go(func() { later.Run(s.deliver) })
	return s, nil
}

// Serve serves clients until the context ends, and closes all sockets then. An
// error is that of a socket that clients attach by.
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

// serveControl answers control datagrams until their socket is closed.
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
		// Who asks and does not wait for the answer goes without it.
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
	s.later.End()
}

// Counters returns how many datagrams did not get through so far.
func (s *Server) Counters() Counters {
	return Counters{
		Received:   s.received.Load(),
		Malformed:  s.malformed.Load(),
		Unanswered: s.unanswered.Load(),
		Overflowed: s.overflowed.Load(),
	}
}
