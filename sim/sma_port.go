package sim

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// setPortInfo sets the writable fields in a PortInfo (InfiniBand Architecture, Volume
// 1, 14.2.5.6).
func setPortInfo(f *Fabric, d destination, p *mad.Packet) mad.Status {
	port := d.port(p.Modifier() & 0xff)
	var set mad.PortInfo
	if port == nil || p.Decode(&set) != nil {
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
	if d.node.IsSwitch() && port.Number != 0 {
		i.PartEnforceInbound, i.PartEnforceOutbound = set.PartEnforceInbound, set.PartEnforceOutbound
	}
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

// Values in a Set that enable all supported widths and speeds, or disable all extended
// speeds in a group.
const (
	allWidths    ib.LinkWidth      = 0xff
	allSpeeds    mad.LinkSpeed     = 0xf
	allExt       mad.LinkSpeedExt  = 31
	disabledExt  mad.LinkSpeedExt  = 30
	allExt2      mad.LinkSpeedExt2 = 7
	disabledExt2 mad.LinkSpeedExt2 = 6
)

// setEnabled sets the enabled widths and speeds, which apply to the next training; 0
// means no change.
func (p *Port) setEnabled(set *mad.PortInfo) mad.Status {
	i := &p.Info
	e := enabled{i.LinkWidthEnabled, i.LinkSpeedEnabled, i.LinkSpeedExtEnabled, i.LinkSpeedExt2Enabled}
	if !enable(&e.width, set.LinkWidthEnabled, i.LinkWidthSupported, allWidths, 0) ||
		!enable(&e.speed, set.LinkSpeedEnabled, i.LinkSpeedSupported, allSpeeds, 0) ||
		!enable(&e.ext, set.LinkSpeedExtEnabled, i.LinkSpeedExtSupported, allExt, disabledExt) ||
		!enable(&e.ext2, set.LinkSpeedExt2Enabled, i.LinkSpeedExt2Supported, allExt2, disabledExt2) {
		return mad.StatusBadValue
	}
	i.LinkWidthEnabled, i.LinkSpeedEnabled, i.LinkSpeedExtEnabled, i.LinkSpeedExt2Enabled = e.width, e.speed, e.ext, e.ext2
	return 0
}

// enabled is a port's enabled widths and speeds.
type enabled struct {
	width ib.LinkWidth
	speed mad.LinkSpeed
	ext   mad.LinkSpeedExt
	ext2  mad.LinkSpeedExt2
}

// enable enables a set of widths or speeds, and reports false for a value that the port
// does not support. all stands for the supported set; disabled is kept as it is.
func enable[T ~uint8](to *T, v, supported, all, disabled T) bool {
	switch {
	case v == 0:
	case v == all:
		*to = supported
	case v != disabled && v&^supported != 0:
		return false
	default:
		*to = v
	}
	return true
}

// setExtendedPortInfo enables or disables FDR10 from the next training on.
func setExtendedPortInfo(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	port := d.port(p.Modifier() & 0xff)
	var set mad.MlnxExtPortInfo
	if port == nil || port.Ext == nil || p.Decode(&set) != nil {
		return mad.StatusBadMethodAttr
	}
	if set.StateChangeEnable&1 != 0 {
		if set.LinkSpeedEnabled&^port.Ext.LinkSpeedSupported != 0 {
			return mad.StatusBadValue
		}
		port.Ext.LinkSpeedEnabled = set.LinkSpeedEnabled
	}
	return 0
}

// setState changes a port's state: Down retrains the link, Armed and Active follow
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
		p.retrain()
		return 0
	case 0, ib.PhysSleep:
	default:
		return mad.StatusBadValue
	}
	switch state {
	case ib.PortNoChange:
	case ib.PortDown:
		if i.PhysState != ib.PhysDisabled {
			p.retrain()
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

// retrain takes a link down and brings it up again. The agents report the latter as a
// separate change: it happens after the Set. The fabric's subnet manager follows it.
func (p *Port) retrain() {
	f := p.Node.fabric
	p.down(ib.PhysPolling)
	f.setting = nil
	p.train()
	f.activate(p)
}
