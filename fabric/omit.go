package fabric

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A portStates collects a switch's SwitchPortStateTable blocks.
type portStates struct {
	states  []ib.PortState // by port number
	missing int            // blocks
	failed  bool
}

// state returns a port's state in its switch's state table, 0 if it is unknown.
func (n *scanNode) state(number uint8) ib.PortState {
	if int(number) >= len(n.states) {
		return 0
	}
	return n.states[number]
}

// queryPort0 queries a switch's port 0. Its capabilities decide how the other ports are
// scanned.
func (s *scan) queryPort0(n *scanNode) {
	s.submit(n.target, mad.AttrPortInfo, 0, n, 0, func(s *scan, a *query, r *umad.Reply) {
		s.gotPortInfo(a, r)
		p := a.node.Ports[0]
		if p == nil || p.Info == nil || !p.Info.CapMask2.Has(mad.Cap2SwitchPortStateTable) {
			s.addSweep(sweep{node: a.node, next: 1})
			return
		}
		s.queryStates(a.node)
	})
}

// queryStates queries the states for all switch ports, 128 per packet.
func (s *scan) queryStates(n *scanNode) {
	const block = len(mad.SwitchPortStateTable{}.States)
	states := &portStates{states: make([]ib.PortState, len(n.Ports)), missing: (len(n.Ports) + block - 1) / block}
	for i := range states.missing {
		s.submit(n.target, mad.AttrSwitchPortStateTable, uint32(i), n, 0, func(s *scan, a *query, r *umad.Reply) {
			s.gotStates(states, a, r)
		})
	}
}

func (s *scan) gotStates(states *portStates, a *query, r *umad.Reply) {
	var t mad.SwitchPortStateTable
	if r.Err != nil || r.MAD.Decode(&t) != nil {
		states.failed = true // PortInfo for all ports has the same data, and more
	}
	first := int(a.req.Modifier) * len(t.States)
	for i, state := range t.States {
		if first+i < len(states.states) && first+i > 0 {
			states.states[first+i] = state
		}
	}
	if states.missing--; states.missing > 0 {
		return
	}
	if !states.failed {
		a.node.states = states.states
	}
	s.addSweep(sweep{node: a.node, next: 1})
}

// addSweep begins to query a switch's ports.
func (s *scan) addSweep(w sweep) {
	s.sweeps = append(s.sweeps, w)
	s.sweep()
}
