package counters

import (
	"errors"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/mad"
)

// Database returns the fabric and the nodes' last counters as db_csv file content. With a
// second sample for ports, it has their increases, too.
func Database(f *fabric.Fabric, nodes []*Node) *ibdiagnet.Database {
	d := &ibdiagnet.Database{Fabric: f, Counters: map[*fabric.Port]*ibdiagnet.Counters{}}
	for _, n := range nodes {
		for _, p := range n.Ports {
			if p.Now == nil {
				continue
			}
			d.Counters[p.Port] = p.Now.stored()
			if at := p.Now.At(); at.After(d.Created) {
				d.Created = at
			}
			if p.Before == nil {
				continue
			}
			if d.Increases == nil {
				d.Increases = map[*fabric.Port]*ibdiagnet.Counters{}
			}
			d.Increases[p.Port] = increases(p.Now.stored(), p.Before.stored())
		}
	}
	return d
}

// stored returns the counters in file form.
func (s *Sample) stored() *ibdiagnet.Counters {
	c := &ibdiagnet.Counters{Caps: s.Caps, Caps2: s.Caps2, Basic: s.Basic, Extended: s.Extended()}
	if s.Details != nil {
		c.RcvErrors, c.XmitDiscards = s.Details.RcvErrors, s.Details.XmitDiscards
	}
	return c
}

// increases returns counter increases. A counter that was cleared has increased by its
// value at least.
func increases(now, before *ibdiagnet.Counters) *ibdiagnet.Counters {
	return &ibdiagnet.Counters{
		Caps: now.Caps, Caps2: now.Caps2,
		Basic: increase(now.Basic, before.Basic), Extended: increase(now.Extended, before.Extended),
		RcvErrors: increase(now.RcvErrors, before.RcvErrors), XmitDiscards: increase(now.XmitDiscards, before.XmitDiscards),
	}
}

// increase returns the increases in an attribute's fields, nil without both samples.
func increase[T any, A interface {
	*T
	mad.Attribute
}](now, before A) A {
	if now == nil || before == nil {
		return nil
	}
	var old []uint64
	mad.Visit(before, func(_ string, _ int, v uint64) uint64 {
		old = append(old, v)
		return v
	})
	d := A(new(T))
	*d = *now
	i := 0
	mad.Visit(d, func(_ string, _ int, v uint64) uint64 {
		i++
		if v >= old[i-1] {
			return v - old[i-1]
		}
		return v
	})
	return d
}

// ErrNoCounters is the error for a file without counters.
var ErrNoCounters = errors.New("the file has no counters (section PM_INFO)")

// fromDatabase returns the counters in a file.
func (o Options) fromDatabase() (*Result, error) {
	d := o.Database
	if len(d.Counters) == 0 {
		return nil, ErrNoCounters
	}
	s := &session{Options: o, result: &Result{Fabric: d.Fabric, Limits: o.Limits, Since: o.Since, Began: d.Created, Passes: 1}}
	c := NewCollector(nil, s.collectOptions())
	for _, from := range d.Fabric.Nodes {
		if !s.wantsNode(from) {
			continue
		}
		n := &Node{Node: from, Described: true}
		for _, p := range from.Ports {
			stored := d.Counters[p]
			if stored == nil || !s.wantsPort(p) {
				continue
			}
			n.Caps, n.Caps2 = n.Caps|stored.Caps, n.Caps2|stored.Caps2
			e := &Port{Port: p, node: n, Now: sampleOf(stored, d.Created)}
			if s.Since != nil {
				e.Before = s.Since.sample(from.GUID, p.Number)
			}
			n.add(e)
		}
		c.nodes[from] = n
		c.order = append(c.order, n)
	}
	s.result.collector, s.result.Nodes = c, c.order
	if s.Since != nil {
		if err := s.Since.check(c.order); err != nil {
			return nil, err
		}
		s.result.Missing = s.Since.missing(d.Fabric)
	}
	return s.result, s.each()
}

// sampleOf is the inverse function to stored.
func sampleOf(c *ibdiagnet.Counters, at time.Time) *Sample {
	s := &Sample{Caps: c.Caps, Caps2: c.Caps2, Basic: c.Basic, BasicAt: at}
	if c.Extended != nil {
		s.SetExtended(c.Extended, at)
	}
	if c.RcvErrors != nil || c.XmitDiscards != nil {
		s.Details = &Details{RcvErrors: c.RcvErrors, XmitDiscards: c.XmitDiscards, At: at}
	}
	return s
}
