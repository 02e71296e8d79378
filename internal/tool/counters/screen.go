package counters

import (
	"errors"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// screens reports whether a node's ports are screened: PortCounters decides whether more is
// read. All its counters are also in PortCountersExtended, where they are wider but count
// the same events.
func (c *Collector) screens(n *Node) bool { return c.opts.Suspicious != nil && !n.Node.IsSwitch() }

// screen reads PortCounters on an adapter port, once per pass, and in later passes only if
// the node responded.
func (c *Collector) screen(n *Node, p *fabric.Port) {
	e := c.newPort(n, p)
	if e.pass == c.pass || e.pass > 0 && !n.responds || !c.reaches(n, e) {
		return
	}
	e.missing, e.failed, e.Now = 1, false, c.slabs.sample()
	c.submit(c.target(n, e, p), mad.AttrPortCounters, p.Number, n, e, (*Collector).gotScreened)
}

// gotScreened reads the port again with all attributes if it is suspicious, or if the
// agent rejects the request. If the agent did not respond, it is not queried again.
func (c *Collector) gotScreened(q *query, r *umad.Reply) {
	n, p, basic := q.node, q.port, c.slabs.basic()
	ok := c.decodeInto(q, r, basic)
	switch {
	case q.waits: // for the agent's address
		return
	case !ok:
		p.Now = nil
		if errors.Is(r.Err, umad.ErrTimeout) {
			return
		}
		n.Failures = n.Failures[:len(n.Failures)-1] // unless the next request fails, too
	default:
		n.responds = true
		p.Now.Basic, p.Now.BasicAt = basic, q.at
		// The fields for counters that the agent lacks are 0.
		assumed := *p.Now
		assumed.Caps = mad.PerfXmitWait | mad.PerfQP1Dropped
		if !c.opts.Suspicious(&assumed) {
			return
		}
	}
	p.suspect = true
	switch {
	case n.wantPorts:
		c.readPort(n, p.Port)
	case !n.began:
		c.begin(n, p.Port)
	}
}
