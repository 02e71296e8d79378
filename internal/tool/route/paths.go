package route

import (
	"context"
	"errors"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
)

// PathsOptions are the [Paths] options.
type PathsOptions struct {
	Options // Select is not used

	// Find returns the port pairs, given the nodes and links.
	Find func(*Routing) ([]Pair, error)

	// Group is a multicast group's LID; 0: unicast.
	Group ib.LID

	// AllLIDs reads the whole tables, which is faster for the paths to all ports.
	AllLIDs bool

	// Inspect, if not nil, is called while the port is open, but not with Load.
	Inspect func(context.Context, *umad.Client, *PathsResult) error
}

// A Pair is the ends of paths.
type Pair struct {
	From *Port
	To   *Port // nil: no port has ToLID

	// The ends' LIDs. A port can have several LIDs.
	FromLID, ToLID ib.LID
}

// A PathsResult is a [Paths] result.
type PathsResult struct {
	Routing *Routing
	Fabric  *fabric.Fabric // nil: the routing is from files
	Pairs   []PairPaths

	// NoRecords is the reason why subnet administration has no records; nil: it
	// responded, or the routing is from files.
	NoRecords error
}

// PairPaths are the paths between two ports.
type PairPaths struct {
	Forward Path
	Reverse *Path // nil: no port has the destination's LID
}

// Port returns the scan's port from which a port was copied. The routing must not be from
// files.
func (r *PathsResult) Port(p *Port) *fabric.Port {
	return r.Fabric.Nodes[p.Node.index].Ports[p.Number]
}

// paths returns all paths.
func (r *PathsResult) paths() []*Path {
	var all []*Path
	for i := range r.Pairs {
		p := &r.Pairs[i]
		all = append(all, &p.Forward)
		if p.Reverse != nil {
			all = append(all, p.Reverse)
		}
	}
	return all
}

// Paths follows the tables between port pairs, in both directions, and reads the subnet
// administration records and the paths' virtual lanes. Switches at which a path ends or
// circles are read a second time, because the tables may have changed during the read.
func Paths(ctx context.Context, o PathsOptions) (result *PathsResult, err error) {
	var pairs []Pair
	o.Select = func(r *Routing) (read ReadOptions, err error) {
		if pairs, err = o.Find(r); err == nil {
			read.LIDs = o.lids(pairs)
		}
		return read, err
	}
	s, closePort, err := o.open(ctx)
	defer func() {
		if closeErr := closePort(); err == nil {
			err = closeErr
		}
	}()
	if err != nil {
		return nil, err
	}
	if s.client == nil {
		if pairs, err = o.Find(s.routing); err != nil {
			return nil, err
		}
	}
	r := &PathsResult{Routing: s.routing, Fabric: s.fabric}
	r.trace(pairs, o.Group)
	if s.client == nil {
		r.addStored()
		return r, nil
	}
	changed, err := s.readAgain(ctx, r.suspects())
	if err != nil {
		return nil, err
	}
	if len(changed) > 0 {
		r.trace(pairs, o.Group)
	}
	if s.read.LIDs != nil && o.Group == 0 {
		if err := s.readAdaptive(ctx, r.switches()); err != nil {
			return nil, err
		}
	}
	if err := s.annotate(ctx, r); err != nil {
		return nil, err
	}
	if o.Inspect != nil {
		err = o.Inspect(ctx, s.client, r)
	}
	return r, err
}

// lids returns the LIDs with entries that the paths between pairs use; nil: all.
func (o *PathsOptions) lids(pairs []Pair) []ib.LID {
	switch {
	case o.Group != 0:
		return []ib.LID{o.Group}
	case o.AllLIDs:
		return nil
	}
	lids := make([]ib.LID, 0, 2*len(pairs))
	for _, p := range pairs {
		lids = append(lids, p.ToLID)
		if p.To != nil {
			lids = append(lids, p.FromLID)
		}
	}
	return lids
}

// trace follows the paths between pairs.
func (r *PathsResult) trace(pairs []Pair, group ib.LID) {
	t := NewTracer(r.Routing)
	r.Pairs = make([]PairPaths, len(pairs))
	for i, p := range pairs {
		to := &r.Pairs[i]
		if group != 0 {
			to.Forward, to.Reverse = t.Multicast(p.From, p.To, group), new(t.Multicast(p.To, p.From, group))
			continue
		}
		to.Forward = t.between(p.From, p.To, p.ToLID)
		to.Forward.FromLID = p.FromLID
		if p.To != nil {
			to.Reverse = new(t.between(p.To, p.From, p.FromLID))
			to.Reverse.FromLID = p.ToLID
		}
	}
}

// addStored adds the service levels and lanes that files have.
func (r *PathsResult) addStored() {
	for _, p := range r.paths() {
		if r.Routing.PathSLs == nil || p.Group != 0 {
			continue
		}
		sl, _ := r.Routing.PathSLs.Of(p.From, p.LID)
		p.SL = &sl
		entry := uint8(0)
		for i := range p.Hops {
			h := &p.Hops[i]
			if n := h.Output.Node; n.Tables != nil && n.Tables.SLtoVL != nil {
				h.VL = new(n.Lane(entry, h.Output.Number, sl))
			}
			entry = h.Output.Peer.Number
		}
	}
}

// A nodeSet is switches with tables, each once.
type nodeSet struct {
	seen  map[*Node]bool
	nodes []*Node
}

// add adds a node if it has tables. It may be nil.
func (s *nodeSet) add(n *Node) {
	if n == nil || n.Tables == nil || s.seen[n] {
		return
	}
	if s.seen == nil {
		s.seen = map[*Node]bool{}
	}
	s.seen[n] = true
	s.nodes = append(s.nodes, n)
}

// switches returns all paths' switches.
func (r *PathsResult) switches() []*Node {
	var found nodeSet
	for _, p := range r.paths() {
		for _, h := range p.Hops {
			found.add(h.Output.Node)
		}
	}
	return found.nodes
}

// suspects returns the switches at which paths end, and the switches in loops.
func (r *PathsResult) suspects() []*Node {
	var found nodeSet
	for _, p := range r.paths() {
		switch p.Cause {
		case 0, Unseen, Silent, Unattached:
			continue
		case InLoop, NotMember:
			for _, h := range p.Hops {
				found.add(h.Output.Node)
			}
		}
		found.add(p.End)
	}
	return found.nodes
}

// annotate adds data that the tables do not have: service levels and virtual lanes.
func (s *session) annotate(ctx context.Context, r *PathsResult) error {
	r.NoRecords = s.readRecords(ctx, r.paths())
	if err := ctx.Err(); err != nil || errors.Is(r.NoRecords, umad.ErrDeviceRemoved) {
		return r.NoRecords
	}
	return s.readHopLanes(ctx, r.paths(), func(f Failure) { r.Routing.Failures = append(r.Routing.Failures, f) })
}
