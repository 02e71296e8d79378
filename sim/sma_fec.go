package sim

import "github.com/ibkit/ibkit/mad"

// fecInfo returns a port's PortInfoExtended.
func (p *Port) fecInfo() *mad.PortInfoExtended {
	return &mad.PortInfoExtended{CapMask: 1, FECModeActive: p.fec}
}

// SetFEC sets the forward error correction mode that PortInfoExtended reports: 0 off, 1
// Fire code, 2 RS-FEC, 3 low-latency RS-FEC. The node has PortInfoExtended and RS-FEC
// counters from then on.
func (p *Port) SetFEC(mode uint16) {
	p.fec = mode
	management := &p.Node.managed(p.Number).Info
	management.CapMask |= mad.CapCapMask2
	management.CapMask2 |= mad.Cap2PortInfoExtended
	p.Node.perf.caps |= mad.PerfRSFECCounters
}

// getPortInfoExtended answers for ports with the capability.
func getPortInfoExtended(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	port := d.port(p.Modifier())
	switch {
	case port == nil:
		return mad.StatusBadValue
	case !d.node.managed(port.Number).Info.CapMask2.Has(mad.Cap2PortInfoExtended):
		return mad.StatusBadMethodAttr
	}
	return encode(p, port.fecInfo())
}
