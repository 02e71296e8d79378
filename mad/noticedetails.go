package mad

import "github.com/ibkit/ibkit/ib"

// The structs below are the details in subnet management notices, a struct for traps
// with the same fields (InfiniBand Architecture, Volume 1, 14.2.5.1 and tables after
// it). Their offsets count from the notice's start.

// A GIDNotice is the detail for traps 64 to 67.
type GIDNotice struct {
	GID ib.GID // GID of the port or the multicast group
}

// A SwitchNotice is the detail for trap 128.
type SwitchNotice struct {
	LID ib.LID // LID of the switch with the link
}

// A PortNotice is the detail for traps 129 to 131.
type PortNotice struct {
	LID  ib.LID
	Port uint8
}

// A LocalChanges is the change set that trap 144 reports, besides the capability mask.
type LocalChanges uint16

// The changes.
const (
	ChangedNodeDescription     LocalChanges = 1 << 0
	ChangedLinkWidthEnabled    LocalChanges = 1 << 1
	ChangedLinkSpeedEnabled    LocalChanges = 1 << 2
	ChangedSMPriority          LocalChanges = 1 << 3
	ChangedCapMask2            LocalChanges = 1 << 4
	ChangedLinkSpeedExtEnabled LocalChanges = 1 << 5
)

var localChangeNames = capNames{
	same("NodeDescription"), same("LinkWidthEnabled"), same("LinkSpeedEnabled"),
	same("SMPriority"), same("CapabilityMask2"), same("LinkSpeedExtEnabled"),
}

// Names returns the change names, lowest bit first.
func (c LocalChanges) Names() []string { return localChangeNames.of(uint64(c)) }

var asLocalChanges = mask(localChangeNames.of, localChangeNames.dump)

// A CapabilityNotice is the detail for trap 144.
type CapabilityNotice struct {
	LID          ib.LID
	OtherChanges uint8       // 1: Changes and CapMask2 are valid
	CapMask      PortCapMask // the new mask
	Changes      LocalChanges
	CapMask2     PortCapMask2
}

// A SystemImageNotice is the detail for trap 145.
type SystemImageNotice struct {
	LID  ib.LID
	GUID ib.GUID // the new GUID
}

// A MKeyNotice is the detail for trap 256: a packet with a wrong M_Key.
type MKeyNotice struct {
	LID        ib.LID // LID of the port that received the packet
	DrSLID     ib.LID // a directed route's source LID
	Method     Method
	Attr       AttrID
	Modifier   uint32
	MKey       Key
	Directed   uint8     // 1: DrSLID and ReturnPath are valid
	Truncated  uint8     // 1: the path is longer than ReturnPath
	Hops       uint8     // 6 bits
	ReturnPath [30]uint8 // the ports through which the packet came in
}

// A KeyNotice is the detail for traps 257 and 258: a packet with a wrong
// P_Key or Q_Key.
type KeyNotice struct {
	SLID, DLID ib.LID // packet LIDs
	Key        uint32
	SL         uint8  // 4 bits
	SQP, DQP   uint32 // 24 bits
	SGID, DGID ib.GID // zero: the packet had no global route header
}

// A SwitchKeyNotice is the detail for trap 259: a packet with a wrong
// P_Key at a switch port.
type SwitchKeyNotice struct {
	Valid      uint16 // the fields that are valid
	SLID, DLID ib.LID // packet LIDs
	PKey       PKey
	SL         uint8 // 4 bits
	SQP, DQP   [3]uint8
	SGID, DGID ib.GID
	LID        ib.LID // switch LID
	Port       uint8
}

// Spec returns the AttrNotice spec.
func (*GIDNotice) Spec() Spec { return smpSpec(AttrNotice) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a GIDNotice) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Spec returns the AttrNotice spec.
func (*SwitchNotice) Spec() Spec { return smpSpec(AttrNotice) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SwitchNotice) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Spec returns the AttrNotice spec.
func (*PortNotice) Spec() Spec { return smpSpec(AttrNotice) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PortNotice) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Spec returns the AttrNotice spec.
func (*CapabilityNotice) Spec() Spec { return smpSpec(AttrNotice) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a CapabilityNotice) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Spec returns the AttrNotice spec.
func (*SystemImageNotice) Spec() Spec { return smpSpec(AttrNotice) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SystemImageNotice) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Spec returns the AttrNotice spec.
func (*MKeyNotice) Spec() Spec { return smpSpec(AttrNotice) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a MKeyNotice) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Spec returns the AttrNotice spec.
func (*KeyNotice) Spec() Spec { return smpSpec(AttrNotice) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a KeyNotice) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Spec returns the AttrNotice spec.
func (*SwitchKeyNotice) Spec() Spec { return smpSpec(AttrNotice) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a SwitchKeyNotice) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *GIDNotice) Layout(c *Codec) { Array(c, a.GID[:], 128, 8, "GID", asGID) }

// Layout declares the fields.
func (a *SwitchNotice) Layout(c *Codec) { Bits(c, &a.LID, 80, 16, "LID", Decimal) }

// Layout declares the fields.
func (a *PortNotice) Layout(c *Codec) {
	Bits(c, &a.LID, 96, 16, "LID", Decimal)
	Bits(c, &a.Port, 112, 8, "Port", Decimal)
}

