package sweep

import (
	"context"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A StateChange is a port with another state than in the last scan.
type StateChange struct {
	Port *fabric.Port // of the last scan
	Now  ib.PortState
}

// Changed compares the link states with the last scan's. It sends a request per 128 ports
// to switches with a state table (SwitchPortStateTable, InfiniBand Architecture, Volume 1,
// 14.2.5), a request per port to the others, and a request to each port with a link that
// was up and a node that did not respond. It reports changed if a state differs, or if a
// switch does not respond and did so before, or vice versa: only a scan shows the whole
// change.
func (s *Sweeper) Changed(ctx context.Context) (changes []StateChange, changed bool, err error) {
	c := &check{silent: map[ib.GUID]bool{}}
	for _, n := range s.fabric.Nodes {
		if n.IsSwitch() {
			s.checkSwitch(c, n)
			s.checkMissing(c, n)
		}
	}
	s.checkStart(c)
	if err := s.client.Run(ctx); err != nil {
		return nil, false, err
	}
	for _, n := range s.fabric.Nodes {
		if c.silent[n.GUID] != s.silent[n.GUID] {
			c.changed = true
		}
	}
	s.silent = c.silent
	return c.changes, c.changed || len(c.changes) > 0, nil
}

// A check is a call to Changed.
type check struct {
	changes []StateChange
	changed bool
	silent  map[ib.GUID]bool
}

// checkSwitch requests a switch's port states.
func (s *Sweeper) checkSwitch(c *check, n *fabric.Node) {
	if p := n.Ports[0]; p == nil || p.Info == nil || !p.Info.CapMask2.Has(mad.Cap2SwitchPortStateTable) {
		for i := range n.Ports {
			if p := n.Ports[i]; p != nil && p.Number > 0 {
				s.checkPort(c, p)
			}
		}
		return
	}
	const block = len(mad.SwitchPortStateTable{}.States)
	for first := 0; first < len(n.Ports); first += block {
		var t mad.SwitchPortStateTable
		s.client.SubmitGet(umad.Target{Route: n.Route}, &t, func(err error) {
			if err != nil {
				c.silent[n.GUID] = true
				return
			}
			for i := first; i < min(first+block, len(n.Ports)); i++ {
				if i > 0 {
					c.compare(n.Ports[i], t.States[i-first])
				}
			}
		}, umad.Modifier(uint32(first/block)))
	}
}

// checkMissing queries the nodes behind a switch that did not respond to the last scan.
func (s *Sweeper) checkMissing(c *check, n *fabric.Node) {
	for _, p := range n.Ports {
		if p == nil || p.IsManagement() || p.Peer != nil || p.Info == nil || p.Info.State == ib.PortDown {
			continue
		}
		s.client.SubmitGet(umad.Target{Route: n.Route.Append(p.Number)}, &mad.NodeInfo{}, func(err error) { c.changed = c.changed || err == nil })
	}
}

// checkStart requests the state for the port at which the scan began, which no switch
// reports if its peer is an adapter.
func (s *Sweeper) checkStart(c *check) {
	start := s.fabric.Start
	if start == nil || start.IsSwitch() {
		return
	}
	if p := start.PortAt(s.fabric.StartPort); p != nil {
		s.checkPort(c, p)
	}
}

// checkPort requests PortInfo.
func (s *Sweeper) checkPort(c *check, p *fabric.Port) {
	var info mad.PortInfo
	s.client.SubmitGet(umad.Target{Route: p.Node.Route}, &info, func(err error) {
		if err != nil {
			c.silent[p.Node.GUID] = true
			return
		}
		c.compare(p, info.State)
	}, umad.Modifier(uint32(p.Number)))
}

// compare compares a port's state with its state in the last scan, if known.
func (c *check) compare(p *fabric.Port, state ib.PortState) {
	if before := stateOf(p); before != ib.PortNoChange && before != state {
		c.changes = append(c.changes, StateChange{p, state})
	}
}

// stateOf returns a port's state in the last scan. A port that was omitted is down.
func stateOf(p *fabric.Port) ib.PortState {
	switch {
	case p == nil:
		return ib.PortNoChange
	case p.Info != nil:
		return p.Info.State
	case p.Omitted:
		return ib.PortDown
	}
	return ib.PortNoChange
}
