// Package top samples a fabric's counters, and prepares a monitor's screens: links by error
// rate, utilization and waiting, nodes, ports and paths, now and in recent samples. It does
// not draw.
package top

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/internal/tool/sweep"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options for [Run].
type Options struct {
	Source fabric.Source
	Names  *fabric.NameMap
	Limits counters.Limits

	Interval time.Duration // between counter passes; 0: by their cost, from MinInterval
	Rescan   time.Duration // between scans, if no link state changes

	Samples int // after which Run ends; 0: unlimited

	// Paths are requests for the paths between two ports, which are followed between
	// passes.
	Paths <-chan PathRequest

	// Registers are requests for the registers at a link's ends, read between passes.
	Registers <-chan RegisterRequest
	VendorKey mad.Key // for registers
}

// MinInterval is the shortest interval that [Run] selects, and share the part of a core that
// checks and passes then use at most.
const (
	MinInterval = 5 * time.Second
	share       = 0.04
)

// intervalFor returns the interval at which a pass and the check before it, which took some
// core time, use at most share of a core, in whole seconds.
func intervalFor(took time.Duration) time.Duration {
	d := time.Duration(float64(took) / share)
	return max(MinInterval, (d + time.Second - 1).Truncate(time.Second))
}

// A PathRequest requests the paths between two ports in both directions.
type PathRequest struct {
	// Find returns the port pair.
	Find func(*route.Routing) (route.Pair, error)

	// Done is called by Run's goroutine.
	Done func(*Paths, error)
}

// A RegisterRequest requests the registers at both ends of a port's link.
type RegisterRequest struct {
	GUID ib.GUID // of the node
	Port uint8

	// Done is called by Run's goroutine.
	Done func(*phy.Result, error)
}

// Paths are the paths between two ports.
type Paths struct {
	Forward route.Path
	Reverse *route.Path // nil: no port has the destination's LID
	Read    time.Time   // from the forwarding tables
}

// Run samples a fabric until ctx ends, and passes each sample on. The first sample has no
// window. A scan that fails after the first scan is repeated: problem is called with its
// error, and with nil when it works again.
func Run(ctx context.Context, o Options, each func(*Sample), problem func(error)) (err error) {
	session, err := o.Source.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	s := &sampler{Options: o, client: session.Client, each: each, problem: problem}
	s.sweeper = sweep.New(session.Client, sweep.Options{
		NoExtendedPortInfo: o.Source.NoExtendedPortInfo, Counters: o.Limits.WindowOptions(), Progress: o.Source.Progress,
	})
	if err := s.scan(ctx); err != nil {
		return err
	}
	began := processorTime()
	if err := s.pass(ctx, began); err != nil {
		return err
	}
	return s.loop(ctx)
}

// A sampler is a call to Run.
type sampler struct {
	Options
	client  *umad.Client
	sweeper *sweep.Sweeper
	layout  *Layout
	each    func(*Sample)
	problem func(error)
	failing bool
	blind   bool // the last scan found no other node
	count   int
	every   time.Duration // time between passes
}

// loop repeats passes until ctx ends.
func (s *sampler) loop(ctx context.Context) error {
	next := time.Now()
	for s.Samples == 0 || s.count < s.Samples {
		if next = next.Add(s.every); next.Before(time.Now()) {
			next = time.Now() // the pass took longer than the interval
		}
		if err := s.wait(ctx, next); err != nil {
			return err
		}
		began := processorTime()
		scanned, err := s.update(ctx)
		if scanned {
			began = processorTime() // scans are rare
		}
		if err == nil {
			err = s.pass(ctx, began)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, umad.ErrDeviceRemoved):
			return err
		case err != nil || s.failing:
			s.failing = err != nil
			s.problem(err)
		}
	}
	return nil
}

// wait follows paths and reads registers until a time.
func (s *sampler) wait(ctx context.Context, until time.Time) error {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case r := <-s.Paths:
			r.Done(s.follow(ctx, r))
		case r := <-s.Registers:
			r.Done(s.readRegisters(ctx, r))
		case <-t.C:
			return nil
		}
	}
}

