package mad

import "github.com/ibkit/ibkit/ib"

// extDisabled is the value of LinkSpeedExtEnabled that turns all extended
// speeds off.
const extDisabled LinkSpeedExt = 30

// ActiveSpeed returns the speed that the link runs at, 0 where it is not
// known. It means nothing while the port is down.
//
// caps is the PortInfo whose capability masks hold for the port: port 0's on a
// switch, its own elsewhere. nil stands for one without capabilities. ext is
// NVIDIA's ExtendedPortInfo, nil where the port has none.
func (a *PortInfo) ActiveSpeed(caps *PortInfo, ext *MlnxExtPortInfo) ib.Speed {
	// The newest group of fields that names a speed counts. An FDR10 link
	// is QDR to those who do not know FDR10.
	if s := a.extendedSpeeds(caps, a.LinkSpeedExtActive, a.LinkSpeedExt2Active); s != 0 {
		return s.Max()
	}
	if ext != nil && ext.LinkSpeedActive.Speed() != 0 {
		return ib.FDR10
	}
	return a.LinkSpeedActive.Speed()
}

// SupportedSpeeds returns the speeds that the port can do. The arguments are
// those of ActiveSpeed.
func (a *PortInfo) SupportedSpeeds(caps *PortInfo, ext *MlnxExtPortInfo) ib.Speed {
	s := a.LinkSpeedSupported.Speed() | a.extendedSpeeds(caps, a.LinkSpeedExtSupported, a.LinkSpeedExt2Supported)
	if ext != nil {
		s |= ext.LinkSpeedSupported.Speed()
	}
	return s
}

// EnabledSpeeds returns the speeds that the port may use. The arguments are
// those of ActiveSpeed.
func (a *PortInfo) EnabledSpeeds(caps *PortInfo, ext *MlnxExtPortInfo) ib.Speed {
	espeed := a.LinkSpeedExtEnabled
	if espeed == extDisabled {
		espeed = 0
	}
	s := a.LinkSpeedEnabled.Speed() | a.extendedSpeeds(caps, espeed, a.LinkSpeedExt2Enabled)
	if ext != nil {
		s |= ext.LinkSpeedEnabled.Speed()
	}
	return s
}

// extendedSpeeds joins the two groups of extended speeds, each of which means
// something only where a capability says that it is there.
func (a *PortInfo) extendedSpeeds(caps *PortInfo, e LinkSpeedExt, e2 LinkSpeedExt2) ib.Speed {
	if caps == nil || !caps.CapMask.Has(CapExtendedSpeeds) {
		return 0
	}
	s := e.Speed()
	if caps.CapMask.Has(CapCapMask2) && caps.CapMask2.Has(Cap2ExtendedSpeeds2) {
		s |= e2.Speed()
	}
	return s
}
