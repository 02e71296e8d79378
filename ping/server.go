package ping

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ibkit/ibkit/umad"
)

// ServeOptions say how to answer pings.
type ServeOptions struct {
	OUI  uint32  // of the pings that are answered
	Name string  // what the server calls itself, at most 215 bytes; "": HostName()
	Rate float64 // answers that a source gets per second; 0: as many as it wants

	// Log, where set, is told of each ping at level debug.
	Log *slog.Logger
}

// A Server answers pings at any number of ports. It keeps account of where they
// come from, in memory that does not grow with what comes in.
type Server struct {
	o     ServeOptions
	now   func() time.Time
	start time.Time

	mu    sync.Mutex
	ports []*servedPort
}

// NewServer returns a server without a port.
func NewServer(o ServeOptions) *Server {
	if o.Name == "" {
		o.Name = HostName()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Server{o: o, now: time.Now, start: time.Now()}
}

// Serve answers pings at a port until ctx ends, which is no error, or the port
// breaks. It may be called for several ports at a time. What was counted at a
// port of the same name before is counted on.
func (s *Server) Serve(ctx context.Context, port umad.Port) error {
	serve, err := s.listen(port)
	if err != nil {
		return err
	}
	return serve(ctx)
}

// listen has pings come in at a port, and returns what answers them.
func (s *Server) listen(port umad.Port) (func(context.Context) error, error) {
	r, ok := port.(umad.Responder)
	if !ok {
		return nil, errors.New("serve pings: nobody but this process can send to the port")
	}
	if err := r.Listen(umad.Service{Class: Class, ClassVersion: classVersion, OUI: s.o.OUI, Methods: served}); err != nil {
		return nil, fmt.Errorf("serve pings: %w", err)
	}
	at := s.at(port.Attr())
	return func(ctx context.Context) error { return at.serve(ctx, r) }, nil
}

// at returns what is kept of a port.
func (s *Server) at(a umad.PortAttr) *servedPort {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.ports, func(p *servedPort) bool { return p.device == a.Device && p.number == a.Number })
	if i < 0 {
		i = len(s.ports)
		s.ports = append(s.ports, &servedPort{server: s, device: a.Device, number: a.Number, sources: sources{bySource: map[Source]*source{}}})
	}
	return s.ports[i]
}

func (s *Server) clock() time.Duration { return s.now().Sub(s.start) }

// Counts returns what the server did so far. It may be called meanwhile.
func (s *Server) Counts() ServeCounts {
	s.mu.Lock()
	ports := slices.Clone(s.ports)
	s.mu.Unlock()
	c := ServeCounts{Name: s.o.Name, Took: s.clock()}
	for _, p := range ports {
		c.Ports = append(c.Ports, ServedPort{p.device, p.number})
		p.addTo(&c)
	}
	slices.SortStableFunc(c.Sources, func(a, b SourceCount) int {
		switch {
		case a.Received > b.Received:
			return -1
		case a.Received < b.Received:
			return 1
		}
		return a.First.Compare(b.First)
	})
	return c
}
