package counters

import (
	"context"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A Part is a counter set that is cleared together.
type Part uint8

// The parts.
const (
	ErrorCounters Part = 1 << iota
	TrafficCounters
	DetailCounters
)

// The bits in CounterSelect and CounterSelect2 (InfiniBand Architecture, Volume 1, 16.1.3.5
// and 16.1.4.11).
const (
	basicErrors   = 0x0fff
	basicTraffic  = 0xf000
	basicXmitWait = 1 << 0 // of CounterSelect2
	basicQP1      = 1 << 1

	extendedTotals = 0x0f
	extendedCasts  = 0xf0
	extendedErrors = 0x0fff // of CounterSelect2
	extendedWait   = 1 << 12
	extendedQP1    = 1 << 13
)

// Clear sets counters on the last pass's ports to 0. The failed requests replace
// [Node.Failures].
func (c *Collector) Clear(ctx context.Context, ports []*Port, parts Part) error {
	for _, n := range c.order {
		n.Failures = nil
	}
	for _, p := range ports {
		n := c.nodes[p.Node]
		if n == nil || !n.Described {
			continue
		}
		to := c.target(n, p, p.Port)
		for _, a := range clearing(n, p.Number, parts) {
			c.set(n, p, to, a)
		}
	}
	for {
		if err := c.client.Run(ctx); err != nil || !c.resolveRedirected(ctx) {
			return err
		}
	}
}

// clearing returns the attributes that clear parts of a port's counters with a Set.
func clearing(n *Node, port uint8, parts Part) []mad.Attribute {
	basic := &mad.PortCounters{PortSelection: mad.PortSelection{PortSelect: port}}
	extended := &mad.PortCountersExtended{PortSelection: mad.PortSelection{PortSelect: port}}
	var all []mad.Attribute
	if parts&ErrorCounters != 0 {
		basic.CounterSelect |= basicErrors
		if n.Caps.Has(mad.PerfXmitWait) {
			basic.CounterSelect2 |= basicXmitWait
		}
		if n.Caps.Has(mad.PerfQP1Dropped) {
			basic.CounterSelect2 |= basicQP1
		}
		if n.Caps2.Has(mad.PerfAdditionalExtended) {
			extended.CounterSelect2 |= extendedErrors | extendedWait | extendedQP1
		}
	}
	if parts&TrafficCounters != 0 {
		basic.CounterSelect |= basicTraffic
		extended.CounterSelect |= extendedTotals
		if n.Caps.Has(mad.PerfExtendedWidth) {
			extended.CounterSelect |= extendedCasts
		}
	}
	if basic.CounterSelect != 0 {
		all = append(all, basic)
	}
	if n.Caps.HasExtended() && (extended.CounterSelect != 0 || extended.CounterSelect2 != 0) {
		all = append(all, extended)
	}
	if parts&DetailCounters != 0 {
		const every = 0xffff
		selection := mad.PortSelection{PortSelect: port, CounterSelect: every}
		all = append(all, &mad.PortRcvErrorDetails{PortSelection: selection}, &mad.PortXmitDiscardDetails{PortSelection: selection})
	}
	return all
}

// set sends an attribute's Set. An attribute with details that the agent does not have is
// not a failure.
func (c *Collector) set(n *Node, p *Port, to umad.Target, a mad.Attribute) {
	q := c.prepare(to, a.Spec().ID, p.Number, n, p, func(c *Collector, q *query, r *umad.Reply) {
		if q.req.Attr != mad.AttrPortCounters && q.req.Attr != mad.AttrPortCountersExtended && unsupported(r.Err) {
			return
		}
		c.decodeInto(q, r, mad.ClassPM.NewAttribute(q.req.Attr))
	})
	q.req.Method, q.req.Expect = mad.MethodSet, new(p.Identity())
	q.req.Value, q.req.Data = a, nil
	c.client.Submit(&q.req)
}
