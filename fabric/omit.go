package fabric

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A portStates collects the blocks of a switch's SwitchPortStateTable.
type portStates struct {
	omit    []bool // by port number: the port is down
	missing int    // blocks
	failed  bool
}

// queryPort0 queries port 0 of a switch, whose capabilities decide how the other ports
// are scanned.
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

// queryStates queries the states of all ports of a switch, 128 per packet.
func (s *scan) queryStates(n *scanNode) {
	const block = len(mad.SwitchPortStateTable{}.States)
	states := &portStates{omit: make([]bool, len(n.Ports)), missing: (len(n.Ports) + block - 1) / block}
	for i := range states.missing {
		s.submit(n.target, mad.AttrSwitchPortStateTable, uint32(i), n, 0, func(s *scan, a *query, r *umad.Reply) {
			s.gotStates(states, a, r)
		})
	}
}

func (s *scan) gotStates(states *portStates, a *query, r *umad.Reply) {
	var t mad.SwitchPortStateTable
	if r.Err != nil || mad.Decode(&t, r.MAD.Data()) != nil {
		states.failed = true // PortInfo of all ports has the same data, and more
	}
	first := int(a.req.Modifier) * len(t.States)
	for i, state := range t.States {
		if first+i < len(states.omit) && first+i > 0 {
			states.omit[first+i] = state == ib.PortDown
		}
	}
	if states.missing--; states.missing > 0 {
		return
	}
	n := a.node
	if states.failed {
		s.addSweep(sweep{node: n, next: 1})
		return
	}
	for number, omit := range states.omit {
		if omit {
			s.port(n, uint8(number)).Omitted = true
		}
	}
	s.addSweep(sweep{node: n, next: 1, omit: states.omit})
}

// addSweep begins to query the ports of a switch.
func (s *scan) addSweep(w sweep) {
	s.sweeps = append(s.sweeps, w)
	s.sweep()
}
