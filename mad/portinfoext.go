package mad

// A PortInfoExtended contains the active, supported and enabled forward error
// correction modes at each speed. A port has it if Cap2PortInfoExtended is set.
//
// smpquery (rdma-core 65) prints wrong HDR and NDR modes because libibmad's table uses
// another convention for their offsets. The HDR offsets here are from
// ib_port_info_ext_t in iba_types.h, and NDR follows.
type PortInfoExtended struct {
	CapMask             uint32 // bit 0: the fields below are valid
	FECModeActive       uint16 // FECRS, FECRSLowLatency or another mode
	FDRFECModeSupported uint16 // this and the following: a bit per mode
	FDRFECModeEnabled   uint16
	EDRFECModeSupported uint16
	EDRFECModeEnabled   uint16
	HDRFECModeSupported uint16
	HDRFECModeEnabled   uint16
	NDRFECModeSupported uint16
	NDRFECModeEnabled   uint16
}

// Spec returns the AttrPortInfoExtended spec.
func (*PortInfoExtended) Spec() Spec { return smpSpec(AttrPortInfoExtended) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortInfoExtended) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *PortInfoExtended) Layout(c *Codec) {
	Bits(c, &a.CapMask, 0, 32, "CapMask", Hex)
	Bits(c, &a.FECModeActive, 32, 16, "FECModeActive", Decimal)
	Bits(c, &a.FDRFECModeSupported, 48, 16, "FDRFECModeSupported", Hex)
	Bits(c, &a.FDRFECModeEnabled, 64, 16, "FDRFECModeEnabled", Hex)
	Bits(c, &a.EDRFECModeSupported, 80, 16, "EDRFECModeSupported", Hex)
	Bits(c, &a.EDRFECModeEnabled, 96, 16, "EDRFECModeEnabled", Hex)
	Bits(c, &a.HDRFECModeSupported, 112, 16, "HDRFECModeSupported", Hex)
	Bits(c, &a.HDRFECModeEnabled, 128, 16, "HDRFECModeEnabled", Hex)
	Bits(c, &a.NDRFECModeSupported, 144, 16, "NDRFECModeSupported", Hex)
	Bits(c, &a.NDRFECModeEnabled, 160, 16, "NDRFECModeEnabled", Hex)
}

// FECModeActive values with RS-FEC (InfiniBand Architecture, Volume 1, 14.2.5.19).
const (
	FECRS           uint16 = 2
	FECRSLowLatency uint16 = 3
)

// fecModes is the CapMask bit for valid forward error correction modes.
const fecModes = 1 << 0

// HasRSFEC reports whether the link uses RS-FEC, which selects the
// PortExtendedSpeedsCounters layout: see [PortRSFECCounters].
func (a *PortInfoExtended) HasRSFEC() bool {
	return a.CapMask&fecModes != 0 && (a.FECModeActive == FECRS || a.FECModeActive == FECRSLowLatency)
}

// A MlnxExtPortInfo is NVIDIA's ExtendedPortInfo on ports that support FDR10. The
// specification's PortInfo reports an FDR10 link as QDR.
type MlnxExtPortInfo struct {
	StateChangeEnable  uint8
	LinkSpeedSupported MlnxLinkSpeed
	LinkSpeedEnabled   MlnxLinkSpeed
	LinkSpeedActive    MlnxLinkSpeed
}

// Spec returns the AttrMlnxExtPortInfo spec.
func (*MlnxExtPortInfo) Spec() Spec { return smpSpec(AttrMlnxExtPortInfo) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a MlnxExtPortInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// UnmarshalJSON parses MarshalJSON output. Errors begin with the invalid member's name.
func (a *MlnxExtPortInfo) UnmarshalJSON(b []byte) error { return unmarshalJSON(a, b) }

// Layout declares the fields.
func (a *MlnxExtPortInfo) Layout(c *Codec) {
	Bits(c, &a.StateChangeEnable, 24, 8, "StateChangeEnable", Hex)
	Bits(c, &a.LinkSpeedSupported, 56, 8, "LinkSpeedSupported", asMlnxLinkSpeed)
	Bits(c, &a.LinkSpeedEnabled, 88, 8, "LinkSpeedEnabled", asMlnxLinkSpeed)
	Bits(c, &a.LinkSpeedActive, 120, 8, "LinkSpeedActive", asMlnxLinkSpeed)
}
