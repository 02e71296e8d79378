package perf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/internal/tool/perf/memory"
)

// ServeOptions are the properties of a server. DefaultServeOptions returns usable
// limits.
type ServeOptions struct {
	Identity host.Identity
	Device   string // "": the device that reaches the client
	Port     uint8  // 0: the first active port
	GIDIndex int    // negative: the best
	CPUs     host.CPUs
	Memory   memory.Source

	Allow         []netip.Prefix // clients to serve; nil: all
	MaxClients    int            // connected at the same time
	MaxQueuePairs int            // per test
	MaxMemory     int            // per test, in bytes
	MaxTime       time.Duration  // per test
	Idle          time.Duration  // maximum inactivity of a client

	// Report, unless nil, is called for each event, from several goroutines.
	Report func(Event)
}

// DefaultServeOptions returns the default limits, with any device and GID.
func DefaultServeOptions() ServeOptions {
	return ServeOptions{
		GIDIndex: -1, MaxClients: 16, MaxQueuePairs: 1024, MaxMemory: 1 << 30, MaxTime: time.Hour, Idle: 30 * time.Second,
	}
}

// An Event is an event of a server.
type Event struct {
	Client netip.AddrPort
	Test   *Test // that started or ended; nil: an event of the connection
	Done   bool  // the test or the connection has ended
	Err    error // reason of a failure
}

// ErrNoDevice is wrapped if the host has no RDMA device, or no device of the requested name.
var ErrNoDevice = port.ErrNoDevice

// ErrGIDIndex is wrapped for the index of a GID that no active port has.
var ErrGIDIndex = port.ErrGIDIndex

// A Server runs the tests of clients.
type Server struct {
	o       ServeOptions
	slots   chan struct{}
	clients sync.WaitGroup
}

// NewServer returns a server. It fails unless the host has a usable port.
func NewServer(o ServeOptions) (*Server, error) {
	if err := checkPort(o.Device, o.Port, o.GIDIndex); err != nil {
		return nil, err
	}
	return newServer(o), nil
}

// checkPort returns an error unless a port can be opened, and has a GID of the index
// if that is not negative.
func checkPort(device string, number uint8, gidIndex int) error {
	ports, err := port.Open(device, number)
	if err != nil {
		return err
	}
	return errors.Join(port.CheckIndex(ports, gidIndex), port.CloseAll(ports))
}

func newServer(o ServeOptions) *Server {
	return &Server{o: o, slots: make(chan struct{}, o.MaxClients)}
}

// Serve serves the clients of a listener until ctx ends, and closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	defer s.clients.Wait()
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept client: %w", err)
		case err != nil:
			s.report(Event{Err: fmt.Errorf("accept client: %w", err)})
			select { // the error may be temporary, such as too many open files
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			continue
		}
		s.clients.Go(func() { s.serveClient(ctx, conn) })
	}
}

func (s *Server) report(e Event) {
	if s.o.Report != nil {
		s.o.Report(e)
	}
}

// allowed reports whether the server serves an address.
func (s *Server) allowed(a netip.Addr) bool {
	if s.o.Allow == nil {
		return true
	}
	for _, p := range s.o.Allow {
		if p.Contains(a.Unmap().WithZone("")) {
			return true
		}
	}
	return false
}

// serveClient serves a client until it disconnects.
func (s *Server) serveClient(ctx context.Context, conn net.Conn) {
	from, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
	refuse := func(why string) {
		_ = conn.SetWriteDeadline(time.Now().Add(responseTime))
		_ = message{Failure: why}.write(conn) // the client may be gone
		_ = conn.Close()
		s.report(Event{Client: from, Err: errors.New(why)})
	}
	if !s.allowed(from.Addr()) {
		refuse("the server does not allow this client's address")
		return
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		refuse(fmt.Sprintf("the server has reached max-clients of %d", s.o.MaxClients))
		return
	}
	c := &session{Server: s, controlConn: newControlConn("client", conn), from: from}
	err := c.run(ctx)
	err = errors.Join(err, c.close())
	s.report(Event{Client: from, Done: true, Err: err})
}