// update scans the fabric again if a link has changed, or if it is time.
func (s *sampler) update(ctx context.Context) (scanned bool, err error) {
	_, changed, err := s.sweeper.Changed(ctx)
	if err != nil {
		return false, err
	}
	if changed || s.blind || time.Since(s.sweeper.Scanned()) >= s.Rescan {
		return true, s.scan(ctx)
	}
	return false, nil
}

// scan scans the fabric. A blind scan is an error if an earlier scan was not blind.
func (s *sampler) scan(ctx context.Context) error {
	if _, err := s.sweeper.Scan(ctx); err != nil {
		return err
	}
	f := s.sweeper.Fabric()
	blind := f.Blind()
	s.blind = blind != nil
	if s.blind && s.layout != nil && s.layout.Fabric.Blind() == nil {
		return blind
	}
	l := newLayout(f, s.Names)
	if s.layout != nil {
		l.compare(s.layout, s.Names)
	}
	s.layout = l
	return nil
}

// pass reads the counters and passes the sample on. cpu is the process's processor time
// before it and before the link check.
func (s *sampler) pass(ctx context.Context, cpu time.Duration) error {
	began := time.Now()
	if err := s.sweeper.Read(ctx); err != nil {
		return err
	}
	l := s.layout
	sample := l.newSample(func(i int32) *counters.Port { return s.sweeper.Port(l.Ports[i].Port) }, &s.Limits)
	sample.Time, sample.Took, sample.Stats = time.Now(), time.Since(began), s.client.Stats()
	sample.addFailures(s.sweeper.Nodes())
	switch s.every = s.Interval; {
	case s.every > 0:
	case s.count == 0: // the first pass costs more, and its sample has no rates
		s.every = MinInterval
	default:
		s.every = intervalFor(processorTime() - cpu)
	}
	s.count++
	if s.count != s.Samples {
		sample.Interval = s.every
	}
	s.each(sample)
	return nil
}

// follow reads the entries for two LIDs in the forwarding tables and follows them.
func (s *sampler) follow(ctx context.Context, r PathRequest) (*Paths, error) {
	return Follow(ctx, s.client, s.sweeper.Fabric(), r.Find)
}

// Follow reads a fabric's forwarding table entries for the LIDs of a port pair, and follows
// them in both directions.
func Follow(ctx context.Context, c *umad.Client, f *fabric.Fabric, find func(*route.Routing) (route.Pair, error)) (*Paths, error) {
	routing := route.FromFabric(f)
	pair, err := find(routing)
	if err != nil {
		return nil, err
	}
	if err := route.Read(ctx, c, routing, route.ReadOptions{LIDs: lids(pair)}); err != nil {
		return nil, err
	}
	tracer := route.NewTracer(routing)
	p := &Paths{Forward: tracer.Unicast(pair.From, pair.ToLID), Read: time.Now()}
	if pair.To != nil {
		back := tracer.Unicast(pair.To, pair.FromLID)
		p.Reverse = &back
	}
	return p, nil
}

// readRegisters reads the registers at both ends of a link.
func (s *sampler) readRegisters(ctx context.Context, r RegisterRequest) (*phy.Result, error) {
	isEnd := func(p *fabric.Port) bool { return p != nil && p.Node.GUID == r.GUID && p.Number == r.Port }
	wanted := func(p *fabric.Port) bool { return isEnd(p) || isEnd(p.Peer) }
	return phy.Read(ctx, s.client, s.sweeper.Fabric(), phy.Options{Key: s.VendorKey, Names: s.Names, Port: wanted, Selected: func(n *fabric.Node) bool {
		return slices.ContainsFunc(n.Ports, func(p *fabric.Port) bool { return p != nil && wanted(p) })
	}})
}

// lids returns the LIDs with entries that a pair's paths need.
func lids(p route.Pair) []ib.LID { return []ib.LID{p.FromLID, p.ToLID} }
