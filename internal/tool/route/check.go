package route

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Options are the [Scan] and [Check] options.
type Options struct {
	// Loaded, if not nil, is a routing from files, as package dump reads it. The source is
	// not opened.
	Loaded *Routing

	// Source is the fabric from which tables are read.
	Source fabric.Source

	// SMLID is the subnet administration LID; 0: the local port's subnet manager.
	SMLID ib.LID

	// SMKey is the SM_Key in the request for multicast group members; 0: as an
	// untrusted client, to which most managers do not return them.
	SMKey mad.Key

	// PathSLs reads all paths' service levels if there are credit loops without them.
	// Without it they are read if they are few, see maxAutoPaths.
	PathSLs bool

	// Select, if not nil, returns the tables to read, given the nodes and links; nil: all.
	// It is not called for files.
	Select func(*Routing) (ReadOptions, error)

	Analyze AnalyzeOptions
}

// A session is a routing with the client that read it.
type session struct {
	opts    Options
	client  *umad.Client // nil: the routing is from files
	local   umad.PortAttr
	fabric  *fabric.Fabric
	routing *Routing
	read    ReadOptions // with which the tables were read
}

// open reads the routing. close releases the local port.
func (o Options) open(ctx context.Context) (s *session, closePort func() error, err error) {
	began := time.Now()
	closePort = func() error { return nil }
	s = &session{opts: o}
	defer func() {
		if s != nil && s.routing != nil {
			s.routing.Began = began
		}
	}()
	if o.Loaded != nil {
		s.routing = o.Loaded
		return s, closePort, nil
	}
	source, err := o.Source.Open(ctx)
	if err != nil {
		return nil, closePort, err
	}
	s.client, s.local = source.Client, source.Local()
	f, err := source.Fabric(ctx, fabric.DiscoverOptions{})
	if err != nil {
		return nil, source.Close, err
	}
	s.fabric, s.routing = f, FromFabric(f)
	read := ReadOptions{Multicast: true}
	if o.Select != nil {
		if read, err = o.Select(s.routing); err != nil {
			return nil, source.Close, err
		}
	}
	if progress := o.Source.Progress; progress != nil {
		total := fabric.Progress{Nodes: len(f.Nodes)}
		for _, n := range f.Nodes {
			total.Ports += len(n.Ports)
		}
		read.Progress = func(done, waiting int) {
			total.Answered, total.Waiting = f.Stats.Sent+done, waiting
			progress(total)
		}
	}
	s.read = read
	return s, source.Close, s.readTables(ctx)
}

// readTables reads the tables, and with all LIDs the adaptive routing groups.
func (s *session) readTables(ctx context.Context) error {
	w, err := s.watchManager(ctx)
	if err != nil {
		return err
	}
	if err := Read(ctx, s.client, s.routing, s.read); err != nil {
		return err
	}
	if err := s.settle(ctx, w); err != nil || s.read.LIDs != nil {
		return err
	}
	return s.readAdaptive(ctx, s.routing.Switches())
}

// Scan reads a fabric's routing, or a routing from files.
func Scan(ctx context.Context, o Options) (*Routing, error) {
	s, closePort, err := o.open(ctx)
	if err != nil {
		return nil, errors.Join(err, closePort())
	}
	return s.routing, closePort()
}

// maxConfirms limits how many times switches with a finding are read again.
const maxConfirms = 3

// Check reads and analyses a fabric's routing, or a routing from files.
//
// A subnet manager may change the tables during the read, and a mixture of old and new
// tables has loops and dead ends that neither has. The tables are therefore read until two
// reads agree if the manager was active during the read. Before a finding is reported, the
// switches at which paths end, and the switches in loops and in defective multicast trees
// are read again, with defective trees also the members, and the analysis is repeated if
// these tables or the members changed.
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
	if s.client != nil {
		if _, err := s.readMembers(ctx); err != nil {
			return nil, err
		}
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
		joined := false
		if slices.ContainsFunc(a.Trees, func(t MulticastTree) bool { return !t.Sound() }) {
			if joined, err = s.readMembers(ctx); err != nil {
				return nil, err
			}
		}
		if len(changed) == 0 && !joined {
			break
		}
	}
	return s.refineLanes(ctx, a)
}

// suspects returns the switches at which paths end, the switches in loops, and the
// multicast tree switches at which packets end or circle.
func (a *Analysis) suspects() []*Node {
	var found nodeSet
	for _, f := range a.Faults {
		if f.Cause != Unseen {
			found.add(f.Switch)
		}
	}
	for _, l := range a.Loops {
		for _, p := range l.Ports {
			found.add(p.Node)
		}
	}
	for _, l := range a.CreditLoops {
		for _, h := range l.Hops {
			found.add(h.Port.Node)
		}
	}
	for i := range a.Trees {
		for _, p := range a.Trees[i].defects() {
			sw, _ := attachment(p)
			found.add(sw)
		}
	}
	return found.nodes
}

// readAgain reads switches' tables again and returns the switches with changed tables.
// Tables for all LIDs include the adaptive routing groups.
func (s *session) readAgain(ctx context.Context, nodes []*Node) (changed []*Node, err error) {
	before := make([]Tables, len(nodes))
	for i, n := range nodes {
		before[i] = *n.Tables
	}
	t := &tableReader{client: s.client, routing: s.routing, opts: s.read}
	failures := s.routing.Failures
	if _, err := t.readAll(ctx, nodes); err != nil {
		return nil, err
	}
	failed := map[*Node]bool{}
	for _, f := range s.routing.Failures[len(failures):] {
		failed[f.Node] = true // it responded before
	}
	s.routing.Failures = failures
	for i, n := range nodes {
		if failed[n] {
			*n.Tables = before[i]
		}
		if !slices.Equal(before[i].LFT, n.Tables.LFT) || !maps.Equal(before[i].MFT, n.Tables.MFT) {
			changed = append(changed, n)
		}
	}
	if len(changed) > 0 && s.read.LIDs == nil {
		err = s.readAdaptive(ctx, changed)
	}
	return changed, err
}

// maxAutoPaths limits how many paths' service levels are read without a request for it:
// each is a MAD to subnet administration.
const maxAutoPaths = 250_000

// refineLanes reads virtual lanes and service levels if loops on a single lane may not
// be loops on several lanes.
func (s *session) refineLanes(ctx context.Context, a *Analysis) (*Analysis, error) {
	if a.Lanes != LanesUnknown || a.Adaptive.hasGroups() || !s.opts.PathSLs && (a.Paths > maxAutoPaths || !a.severalLanes()) {
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

// severalLanes reports whether a loop port has several virtual lanes.
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
