package counters

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// CollectOptions configure a [Collector]. With the zero value it reads every port's error
// counters.
type CollectOptions struct {
	// Want selects the nodes; nil: all.
	Want func(*fabric.Node) bool

	// Ports selects ports on these nodes; nil: all, including ports that are down. A
	// switch's port 0 is read if it is an enhanced port 0.
	Ports func(*fabric.Port) bool

	// Attributes selects the attributes to read from an agent with some
	// capabilities; nil: [ErrorAttributes].
	Attributes func(mad.PerfCapMask, mad.PerfCapMask2) (basic, extended bool)

	// Suspicious, if not nil, is called with the sums over all ports on switches with
	// AllPortSelect, and with adapter ports' PortCounters, which every agent has. The ports
	// on such a switch, the other attributes of such a port, and its agent's capabilities
	// are read only if Suspicious returns true. A sample without capabilities has the value
	// 0 for counters that the agent lacks.
	Suspicious func(*Sample) bool

	// Details selects a port's attributes with details by its sample; nil: none.
	Details func(*Port) DetailSet

	// SL returns the service level for requests to a LID; nil: 0.
	SL func(ib.LID) uint8
}

// ErrorAttributes selects the attribute with the widest error counters:
// PortCountersExtended if it has error counters, else PortCounters.
func ErrorAttributes(caps mad.PerfCapMask, caps2 mad.PerfCapMask2) (basic, extended bool) {
	extended = caps.HasExtended() && caps2.Has(mad.PerfAdditionalExtended)
	return !extended, extended
}

// AllAttributes selects the attributes with the widest error and traffic counters.
func AllAttributes(caps mad.PerfCapMask, caps2 mad.PerfCapMask2) (basic, extended bool) {
	basic, _ = ErrorAttributes(caps, caps2)
	return basic, caps.HasExtended()
}

// ClassicAttributes selects the attributes that ibqueryerrors reads: PortCounters, and
// PortCountersExtended on agents that have it.
func ClassicAttributes(caps mad.PerfCapMask, _ mad.PerfCapMask2) (basic, extended bool) {
	return true, caps.HasExtended()
}

// A Collector reads counters through one client. It is not safe for concurrent use.
type Collector struct {
	client *umad.Client
	opts   CollectOptions
	pass   int32
	// scanned is set when all ports in the fabric are known.
	scanned bool

	// earlier returns a port's sample before the first pass, or nil.
	earlier func(node ib.GUID, port uint8) *Sample

	nodes map[*fabric.Node]*Node
	order []*Node

	queue   queue // ports to be requested
	waiting int   // requests

	extended mad.PortCountersExtended // of the last reply

	free  []*query
	slabs slabs

	redirected []redirected
	wanted     []*fabric.Node // with ports that a lean scan may have omitted

	discarded   []discarded
	implemented map[optionalAttr]bool
}

// NewCollector returns a collector that sends its requests by a client.
func NewCollector(c *umad.Client, o CollectOptions) *Collector {
	if o.Attributes == nil {
		o.Attributes = ErrorAttributes
	}
	return &Collector{client: c, opts: o, nodes: map[*fabric.Node]*Node{}}
}

// Scan discovers a fabric and reads counters in the same client run: a node's counters are
// requested as soon as the scan has found its LID. It returns the discovery's error; failed
// requests for counters are in [Node.Failures].
func (c *Collector) Scan(ctx context.Context, o fabric.DiscoverOptions) (*fabric.Fabric, error) {
	c.pass++
	before := o.Answered
	o.Answered = func(p *fabric.Port) {
		if before != nil {
			before(p)
		}
		c.found(p)
	}
	f, err := fabric.Discover(ctx, c.client, o)
	if f == nil || err != nil {
		c.sort(f)
		return f, err
	}
	return f, c.complete(ctx, f)
}

// Read reads a known fabric's counters. In the first pass it selects nodes and ports; later
// passes read the same ports again, except on nodes with an agent that did not respond.
func (c *Collector) Read(ctx context.Context, f *fabric.Fabric) error {
	c.pass++
	c.queue, c.waiting = queue{}, 0 // of a pass that ended early
	for _, n := range c.order {
		if n.responds {
			n.Failures = nil // others do not respond again
		}
		n.Total = nil
		for _, p := range n.Ports {
			p.Before, p.Now = p.Now, nil
		}
		switch {
		case n.Described:
			c.readNode(n)
		case n.responds:
			for _, p := range n.Ports {
				c.screen(n, p.Port)
			}
		}
	}
	return c.complete(ctx, f)
}

// Continue makes the last samples from an earlier scan's collector the samples before the
// first pass, for ports with the same number on nodes with the same GUID. It must be called
// before the first pass, which then reads the states for links that went down since.
func (c *Collector) Continue(earlier *Collector) {
	nodes := make(map[ib.GUID]*Node, len(earlier.order))
	for _, n := range earlier.order {
		nodes[n.GUID] = n
	}
	c.earlier = func(node ib.GUID, port uint8) *Sample {
		if n := nodes[node]; n != nil {
			if p := n.port(port); p != nil {
				return p.Now
			}
		}
		return nil
	}
}

