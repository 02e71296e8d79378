package sim

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// portInfo returns the PortInfo for a new port. External ports are down; switch port 0 is
// always up.
func (l LinkSpec) portInfo(isPort0 bool) mad.PortInfo {
	width, speed := or(l.Width, ib.Width4X), or(l.Speed, ib.HDR)
	i := mad.PortInfo{
		GIDPrefix:       ib.DefaultPrefix,
		State:           ib.PortDown,
		PhysState:       ib.PhysPolling,
		LinkDownDefault: linkDownToPolling,
		NeighborMTU:     mtu4096,
		MTUCap:          mtu4096,
		VLCap:           vl0to3,
		OperVLs:         vl0to3,
		VLArbHighCap:    8,
		VLArbLowCap:     8,
		GUIDCap:         8,
		SubnetTimeout:   18,
		RespTimeValue:   16,
		LocalPhysErrors: 8,
		OverrunErrors:   8,
	}
	for _, w := range []ib.LinkWidth{ib.Width1X, ib.Width2X, ib.Width4X, ib.Width8X, ib.Width12X} {
		if w.Lanes() <= width.Lanes() {
			i.LinkWidthSupported |= w
		}
	}
	i.LinkWidthEnabled = i.LinkWidthSupported
	i.LinkWidthActive = ib.Width4X // undefined while the port is down
	setSpeeds(&i, upTo(speed), func(i *mad.PortInfo) (*mad.LinkSpeed, *mad.LinkSpeedExt, *mad.LinkSpeedExt2) {
		return &i.LinkSpeedSupported, &i.LinkSpeedExtSupported, &i.LinkSpeedExt2Supported
	})
	enableSpeeds(&i, upTo(speed))
	i.LinkSpeedActive = 1
	i.CapMask = mad.CapTrap | mad.CapAutomaticMigration | mad.CapSLMapping | mad.CapSystemImageGUID |
		mad.CapCommunicationManagement | mad.CapVendorClass | mad.CapCapMaskNotice | mad.CapClientReregistration
	if speed > ib.FDR10 {
		i.CapMask |= mad.CapExtendedSpeeds | mad.CapCapMask2
		i.CapMask2 = mad.Cap2ExtendedSpeeds2
	}
	if isPort0 {
		i.State, i.PhysState = ib.PortActive, ib.PhysLinkUp
	}
	return i
}

const (
	mtu4096           ib.MTU              = 5
	vl0to3            ib.VLCap            = 3
	linkDownToPolling mad.LinkDownDefault = 2
)

// upTo returns a speed and all slower speeds, without FDR10, which PortInfo cannot express.
func upTo(s ib.Speed) ib.Speed { return (s<<1 - 1) &^ ib.FDR10 }

// setSpeeds writes a set of speeds to the three speed field groups in PortInfo.
func setSpeeds(i *mad.PortInfo, s ib.Speed, fields func(*mad.PortInfo) (*mad.LinkSpeed, *mad.LinkSpeedExt, *mad.LinkSpeedExt2)) {
	speed, ext, ext2 := fields(i)
	*speed = mad.LinkSpeed(s & (ib.SDR | ib.DDR | ib.QDR))
	*ext = mad.LinkSpeedExt(s / ib.FDR & 0xf)
	*ext2 = mad.LinkSpeedExt2(s / ib.XDR & 1)
}

func enableSpeeds(i *mad.PortInfo, s ib.Speed) {
	setSpeeds(i, s, func(i *mad.PortInfo) (*mad.LinkSpeed, *mad.LinkSpeedExt, *mad.LinkSpeedExt2) {
		return &i.LinkSpeedEnabled, &i.LinkSpeedExtEnabled, &i.LinkSpeedExt2Enabled
	})
}

// Enable sets a port's enabled widths and speeds and retrains the link.
func (p *Port) Enable(width ib.LinkWidth, speeds ib.Speed) {
	p.Info.LinkWidthEnabled = width & p.Info.LinkWidthSupported
	enableSpeeds(&p.Info, speeds&p.Info.SupportedSpeeds(&p.Info, nil))
	if p.Ext != nil {
		p.Ext.LinkSpeedEnabled = fdr10If(speeds.Has(ib.FDR10)) & p.Ext.LinkSpeedSupported
	}
	p.train()
}

// Degrade makes a link run at a lower width and speed, as a bad cable does, until the
// link is retrained.
func (p *Port) Degrade(width ib.LinkWidth, speed ib.Speed) {
	for _, end := range []*Port{p, p.Peer} {
		if end != nil {
			end.run(width, speed)
		}
	}
}

// train brings a link up at the best width and speed that both ends have enabled. The link
// goes down if both ends have nothing in common, or if either end is disabled.
func (p *Port) train() {
	peer := p.Peer
	if peer == nil {
		return
	}
	width := (p.Info.LinkWidthEnabled & peer.Info.LinkWidthEnabled).Max()
	speed := (p.Info.EnabledSpeeds(&p.Info, p.Ext) & peer.Info.EnabledSpeeds(&peer.Info, peer.Ext)).Max()
	off := p.Info.PhysState == ib.PhysDisabled || peer.Info.PhysState == ib.PhysDisabled
	for _, end := range []*Port{p, peer} {
		switch {
		case off || width == 0 || speed == 0:
			if end.Info.PhysState != ib.PhysDisabled {
				end.down(ib.PhysPolling)
			}
		default:
			end.notice()
			end.Info.State, end.Info.PhysState = ib.PortInit, ib.PhysLinkUp
			end.run(width, speed)
		}
	}
}

// run sets the active width and speed.
func (p *Port) run(width ib.LinkWidth, speed ib.Speed) {
	p.linkChanges()
	p.Info.LinkWidthActive = width
	setSpeeds(&p.Info, speed, func(i *mad.PortInfo) (*mad.LinkSpeed, *mad.LinkSpeedExt, *mad.LinkSpeedExt2) {
		return &i.LinkSpeedActive, &i.LinkSpeedExtActive, &i.LinkSpeedExt2Active
	})
	if speed > ib.QDR {
		p.Info.LinkSpeedActive = mad.LinkSpeed(ib.QDR) // for readers without extended speeds
	}
	if p.Ext != nil {
		p.Ext.LinkSpeedActive = fdr10If(speed == ib.FDR10)
	}
}

// fdr10If returns the FDR10 bit for NVIDIA's ExtendedPortInfo if yes is set.
func fdr10If(yes bool) mad.MlnxLinkSpeed {
	if yes {
		return 1
	}
	return 0
}

// down sets a port to state Down.
func (p *Port) down(phys ib.PhysState) {
	if p.Info.State != ib.PortDown {
		p.notice()
	}
	p.countLinkDowned()
	p.Info.State, p.Info.PhysState = ib.PortDown, phys
}

// up reports whether the port passes packets.
func (p *Port) up() bool { return p.Peer != nil && p.Info.PhysState == ib.PhysLinkUp }
