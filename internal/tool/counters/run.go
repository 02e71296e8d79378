package counters

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/umad"

	"github.com/ibkit/ibkit/internal/interrupt"
)

// Options are the options for [Run]. With a source alone, Run reads all ports' error
// counters, and on switches without errors only the sums.
type Options struct {
	Source fabric.Source

	// Database, if not nil, has the fabric and the counters, and no request is sent. The
	// options for a window, details and targets do not apply.
	Database *ibdiagnet.Database

	// Targets select ports by address: all ports on a switch, a single port on an adapter.
	// Without targets all ports are read. Resolve has the options to find them.
	Targets []lookup.Address
	Resolve lookup.Options

	// Want selects nodes; nil: all. With AfterScan it is called after the scan, when all
	// node descriptions are known.
	Want      func(*fabric.Node) bool
	AfterScan bool

	Ports func(*fabric.Port) bool // selects ports; nil: all

	// Data reads the traffic counters, too, and every port.
	Data bool

	// Lanes reads the counters by virtual lane and service level.
	Lanes bool

	// Details reads the attributes that explain errors on every port, not only on ports
	// with findings.
	Details bool

	// DetailsOf selects attributes that are read on every port besides the attributes that
	// explain findings.
	DetailsOf DetailSet

	// Window is the time between two passes; 0: a single pass.
	Window time.Duration

	// Windows is the window count (default 1); negative: until the context ends.
	Windows int

	// Since, if not nil, is the first pass.
	Since *Baseline

	// Before, if not nil, is an earlier run's result. Its last samples precede the first
	// pass. Ports that it does not have are not compared.
	Before *Result

	Limits Limits

	// Each, if not nil, is called after each window, and after a single pass.
	Each func(*Result) error
}

// Result is the result from [Run].
type Result struct {
	Fabric *fabric.Fabric
	Nodes  []*Node // the selected nodes, in fabric order

	Limits Limits

	Began   time.Time // of the last pass
	Passes  int
	Missing []Missing // baseline ports with a node that is not in the fabric

	// Since is the baseline that the samples are compared with, or nil.
	Since *Baseline

	Stats umad.Stats

	collector *Collector
}

// Partial reports whether data is missing, from the fabric or from the baseline.
func (r *Result) Partial() bool { return !r.Complete() || r.Since != nil && r.Since.Partial }

// Complete reports whether the counters on all selected ports in the fabric were read.
func (r *Result) Complete() bool {
	return !r.Fabric.Partial() && !slices.ContainsFunc(r.Nodes, func(n *Node) bool { return len(n.Failures) > 0 })
}

// Port returns a fabric port with its counters, nil if it was not read.
func (r *Result) Port(p *fabric.Port) *Port { return r.collector.Port(p) }

// Findings returns a port's findings, the worst first.
func (r *Result) Findings(p *Port) []Finding { return r.Limits.Findings(p) }

// Run reads a fabric's counters. If the scan or a pass ends early, it returns the partial
// result together with an error.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Database != nil {
		return o.fromDatabase()
	}
	source, err := o.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	s := &session{
		Options: o,
		source:  source,
		client:  source.Client,
		local:   source.Local(),
		result:  &Result{Limits: o.Limits, Since: o.Since},
		changes: o.Window > 0 || o.Since != nil || o.Before != nil,
	}
	// The result refers to the session. It must not hold the result before, and through it
	// all earlier runs' results.
	s.Before = nil
	return s.run(ctx, o.Before)
}

// A session is a call to Run.
type session struct {
	Options
	source   *fabric.Session
	client   *umad.Client
	local    umad.PortAttr
	selected selection
	result   *Result
	changes  bool // the result has counter changes
}