// Nodes returns the selected nodes in fabric order.
func (c *Collector) Nodes() []*Node { return c.order }

// Port returns a port that was read, nil for another.
func (c *Collector) Port(p *fabric.Port) *Port {
	if n := c.nodes[p.Node]; n != nil {
		return n.port(p.Number)
	}
	return nil
}

// WasRead reports whether a port's counters were read in the last pass, on their own or
// within the sums over all ports on its node.
func (c *Collector) WasRead(p *fabric.Port) bool {
	if e := c.Port(p); e != nil {
		return e.Now != nil
	}
	n := c.nodes[p.Node]
	return n != nil && n.Total != nil && !n.wantPorts
}

// complete requests the ports that a scan did not request on its way, and runs the
// client until all requests have ended.
func (c *Collector) complete(ctx context.Context, f *fabric.Fabric) error {
	defer c.sort(f)
	defer func() { c.earlier = nil }() // it refers to all samples before
	c.scanned = true
	for {
		wanted := c.wanted
		c.wanted = nil
		if err := f.ReadPorts(ctx, c.client, wanted); err != nil {
			return err
		}
		for _, n := range f.Nodes {
			for _, p := range n.Ports {
				if p != nil {
					c.found(p)
				}
			}
		}
		for _, n := range c.order {
			if n.wantPorts {
				c.readPorts(n)
			}
		}
		if err := c.client.Run(ctx); err != nil {
			return err
		}
		if !c.resolveRedirected(ctx) && len(c.wanted) == 0 {
			c.failUnread()
			c.failDiscarded()
			return nil
		}
	}
}

// sort sorts the nodes in fabric order, and ports by number.
func (c *Collector) sort(f *fabric.Fabric) {
	if f == nil {
		return
	}
	place := make(map[*fabric.Node]int, len(f.Nodes))
	for i, n := range f.Nodes {
		place[n] = i
	}
	slices.SortFunc(c.order, func(a, b *Node) int { return cmp.Compare(place[a.Node], place[b.Node]) })
	for _, n := range c.order {
		slices.SortFunc(n.Ports, func(a, b *Port) int { return cmp.Compare(a.Number, b.Number) })
	}
}

// found handles a fabric port with known PortInfo. It may be called again for the same
// port.
func (c *Collector) found(p *fabric.Port) {
	n := c.nodes[p.Node]
	if n == nil {
		if c.opts.Want != nil && !c.opts.Want(p.Node) {
			return
		}
		n = &Node{Node: p.Node}
		c.nodes[p.Node] = n
		c.order = append(c.order, n)
	}
	switch {
	case n.wantPorts:
		if c.wants(n, p) {
			c.readPort(n, p)
		}
	case c.screens(n):
		if c.wants(n, p) {
			c.screen(n, p)
		}
	case !n.began && (!p.Node.IsSwitch() || p.Number == 0): // the LID belongs to port 0
		c.begin(n, p)
	}
}

// failUnread adds a failure to each switch with a LID that the scan did not read.
func (c *Collector) failUnread() {
	for _, n := range c.order {
		if !n.began && n.Node.IsSwitch() {
			c.begin(n, &fabric.Port{Node: n.Node, GUID: n.Info.PortGUID})
		}
	}
}

// begin begins to read a node through a port.
func (c *Collector) begin(n *Node, p *fabric.Port) {
	n.began = true
	if err := p.Unreachable(); err != nil {
		n.Failures = append(n.Failures, Failure{p.Number, mad.AttrClassPortInfo, err})
		return
	}
	c.submit(c.target(n, nil, p), mad.AttrClassPortInfo, p.Number, n, nil, (*Collector).gotClassPortInfo)
}

// target returns the agent's address for a port.
func (c *Collector) target(n *Node, p *Port, at *fabric.Port) umad.Target {
	to := umad.Target{LID: at.LID()}
	if c.opts.SL != nil {
		to.SL = c.opts.SL(to.LID)
	}
	switch {
	case p != nil && p.redirect != nil:
		to.Redirect = p.redirect
	case n.hasOneAgent():
		to.Redirect = n.redirect
	}
	return to
}

// hasOneAgent reports whether all ports on the node have the same agent.
func (n *Node) hasOneAgent() bool { return n.Node.IsSwitch() || n.Info.NumPorts == 1 }

func (c *Collector) gotClassPortInfo(q *query, r *umad.Reply) {
	n := q.node
	info, ok := decode[mad.ClassPortInfo](c, q, r)
	if !ok {
		return
	}
	if umad.Redirects(info) && n.redirect == nil && q.req.To.Redirect == nil {
		c.follow(q, info)
		return
	}
	n.Described, n.responds = true, true
	n.Caps, n.Caps2 = info.PerfCaps()
	c.readNode(n)
}

