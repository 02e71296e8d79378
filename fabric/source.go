package fabric

import (
	"context"
	"errors"

	"github.com/ibkit/ibkit/umad"
)

// A Source gives access to a fabric: through a local port, on a device or in a simulated
// fabric. A stored fabric or subnet administration records may replace its scan.
type Source struct {
	// OpenPort opens the local port: device.Opener returns such a function for a
	// device, sim.Fabric.Opener for a simulated fabric.
	OpenPort func(context.Context) (umad.Port, error)

	Client umad.ClientOptions

	// Stored, if not nil, replaces the scan.
	Stored *Fabric

	// Discover, if not nil, replaces [Discover], for example by [RecordOptions.Discover],
	// or by a function that reads further data during the scan.
	Discover Discoverer

	// NoExtendedPortInfo omits the vendor attribute that distinguishes FDR10
	// from QDR.
	NoExtendedPortInfo bool

	// Progress, if not nil, is called during the scan.
	Progress func(Progress)
}

// A Session is an open [Source]. It is not safe for concurrent use.
type Session struct {
	Port   umad.Port // the local port
	Client *umad.Client

	source Source
}

// Open opens the local port. The caller closes the session.
func (s Source) Open(ctx context.Context) (*Session, error) {
	if s.OpenPort == nil {
		return nil, errors.New("open fabric: the source has no OpenPort")
	}
	port, err := s.OpenPort(ctx)
	if err != nil {
		return nil, err
	}
	return &Session{Port: port, Client: umad.NewClient(port, s.Client), source: s}, nil
}

// Close closes the local port.
func (s *Session) Close() error { return s.Port.Close() }

// Local returns the local port's attributes.
func (s *Session) Local() umad.PortAttr { return s.Port.Attr() }

// Stats returns the client's counts.
func (s *Session) Stats() umad.Stats { return s.Client.Stats() }

// Fabric returns the stored fabric, or scans the fabric. If the scan ends early, it returns
// the partial fabric together with an error, as [Discover] does.
func (s *Session) Fabric(ctx context.Context, o DiscoverOptions) (*Fabric, error) {
	switch {
	case s.source.Stored != nil:
		return s.source.Stored, nil
	case s.source.Discover != nil:
		return s.source.Discover(ctx, s.Client, s.Options(o))
	}
	return Discover(ctx, s.Client, s.Options(o))
}

// Options completes a scan's options by the source's options.
func (s *Session) Options(o DiscoverOptions) DiscoverOptions {
	o.NoExtendedPortInfo = o.NoExtendedPortInfo || s.source.NoExtendedPortInfo
	if o.Progress == nil {
		o.Progress = s.source.Progress
	}
	return o
}
