// Package sweep keeps a fabric and its counters current over many sweeps. A [Sweeper] scans
// the fabric, checks its link states with few requests, and reads the counters on the ports
// that are up, with rates that continue over scans.
package sweep

import (
	"context"
	"errors"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options for a [Sweeper].
type Options struct {
	// NoExtendedPortInfo omits the vendor attribute that distinguishes FDR10
	// from QDR.
	NoExtendedPortInfo bool

	// Counters select the counters. Without a function Ports, ports with their link down
	// are omitted.
	Counters counters.CollectOptions

	// Progress, if not nil, is called during scans.
	Progress func(fabric.Progress)
}

// A Sweeper repeats fabric sweeps through a single client. It is not safe for concurrent
// use.
type Sweeper struct {
	client *umad.Client
	opts   Options

	fabric    *fabric.Fabric // from the last complete scan; nil before the first scan
	scanned   time.Time
	collector *counters.Collector // for fabric; nil: its counters were not read
	previous  *counters.Collector // for the fabric before, with the last samples

	silent map[ib.GUID]bool // switches without a response to the last check
}

// New returns a sweeper that sends its requests by a client.
func New(c *umad.Client, o Options) *Sweeper {
	if o.Counters.Ports == nil {
		o.Counters.Ports = IsUp
	}
	return &Sweeper{client: c, opts: o}
}

// IsUp reports whether a port responded and its link is up, or whether it is switch port 0.
func IsUp(p *fabric.Port) bool {
	return p.Info != nil && (p.Info.State != ib.PortDown || p.Number == 0)
}

// Fabric returns the last scan's fabric, nil before the first scan.
func (s *Sweeper) Fabric() *fabric.Fabric { return s.fabric }

// Scanned returns the time at which the last scan began.
func (s *Sweeper) Scanned() time.Time { return s.scanned }

// Nodes returns the nodes with the last pass's counters, in fabric order.
func (s *Sweeper) Nodes() []*counters.Node {
	if s.collector == nil {
		return nil
	}
	return s.collector.Nodes()
}

// Port returns a fabric port with the last pass's counters, nil if it was not read.
func (s *Sweeper) Port(p *fabric.Port) *counters.Port {
	if s.collector == nil {
		return nil
	}
	return s.collector.Port(p)
}

// Scan discovers the fabric and returns the fabric before, nil for the first scan. If the
// scan ends early, the fabric before stays current.
func (s *Sweeper) Scan(ctx context.Context) (before *fabric.Fabric, err error) {
	began := time.Now()
	f, err := fabric.Discover(ctx, s.client, fabric.DiscoverOptions{
		NoExtendedPortInfo: s.opts.NoExtendedPortInfo, OmitDownPorts: true, Progress: s.opts.Progress,
	})
	if err != nil {
		return s.fabric, err
	}
	before, s.fabric, s.scanned = s.fabric, f, began
	if s.collector != nil {
		s.previous, s.collector = s.collector, nil
	}
	s.silent = nil
	return before, nil
}

// Read reads the fabric's counters once. The previous pass's samples become
// [counters.Port.Before], also if a scan took place in between.
func (s *Sweeper) Read(ctx context.Context) error {
	if s.fabric == nil {
		return errors.New("read counters: the fabric has not been scanned")
	}
	first := s.collector == nil
	if first {
		s.collector = counters.NewCollector(s.client, s.opts.Counters)
		if s.previous != nil {
			s.collector.Continue(s.previous)
		}
	}
	if err := s.collector.Read(ctx, s.fabric); err != nil {
		if first {
			s.collector = nil // the next pass continues the pass over the fabric before
		}
		return err
	}
	s.previous = nil
	return nil
}