// readNode reads the counters on a node with known capabilities.
func (c *Collector) readNode(n *Node) {
	if c.opts.Suspicious == nil || !n.Node.IsSwitch() || !n.Caps.Has(mad.PerfAllPortSelect) {
		c.wantPorts(n)
		return
	}
	n.wantPorts = false
	c.readAttributes(c.newPort(n, &fabric.Port{Node: n.Node, Number: mad.AllPorts}))
}

// wantPorts reads a node's ports: known ports now, and the others later.
func (c *Collector) wantPorts(n *Node) {
	n.wantPorts = true
	c.wanted = append(c.wanted, n.Node)
	c.readPorts(n)
}

// readPorts reads a node's known ports.
func (c *Collector) readPorts(n *Node) {
	for _, p := range n.Node.Ports {
		if p != nil && c.wants(n, p) {
			c.readPort(n, p)
		}
	}
}

// wants reports whether a port is to be read. Port 0's kind and the ports that are omitted
// by a scan are known only when the scan is complete.
func (c *Collector) wants(n *Node, p *fabric.Port) bool {
	switch {
	case p.Info == nil && !(p.Omitted && c.scanned):
		return false
	case p.Number == 0 && (!n.Node.IsSwitch() || !c.scanned || n.Switch == nil || n.Switch.EnhancedPort0 == 0):
		return false
	}
	return c.opts.Ports == nil || c.opts.Ports(p)
}

// newPort returns a port's entry for the current pass.
func (c *Collector) newPort(n *Node, p *fabric.Port) *Port {
	if p.Number == mad.AllPorts {
		return &Port{Port: p, node: n}
	}
	e := n.port(p.Number)
	if e == nil {
		e = c.slabs.port()
		e.Port, e.node = p, n
		if c.earlier != nil {
			e.Before = c.earlier(n.GUID, p.Number)
		}
		n.add(e)
	}
	return e
}

// readPort reads a port, once per pass.
func (c *Collector) readPort(n *Node, p *fabric.Port) {
	e := c.newPort(n, p)
	if e.pass == c.pass && !e.suspect {
		return
	}
	e.suspect = false
	if c.reaches(n, e) {
		c.readAttributes(e)
	}
}

// reaches begins to read a port in this pass. It reports whether its agent can be
// queried.
func (c *Collector) reaches(n *Node, p *Port) bool {
	p.pass = c.pass
	err := p.Port.Unreachable()
	if err != nil {
		n.Failures = append(n.Failures, Failure{p.Number, mad.AttrPortCounters, err})
	}
	return err == nil
}

// readAttributes reads a port's attributes.
func (c *Collector) readAttributes(e *Port) {
	e.pass, e.missing, e.failed = c.pass, 0, false
	c.queue.push(e)
	c.pump()
}

// request requests a port's attributes.
func (c *Collector) request(e *Port) {
	n := e.node
	e.Now = c.slabs.sample()
	e.Now.Caps, e.Now.Caps2 = n.Caps, n.Caps2
	basic, extended := c.opts.Attributes(n.Caps, n.Caps2)
	to := c.target(n, e, e.Port)
	if basic {
		e.missing++
		c.submit(to, mad.AttrPortCounters, e.Number, n, e, (*Collector).gotBasic)
	}
	if extended {
		e.missing++
		c.submit(to, mad.AttrPortCountersExtended, e.Number, n, e, (*Collector).gotExtended)
	}
}

func (c *Collector) gotBasic(q *query, r *umad.Reply) {
	b := c.slabs.basic()
	if c.decodeInto(q, r, b) {
		q.port.Now.Basic, q.port.Now.BasicAt = b, q.at
	} else if !q.waits {
		q.port.failed = true
	}
	c.arrived(q)
}

func (c *Collector) gotExtended(q *query, r *umad.Reply) {
	if c.decodeInto(q, r, &c.extended) {
		q.port.Now.SetExtended(&c.extended, q.at)
	} else if !q.waits {
		q.port.failed = true
	}
	c.arrived(q)
}

// arrived continues after a port's last attribute.
func (c *Collector) arrived(q *query) {
	if q.waits {
		return // for the agent's address
	}
	n, p := q.node, q.port
	if p.missing--; p.missing > 0 {
		return
	}
	if p.Now.Basic == nil && p.Now.extended == nil {
		p.Now = nil
	}
	switch {
	case p.Number == mad.AllPorts:
		c.gotTotal(n, p)
	case p.Now != nil && c.opts.Details != nil:
		c.readDetails(n, p, q.req.To)
	}
}

// gotTotal reads a node's ports if the sums over all ports require it, or if the agent
// rejects the request for the sums. If the agent did not respond, it is not queried again.
func (c *Collector) gotTotal(n *Node, p *Port) {
	if !p.failed {
		n.Total = p.Now
	}
	rejected := p.failed && !errors.Is(n.Failures[len(n.Failures)-1].Err, umad.ErrTimeout)
	if rejected || !p.failed && c.opts.Suspicious(p.Now) {
		c.wantPorts(n)
	}
}
