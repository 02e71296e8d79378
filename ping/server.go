package ping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ibkit/ibkit/internal/hostname"
	"github.com/ibkit/ibkit/umad"
)

// ServeOptions configure a [Server].
type ServeOptions struct {
	OUI  uint32  // in the pings to answer, usually [OUI]
	Name string  // sent in replies, at most 215 bytes (default: host and NIS domain name)
	Rate float64 // maximum replies to a source per second; 0: unlimited

	// Log, if set, gets a debug message for each ping.
	Log *slog.Logger
}

// A Server answers pings at any number of ports. It counts the pings from each source in
// bounded memory.
type Server struct {
	o     ServeOptions
	now   func() time.Time
	start time.Time

	mu    sync.Mutex
	ports []*portServer
}

// NewServer returns a server without ports.
func NewServer(o ServeOptions) *Server {
	if o.Name == "" {
		o.Name = hostname.WithDomain()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{o: o, now: time.Now, start: time.Now()}
}

// Serve answers pings at a port until ctx ends, for which it returns nil, or the port
// breaks. It may be called for several ports at the same time. It adds to the counts for an
// earlier port with the same device and number.
func (s *Server) Serve(ctx context.Context, port umad.Port) error {
	serve, err := s.listen(port)
	if err != nil {
		return err
	}
	return serve(ctx)
}

// listen makes a port receive pings, and returns the function that answers them.
func (s *Server) listen(port umad.Port) (func(context.Context) error, error) {
	r, ok := port.(umad.Responder)
	if !ok {
		return nil, errors.New("serve pings: the port receives responses only")
	}
	if err := r.Listen(umad.Service{Class: class, ClassVersion: class.Version(), OUI: s.o.OUI, Methods: servedMethods}); err != nil {
		return nil, fmt.Errorf("serve pings: %w", err)
	}
	p := s.portServer(port.Attr())
	return func(ctx context.Context) error { return p.serve(ctx, r) }, nil
}

// portServer returns the server for a port.
func (s *Server) portServer(a umad.PortAttr) *portServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := ServedPort{a.Device, a.Number}
	i := slices.IndexFunc(s.ports, func(p *portServer) bool { return p.at == at })
	if i < 0 {
		i = len(s.ports)
		s.ports = append(s.ports, &portServer{server: s, at: at, sources: sources{bySource: map[Source]*source{}}})
	}
	return s.ports[i]
}

func (s *Server) clock() time.Duration { return s.now().Sub(s.start) }

// Counts returns the counts so far. It may be called while the server runs.
func (s *Server) Counts() ServeCounts {
	s.mu.Lock()
	ports := slices.Clone(s.ports)
	s.mu.Unlock()
	c := ServeCounts{Name: s.o.Name, Began: s.start, Duration: s.clock()}
	for _, p := range ports {
		c.Ports = append(c.Ports, p.at)
		p.addTo(&c)
	}
	slices.SortStableFunc(c.Sources, func(a, b SourceCount) int {
		return cmp.Or(cmp.Compare(b.Received, a.Received), a.First.Compare(b.First))
	})
	return c
}
