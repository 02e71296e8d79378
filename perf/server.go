package perf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// ServeOptions are what a server does and what it does not.
type ServeOptions struct {
	Identity Identity
	Device   string // "": whichever reaches the client
	Port     uint8  // 0: the first active one
	GIDIndex int    // negative: the best
	CPUs     CPUs

	Allow         []netip.Prefix // who may come; nil: everybody
	MaxClients    int            // at a time
	MaxQueuePairs int            // of a test
	MaxMemory     int            // of a test, bytes
	MaxTime       time.Duration  // of a test
	Idle          time.Duration  // how long a client may do nothing

	// Tell, unless nil, is told of what happens. It is called from several
	// goroutines.
	Tell func(Event)
}

// An Event is something that happened to a server.
type Event struct {
	Client netip.AddrPort
	Test   *Test // that began or has ended; nil: of the connection
	Done   bool  // it is over
	Err    error // why it failed
}

// Defaults of ServeOptions.
const (
	DefaultMaxClients    = 16
	DefaultMaxQueuePairs = 1024
	DefaultMaxMemory     = 1 << 30
	DefaultMaxTime       = time.Hour
	DefaultIdle          = 30 * time.Second
)

// Serve serves clients that come to a listener until ctx ends, and closes it.
func Serve(ctx context.Context, l net.Listener, o ServeOptions) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	s := &server{ServeOptions: o, slots: make(chan struct{}, o.MaxClients)}
	defer s.clients.Wait()
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close() // it came too late
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("wait for clients: %w", err)
		case err != nil:
			s.tell(Event{Err: fmt.Errorf("wait for clients: %w", err)})
			select { // such as too many open files: it may pass
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			continue
		}
		s.clients.Go(func() { s.serve(ctx, conn) })
	}
}

type server struct {
	ServeOptions
	slots   chan struct{}
	clients sync.WaitGroup
}

func (s *server) tell(e Event) {
	if s.Tell != nil {
		s.Tell(e)
	}
}

// allowed tells whether a client may come.
func (s *server) allowed(a netip.Addr) bool {
	if s.Allow == nil {
		return true
	}
	for _, p := range s.Allow {
		if p.Contains(a.Unmap().WithZone("")) {
			return true
		}
	}
	return false
}

// serve serves one client to its end.
func (s *server) serve(ctx context.Context, conn net.Conn) {
	from, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
	refuse := func(why string) {
		err := errors.New(why)
		_ = conn.SetWriteDeadline(time.Now().Add(answerTime))
		_ = message{Failure: why}.write(conn) // who is refused may be gone
		_ = conn.Close()
		s.tell(Event{Client: from, Err: err})
	}
	if !s.allowed(from.Addr()) {
		refuse("this server does not serve your address (--allow)")
		return
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		refuse(fmt.Sprintf("this server has %d clients already, which is as many as it takes (--max-clients)", s.MaxClients))
		return
	}
	c := &served{server: s, talk: newTalk("client", conn), from: from}
	err := c.serve(ctx)
	err = errors.Join(err, c.close())
	s.tell(Event{Client: from, Done: true, Err: err})
}
