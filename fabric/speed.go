package fabric

import (
	"errors"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// ActiveSpeed returns the speed on a port's link, 0 if it is unknown: an attribute that
// it depends on is missing. It is undefined while the port is down.
func (p *Port) ActiveSpeed() ib.Speed {
	if p.Info == nil {
		return 0
	}
	s := p.Info.ActiveSpeed(p.Caps(), p.Ext)
	if s == ib.QDR && p.extLost {
		return 0
	}
	return s
}

// SpeedKnown reports whether all attributes are known that the active speed depends on: on
// a switch also port 0's PortInfo, which has the capabilities for all ports. The speed for
// a port that reports none is 0 although it is known.
func (p *Port) SpeedKnown() bool {
	return p.ActiveSpeed() != 0 || p.Info != nil && p.Caps() != nil && !p.extLost
}

// SupportedSpeeds returns the speeds that a port supports, 0 if they are unknown.
func (p *Port) SupportedSpeeds() ib.Speed {
	if p.Info == nil || p.extLost {
		return 0
	}
	return p.Info.SupportedSpeeds(p.Caps(), p.Ext)
}

// EnabledSpeeds returns a port's enabled speeds, 0 if they are unknown.
func (p *Port) EnabledSpeeds() ib.Speed {
	if p.Info == nil || p.extLost {
		return 0
	}
	return p.Info.EnabledSpeeds(p.Caps(), p.Ext)
}

// queryExtendedPortInfo queries the vendor's port attribute if only that
// attribute distinguishes FDR10 from QDR: the device has it, and PortInfo reports
// a link at QDR (libibnetdisc has the same condition).
func (s *scan) queryExtendedPortInfo(n *scanNode, number uint8) {
	p := n.PortAt(number)
	if s.opts.NoExtendedPortInfo || p == nil || p.Info == nil || p.Ext != nil || p.extLost || !HasExtendedPortInfo(&n.Info) {
		return
	}
	if p.Caps() == nil && !n.capsEnded || p.Info.PhysState != ib.PhysLinkUp || p.Info.ActiveSpeed(p.Caps(), nil) != ib.QDR {
		return
	}
	p.Ext = new(mad.MlnxExtPortInfo)
	s.submit(n.target, mad.AttrMlnxExtPortInfo, uint32(number), n, number, func(s *scan, a *query, r *umad.Reply) {
		p := a.node.Ports[a.port]
		if s.decode(a, r, p.Ext) {
			return
		}
		_, refused := errors.AsType[mad.StatusError](r.Err)
		p.Ext, p.extLost = nil, !refused
	})
}
