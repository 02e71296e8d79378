package mad

import "github.com/ibkit/ibkit/ib"

// extDisabled is the LinkSpeedExtEnabled value that disables all extended speeds.
const extDisabled LinkSpeedExt = 30

// ActiveSpeed returns the link's active speed, 0 if it is unknown. It is undefined
// while the port is down.
//
// caps is the PortInfo with the capability masks that apply to the port: on a
// switch port 0's PortInfo, otherwise a itself. With nil, they are unknown, and so
// is a speed that depends on them. ext is NVIDIA's ExtendedPortInfo, nil if the
// port does not have it.
func (a *PortInfo) ActiveSpeed(caps *PortInfo, ext *MlnxExtPortInfo) ib.Speed {
	// The newest field group with a speed applies. The original group reports an FDR10
	// link as QDR.
	s, known := a.extendedSpeeds(caps, a.LinkSpeedExtActive, a.LinkSpeedExt2Active)
	if s != 0 || !known {
		return s.Max()
	}
	if ext != nil && ext.LinkSpeedActive.Speed() != 0 {
		return ib.FDR10
	}
	return a.LinkSpeedActive.Speed()
}

// SupportedSpeeds returns the speeds that the port supports, 0 if they are unknown.
// See ActiveSpeed for the arguments.
func (a *PortInfo) SupportedSpeeds(caps *PortInfo, ext *MlnxExtPortInfo) ib.Speed {
	s, known := a.extendedSpeeds(caps, a.LinkSpeedExtSupported, a.LinkSpeedExt2Supported)
	if !known {
		return 0
	}
	s |= a.LinkSpeedSupported.Speed()
	if ext != nil {
		s |= ext.LinkSpeedSupported.Speed()
	}
	return s
}

// EnabledSpeeds returns the port's enabled speeds, 0 if they are unknown. See
// ActiveSpeed for the arguments.
func (a *PortInfo) EnabledSpeeds(caps *PortInfo, ext *MlnxExtPortInfo) ib.Speed {
	espeed := a.LinkSpeedExtEnabled
	if espeed == extDisabled {
		espeed = 0
	}
	s, known := a.extendedSpeeds(caps, espeed, a.LinkSpeedExt2Enabled)
	if !known {
		return 0
	}
	s |= a.LinkSpeedEnabled.Speed()
	if ext != nil {
		s |= ext.LinkSpeedEnabled.Speed()
	}
	return s
}

// SetActiveSpeed sets the active speed fields, and the capabilities in caps without
// which the fields are not valid. It returns NVIDIA's ExtendedPortInfo for an FDR10
// link, nil for other speeds.
func (a *PortInfo) SetActiveSpeed(caps *PortInfo, s ib.Speed) *MlnxExtPortInfo {
	switch {
	case s <= ib.QDR:
		a.LinkSpeedActive = LinkSpeed(s)
		return nil
	case s == ib.FDR10:
		a.LinkSpeedActive = LinkSpeed(ib.QDR)
		return &MlnxExtPortInfo{LinkSpeedActive: MlnxLinkSpeed(s / ib.FDR10)}
	}
	a.LinkSpeedActive = LinkSpeed(ib.QDR)
	caps.CapMask |= CapExtendedSpeeds
	if s < ib.XDR {
		a.LinkSpeedExtActive = LinkSpeedExt(s / ib.FDR)
		return nil
	}
	caps.CapMask |= CapCapMask2
	caps.CapMask2 |= Cap2ExtendedSpeeds2
	a.LinkSpeedExt2Active = LinkSpeedExt2(s / ib.XDR)
	return nil
}

// extendedSpeeds joins both extended speed groups. Each is valid only if the
// port has the capability. The result is not known if the capabilities are not
// and a group has speeds.
func (a *PortInfo) extendedSpeeds(caps *PortInfo, e LinkSpeedExt, e2 LinkSpeedExt2) (s ib.Speed, known bool) {
	switch {
	case caps == nil:
		return 0, e.Speed()|e2.Speed() == 0
	case !caps.CapMask.Has(CapExtendedSpeeds):
		return 0, true
	}
	s = e.Speed()
	if caps.CapMask.Has(CapCapMask2) && caps.CapMask2.Has(Cap2ExtendedSpeeds2) {
		s |= e2.Speed()
	}
	return s, true
}