func (s *session) run(ctx context.Context, before *Result) (*Result, error) {
	c := NewCollector(s.client, s.collectOptions())
	r := s.result
	r.collector = c
	r.Began = time.Now()
	switch {
	case s.Since != nil:
		c.earlier = s.Since.sample
	case before != nil:
		c.Continue(before.collector)
	}
	if err := s.firstPass(ctx, c); err != nil {
		if r.Fabric == nil {
			return nil, err
		}
		s.update()
		return r, err
	}
	if s.Since != nil {
		if err := s.Since.check(c.Nodes()); err != nil {
			return nil, err
		}
		r.Missing = s.Since.missing(r.Fabric)
	}
	s.update()
	if s.Window <= 0 {
		return r, s.each()
	}
	next := time.Now() // the first pass may take much longer than the next passes
	for i := 0; s.Windows < 0 || i < max(s.Windows, 1); i++ {
		next = next.Add(s.Window)
		if err := interrupt.Sleep(ctx, time.Until(next)); err != nil {
			return r, err
		}
		r.Began = time.Now()
		err := c.Read(ctx, r.Fabric)
		s.update()
		if err != nil {
			return r, err
		}
		if err := s.each(); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (s *session) update() {
	s.result.Nodes, s.result.Stats = s.result.collector.Nodes(), s.client.Stats()
	s.result.Passes++
}

func (s *session) each() error {
	if s.Each == nil {
		return nil
	}
	return s.Each(s.result)
}

// firstPass discovers the fabric and reads the counters once.
func (s *session) firstPass(ctx context.Context, c *Collector) (err error) {
	r := s.result
	scan := fabric.DiscoverOptions{OmitDownPorts: true}
	if s.Source.Stored == nil && s.Source.Discover == nil && len(s.Targets) == 0 && !s.AfterScan {
		scan.Lean = c.opts.Suspicious != nil
		if r.Fabric, err = c.Scan(ctx, s.source.Options(scan)); err != nil {
			return err
		}
		return s.describe(ctx, c)
	}
	if r.Fabric, err = s.source.Fabric(ctx, scan); err != nil {
		return err
	}
	if len(s.Targets) > 0 {
		if s.selected, err = s.find(ctx, r.Fabric); err != nil {
			return err
		}
	}
	return c.Read(ctx, r.Fabric)
}

// describe reads the descriptions for nodes with findings or failures, and for their ports'
// peers, which a lean scan omits.
func (s *session) describe(ctx context.Context, c *Collector) error {
	var nodes []*fabric.Node
	for _, n := range c.Nodes() {
		if len(n.Failures) > 0 {
			nodes = append(nodes, n.Node)
		}
		for _, p := range n.Ports {
			if len(s.Limits.Findings(p)) == 0 {
				continue
			}
			nodes = append(nodes, n.Node)
			if p.Peer != nil {
				nodes = append(nodes, p.Peer.Node)
			}
		}
	}
	return s.result.Fabric.ReadDescriptions(ctx, s.client, nodes)
}

// collectOptions returns the options for the collector.
func (s *session) collectOptions() CollectOptions {
	all := s.Data || s.Lanes || s.Details || s.DetailsOf != 0 || s.Window > 0 || s.Since != nil
	o := CollectOptions{Want: s.wantsNode, Ports: s.wantsPort, Attributes: ErrorAttributes, Details: s.details}
	if all {
		o.Attributes = AllAttributes
	}
	if !all && len(s.Targets) == 0 && s.Ports == nil {
		o.Suspicious = s.Limits.suspicious
	}
	return o
}

func (s *session) wantsNode(n *fabric.Node) bool {
	return (s.Want == nil || s.Want(n)) && (s.selected == nil || s.selected.hasNode(n))
}

func (s *session) wantsPort(p *fabric.Port) bool {
	return (s.Ports == nil || s.Ports(p)) && (s.selected == nil || s.selected.hasPort(p))
}

// details selects the attributes that explain a port's counters.
func (s *session) details(p *Port) DetailSet {
	set := s.DetailsOf
	if s.Lanes {
		set |= LaneDetails
	}
	if s.Details {
		set |= RcvErrorDetails | XmitDiscardDetails | FECDetails
	}
	return set | s.Limits.details(p, s.changes)
}

// Clear sets port counters to 0 and updates the nodes' failures. It opens its own port with
// the run's options.
func (r *Result) Clear(ctx context.Context, o Options, ports []*Port, parts Part) error {
	s, err := o.Source.Open(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	r.collector.client = s.Client
	return r.collector.Clear(ctx, ports, parts)
}

// Node returns a port's node.
func (r *Result) Node(p *Port) *Node { return p.node }

// NumRead returns how many ports had their counters read, on their own or within the sums.
func (n *Node) NumRead() int {
	if n.Total != nil && len(n.Ports) == 0 {
		return int(n.Info.NumPorts)
	}
	read := 0
	for _, p := range n.Ports {
		if p.Now != nil {
			read++
		}
	}
	return read
}

// AllPorts yields the ports on all nodes that were read or did not respond.
func (r *Result) AllPorts() iter.Seq[*Port] {
	return func(yield func(*Port) bool) {
		for _, n := range r.Nodes {
			for _, p := range n.Ports {
				if !yield(p) {
					return
				}
			}
		}
	}
}