// Layout declares the fields.
func (a *CapabilityNotice) Layout(c *Codec) {
	Bits(c, &a.LID, 96, 16, "LID", Decimal)
	Bits(c, &a.OtherChanges, 127, 1, "OtherChanges", Decimal)
	Bits(c, &a.CapMask, 128, 32, "CapMask", asPortCapMask)
	Bits(c, &a.Changes, 160, 16, "Changes", asLocalChanges)
	Bits(c, &a.CapMask2, 176, 16, "CapabilityMask2", asPortCapMask2)
}

// Layout declares the fields.
func (a *SystemImageNotice) Layout(c *Codec) {
	Bits(c, &a.LID, 96, 16, "LID", Decimal)
	Bits(c, &a.GUID, 128, 64, "SystemGuid", HexString)
}

// Layout declares the fields.
func (a *MKeyNotice) Layout(c *Codec) {
	Bits(c, &a.LID, 96, 16, "LID", Decimal)
	Bits(c, &a.DrSLID, 112, 16, "DrSlid", Decimal)
	Bits(c, &a.Method, 128, 8, "Method", Hex)
	Bits(c, &a.Attr, 144, 16, "AttributeID", Hex)
	Bits(c, &a.Modifier, 160, 32, "AttributeModifier", Hex)
	Bits(c, &a.MKey, 192, 64, "Mkey", Secret)
	Bits(c, &a.Directed, 264, 1, "Directed", Decimal)
	Bits(c, &a.Truncated, 265, 1, "Truncated", Decimal)
	Bits(c, &a.Hops, 266, 6, "Hops", Decimal)
	Array(c, a.ReturnPath[:], 272, 8, "ReturnPath", bars)
}

// Layout declares the fields.
func (a *KeyNotice) Layout(c *Codec) {
	Bits(c, &a.SLID, 96, 16, "Slid", Decimal)
	Bits(c, &a.DLID, 112, 16, "Dlid", Decimal)
	Bits(c, &a.Key, 128, 32, "Key", Hex)
	Bits(c, &a.SL, 160, 4, "SL", Decimal)
	Bits(c, &a.SQP, 168, 24, "SourceQP", Hex)
	Bits(c, &a.DQP, 200, 24, "DestinationQP", Hex)
	Array(c, a.SGID[:], 224, 8, "Sgid", asGID)
	Array(c, a.DGID[:], 352, 8, "Dgid", asGID)
}

// Layout declares the fields.
func (a *SwitchKeyNotice) Layout(c *Codec) {
	Bits(c, &a.Valid, 80, 16, "DataValid", Hex)
	Bits(c, &a.SLID, 96, 16, "Slid", Decimal)
	Bits(c, &a.DLID, 112, 16, "Dlid", Decimal)
	Bits(c, &a.PKey, 128, 16, "Pkey", Hex)
	Bits(c, &a.SL, 144, 4, "SL", Decimal)
	Array(c, a.SQP[:], 152, 8, "SourceQP", bars)
	Array(c, a.DQP[:], 184, 8, "DestinationQP", bars)
	Array(c, a.SGID[:], 208, 8, "Sgid", asGID)
	Array(c, a.DGID[:], 336, 8, "Dgid", asGID)
	Bits(c, &a.LID, 464, 16, "LID", Decimal)
	Bits(c, &a.Port, 480, 8, "Port", Decimal)
}

// detailsOffset is the details' byte offset in a notice.
const detailsOffset = DataSize - len(Notice{}.Details)

// DecodeDetails returns the details in a subnet management notice: a pointer to a
// struct above; nil for a vendor's notice, and for traps without a struct.
func (a *Notice) DecodeDetails() Attribute {
	if a.Generic == 0 {
		return nil
	}
	d := newDetails(a.TrapNumber)
	if d == nil {
		return nil
	}
	var b [DataSize]byte
	copy(b[detailsOffset:], a.Details[:])
	if Decode(d, b[:]) != nil {
		return nil
	}
	return d
}

// EncodeDetails replaces a notice's details. It returns an error if a value does not
// fit its field.
func (a *Notice) EncodeDetails(d Attribute) error {
	var b [DataSize]byte
	if err := Encode(d, b[:]); err != nil {
		return err
	}
	copy(a.Details[:], b[detailsOffset:])
	return nil
}

func newDetails(trap uint16) Attribute {
	switch trap {
	case TrapGIDInService, TrapGIDOutOfService, TrapGroupCreated, TrapGroupDeleted:
		return new(GIDNotice)
	case TrapLinkState:
		return new(SwitchNotice)
	case TrapLinkIntegrity, TrapBufferOverrun, TrapWatchdog:
		return new(PortNotice)
	case TrapCapabilities:
		return new(CapabilityNotice)
	case TrapSystemImageGUID:
		return new(SystemImageNotice)
	case TrapBadMKey:
		return new(MKeyNotice)
	case TrapBadPKey, TrapBadQKey:
		return new(KeyNotice)
	case TrapBadSwitchPKey:
		return new(SwitchKeyNotice)
	}
	return nil
}
