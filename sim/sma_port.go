package sim

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// setPortInfo sets the fields of a PortInfo that can be written (InfiniBand
// Architecture, Volume 1, 14.2.5.6).
func setPortInfo(f *Fabric, d destination, p *mad.Packet) mad.Status {
	port := d.port(p.Modifier() & 0xff)
	var set mad.PortInfo
	if port == nil || mad.Decode(&set, p.Data()) != nil {
		return mad.StatusBadValue
	}
	i := &port.Info
	if !d.node.IsSwitch() || port.Number == 0 {
		i.LID, i.LMC = set.LID, set.LMC
		i.MKey, i.MKeyProtect, i.MKeyLeasePeriod = set.MKey, set.MKeyProtect, set.MKeyLeasePeriod
		i.GIDPrefix, i.SMLID, i.SMSL = set.GIDPrefix, set.SMLID, set.SMSL
		i.SubnetTimeout, i.ClientReregister = set.SubnetTimeout, set.ClientReregister
	}
	if set.NeighborMTU != 0 {
		i.NeighborMTU = min(set.NeighborMTU, i.MTUCap)
	}
	if set.OperVLs != 0 {
		i.OperVLs = min(set.OperVLs, i.VLCap)
	}
	i.HOQLife, i.VLStallCount, i.VLHighLimit = set.HOQLife, set.VLStallCount, set.VLHighLimit
	i.LocalPhysErrors, i.OverrunErrors = set.LocalPhysErrors, set.OverrunErrors
	if set.LinkDownDefault != 0 {
		i.LinkDownDefault = set.LinkDownDefault
	}
	if status := port.setEnabled(&set); status != 0 {
		return status
	}
	f.setting = port
	defer func() { f.setting = nil }()
	return port.setState(set.State, set.PhysState)
}

// allWidths and allSpeeds enable all supported widths and speeds.
const (
	allWidths ib.LinkWidth  = 0xff
	allSpeeds mad.LinkSpeed = 0xf
)

// setEnabled sets the enabled widths and speeds, which apply to the next training; 0
// means no change.
func (p *Port) setEnabled(set *mad.PortInfo) mad.Status {
	i := &p.Info
	switch w := set.LinkWidthEnabled; {
	case w == 0:
	case w == allWidths:
		i.LinkWidthEnabled = i.LinkWidthSupported
	case w&^i.LinkWidthSupported != 0:
		return mad.StatusBadValue
	default:
		i.LinkWidthEnabled = w
	}
	switch s := set.LinkSpeedEnabled; {
	case s == 0:
	case s == allSpeeds:
		i.LinkSpeedEnabled = i.LinkSpeedSupported
	case s&^i.LinkSpeedSupported != 0:
		return mad.StatusBadValue
	default:
		i.LinkSpeedEnabled = s
	}
	if s := set.LinkSpeedExtEnabled; s != 0 {
		i.LinkSpeedExtEnabled = s
	}
	if s := set.LinkSpeedExt2Enabled; s != 0 {
		i.LinkSpeedExt2Enabled = s & i.LinkSpeedExt2Supported
	}
	return 0
}

// setState changes the state of a port: Down retrains the link, Armed and Active follow
// Initialize, and a physical state disables or enables the port.
func (p *Port) setState(state ib.PortState, phys ib.PhysState) mad.Status {
	i := &p.Info
	switch phys {
	case ib.PhysDisabled:
		p.down(ib.PhysDisabled)
		if p.Peer != nil && p.Peer.Info.PhysState != ib.PhysDisabled {
			p.Peer.down(ib.PhysPolling)
		}
		return 0
	case ib.PhysPolling:
		p.down(ib.PhysPolling)
		p.train()
		return 0
	case 0, ib.PhysSleep:
	default:
		return mad.StatusBadValue
	}
	switch state {
	case ib.PortNoChange:
	case ib.PortDown:
		if i.PhysState != ib.PhysDisabled {
			p.down(ib.PhysPolling)
			p.train()
		}
	case ib.PortArmed, ib.PortActive:
		// Armed follows Initialize, and Active follows Armed (14.3.6).
		if i.State < state-1 || i.State == ib.PortDown {
			return mad.StatusBadValue
		}
		p.linkChanges()
		i.State = state
	default:
		return mad.StatusBadValue
	}
	return 0
}
