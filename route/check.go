package route

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options of [Scan] and [Check].
type Options struct {
	// Open opens the port from which to scan. It is not called with Load.
	Open func(context.Context) (umad.Port, error)

	Client umad.ClientOptions

	// Load has the paths of files to read instead of scanning.
	Load []string
	LMC  uint8 // see [LoadOptions]

	// SMLID is the LID of subnet administration; 0: that of the local port's subnet
	// manager.
	SMLID ib.LID

	// PathSLs reads the service levels of all paths if there are credit loops without
	// them. Without it they are read if they are few, see maxAutoPaths.
	PathSLs bool

	// LIDs, if not nil, returns the LIDs whose entries are read, given the nodes and
	// links. The routing is then complete for these LIDs only.
	LIDs func(*Routing) ([]ib.LID, error)

	// Progress, if not nil, is called during the scan.
	Progress func(fabric.Progress)

	Analyze AnalyzeOptions
}

// A session is a routing with the client that read it.
type session struct {
	opts    Options
	client  *umad.Client // nil: the routing is of files
	local   umad.PortAttr
	routing *Routing
}

// open reads the routing. close releases the local port.
func (o Options) open(ctx context.Context) (s *session, closePort func() error, err error) {
	closePort = func() error { return nil }
	s = &session{opts: o}
	if len(o.Load) > 0 {
		s.routing, err = Load(o.Load, LoadOptions{LMC: o.LMC})
		return s, closePort, err
	}
	port, err := o.Open(ctx)
	if err != nil {
		return nil, closePort, err
	}
	s.client, s.local = umad.NewClient(port, o.Client), port.Attr()
	f, err := fabric.Discover(ctx, s.client, fabric.DiscoverOptions{NoExtendedPortInfo: true, Progress: o.Progress})
	if err != nil {
		return nil, port.Close, err
	}
	s.routing = FromFabric(f)
	read := ReadOptions{Multicast: o.LIDs == nil}
	if o.LIDs != nil {
		if read.LIDs, err = o.LIDs(s.routing); err != nil {
			return nil, port.Close, err
		}
	}
	if o.Progress != nil {
		total := fabric.Progress{Nodes: len(f.Nodes)}
		for _, n := range f.Nodes {
			total.Ports += len(n.Ports)
		}
		read.Progress = func(done, waiting int) {
			total.Answered, total.Waiting = f.Stats.Sent+done, waiting
			o.Progress(total)
		}
	}
	return s, port.Close, Read(ctx, s.client, s.routing, read)
}

// Scan reads the routing of a fabric, or of files.
func Scan(ctx context.Context, o Options) (*Routing, error) {
	s, closePort, err := o.open(ctx)
	if err != nil {
		return nil, errors.Join(err, closePort())
	}
	return s.routing, closePort()
}

// maxConfirms limits the number of times that switches with a finding are read again.
const maxConfirms = 3

// Check reads and analyses the routing of a fabric, or of files.
//
// A subnet manager may change the tables during the read, and a mixture of old and new
// tables has loops and dead ends that neither has. Check therefore reads the switches
// at which paths end, and those of loops, a second time, and repeats the analysis if
// their tables changed.
func Check(ctx context.Context, o Options) (a *Analysis, err error) {
	s, closePort, err := o.open(ctx)
	defer func() {
		if closeErr := closePort(); err == nil {
			err = closeErr
		}
	}()
	if err != nil {
		return nil, err
	}
	for round := range maxConfirms {
		if a, err = Analyze(ctx, s.routing, o.Analyze); err != nil || s.client == nil {
			return a, err
		}
		suspects := a.suspects()
		if len(suspects) == 0 || round == maxConfirms-1 {
			break
		}
		changed, err := s.readAgain(ctx, suspects)
		if err != nil {
			return nil, err
		}
		if !changed {
			break
		}
	}
	return s.refineLanes(ctx, a)
}

// suspects returns the switches at which paths end and those of loops.
func (a *Analysis) suspects() []*Node {
	var found []*Node
	add := func(n *Node) {
		if n != nil && n.Tables != nil && !slices.Contains(found, n) {
			found = append(found, n)
		}
	}
	for _, f := range a.Faults {
		if f.Cause != Unseen {
			add(f.Switch)
		}
	}
	for _, l := range a.Loops {
		for _, p := range l.Ports {
			add(p.Node)
		}
	}
	for _, l := range a.CreditLoops {
		for _, h := range l.Hops {
			add(h.Port.Node)
		}
	}
	return found
}

// readAgain reads the tables of switches again and reports whether they changed.
func (s *session) readAgain(ctx context.Context, nodes []*Node) (changed bool, err error) {
	before := make([]Tables, len(nodes))
	for i, n := range nodes {
		before[i] = *n.Tables
	}
	t := &tableReader{client: s.client, routing: s.routing, opts: ReadOptions{Multicast: true}}
	failures := s.routing.Failures
	if err := t.read(ctx, nodes); err != nil {
		return false, err
	}
	for i, n := range nodes {
		if len(n.Tables.Missing) > 0 { // it responded before
			*n.Tables = before[i]
			s.routing.Failures = failures
		}
		changed = changed || !slices.Equal(before[i].LFT, n.Tables.LFT)
	}
	return changed, nil
}

// maxAutoPaths limits the number of paths whose service levels are read without a
// request for it: each is one MAD to subnet administration.
const maxAutoPaths = 250_000

// refineLanes reads virtual lanes and service levels if loops on one lane may not be
// loops on several ones.
func (s *session) refineLanes(ctx context.Context, a *Analysis) (*Analysis, error) {
	if a.Lanes != LanesUnknown || !s.opts.PathSLs && (a.Paths > maxAutoPaths || !a.severalLanes()) {
		return a, nil
	}
	if err := s.readLanes(ctx); err != nil {
		if s.opts.PathSLs {
			return nil, fmt.Errorf("read service levels of paths: %w", err)
		}
		return a, ctx.Err()
	}
	return Analyze(ctx, s.routing, s.opts.Analyze)
}

// severalLanes reports whether a port of a loop has more than one virtual lane.
func (a *Analysis) severalLanes() bool {
	for _, l := range a.CreditLoops {
		for _, h := range l.Hops {
			if h.Port.VLs > ib.VLs1 {
				return true
			}
		}
	}
	return false
}
