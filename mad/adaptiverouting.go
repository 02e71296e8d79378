package mad

import (
	"fmt"
	"strconv"
)

// NVIDIA's subnet management attributes have the layouts of the C structs
// in NVIDIA's opensm (ib_types.h). It does not document the table modifiers: the
// comments state how this package's users fill them in.

// A VendorCapabilities is the set of NVIDIA attributes and features that a node
// supports (ib_general_info_smp_t). The modifier is VendorCapabilitiesModifier.
type VendorCapabilities struct {
	Mask [4]uint32
}

// VendorCapabilitiesModifier selects the capabilities; other modifiers select the
// hardware and firmware versions.
const VendorCapabilitiesModifier = 4

// A VendorCap is a capability number.
type VendorCap uint8

// The capabilities that this module uses.
const (
	VendorCapPrivateLFT         VendorCap = 0
	VendorCapAdaptiveRoutingRev VendorCap = 2 // with [ARLinearForwardingTable]
)

// Has reports whether a node has a capability.
func (a *VendorCapabilities) Has(v VendorCap) bool {
	return int(v/32) < len(a.Mask) && a.Mask[v/32]>>(v%32)&1 != 0
}

// Add adds a capability.
func (a *VendorCapabilities) Add(v VendorCap) { a.Mask[v/32] |= 1 << (v % 32) }

// Spec returns the AttrVendorCapabilities spec.
func (*VendorCapabilities) Spec() Spec { return smpSpec(AttrVendorCapabilities) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a VendorCapabilities) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *VendorCapabilities) Layout(c *Codec) {
	Array(c, a.Mask[:], 0, 32, "CapabilityMask", HexLines)
}

// A PrivateLFTInfo describes a switch's private forwarding tables, which replace the
// common table for some ports and service levels (ib_plft_info_t).
type PrivateLFTInfo struct {
	Tables     uint8 // private table count; 0: 36
	ModeCap    uint8 // mode count
	ActiveMode uint8 // 0: private tables are not in use
	Modes      [7]PrivateLFTMode
}

// A PrivateLFTMode divides the private tables into banks.
type PrivateLFTMode struct {
	Size  uint8 `json:"size"`  // bank size in units of 1,024 LIDs
	Banks uint8 `json:"banks"` // bank count
}

// Spec returns the AttrPrivateLFTInfo spec.
func (*PrivateLFTInfo) Spec() Spec { return smpSpec(AttrPrivateLFTInfo) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a PrivateLFTInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *PrivateLFTInfo) marshal(c *Codec) {
	c.value(struct {
		Tables     uint8            `json:"num_of_plfts"`
		ModeCap    uint8            `json:"mode_cap"`
		ActiveMode uint8            `json:"active_mode"`
		Modes      []PrivateLFTMode `json:"modes"`
	}{a.Tables, a.ModeCap, a.ActiveMode, a.Modes[:]})
}

// Layout declares the fields.
func (a *PrivateLFTInfo) Layout(c *Codec) {
	Bits(c, &a.Tables, 8, 8, "NumOfPLFTs", Decimal)
	Bits(c, &a.ModeCap, 16, 8, "ModeCap", Decimal)
	Bits(c, &a.ActiveMode, 24, 8, "ActiveMode", Decimal)
	for i := range a.Modes {
		Bits(c, &a.Modes[i].Size, 32+i*16, 8, "BankSize"+strconv.Itoa(i), Decimal)
		Bits(c, &a.Modes[i].Banks, 40+i*16, 8, "NumOfBanks"+strconv.Itoa(i), Decimal)
	}
}

// An AdaptiveRoutingInfo contains a switch's adaptive routing capabilities and
// settings (ib_ar_info_t). With adaptive routing, a switch selects a packet's
// output port from a group.
type AdaptiveRoutingInfo struct {
	// Capabilities and modes, 1 bit each.
	DynamicCap         uint8
	ByTransportCap     uint8
	BySLEnabled        uint8 // 1: only service levels in EnableBySL use adaptive routing
	BySLCap            uint8
	GlobalGroups       uint8
	IS4Mode            uint8
	NoFallback         uint8
	DirectionsCap      uint8 // 8 bits; direction count
	GroupTableCopyCap  uint8 // 4 bits
	SubGroupsActive    uint8 // 4 bits
	RNXmitEnabled      uint8 // routing notifications
	FREnabled          uint8 // fault routing, with its capability and its notification capability
	FRCap              uint8
	FRNCap             uint8
	ARNCap             uint8
	Enabled            uint8  // 1: adaptive routing is on
	StringWidthCap     uint8  // 4 bits
	GroupTableCap      uint8  // 4 bits
	GroupTop           uint16 // 12 bits; highest group number in use
	GroupCap           uint16 // 12 bits; group count
	EnableBySL         uint16 // service level bit mask
	SubGroupsCap       uint8
	RNVersionCap       uint8  // 4 bits
	ARVersionCap       uint8  // 4 bits
	ByTransportDisable uint8  // bit mask: transports without adaptive routing
	AgeingTime         uint32 // µs
	Cap1               uint8  // bit mask: further capabilities
	Enabled1           uint8  // bit mask: further features that are on
	WHBFGranularity    uint8  // 3 bits
	EnableBySLHBF      uint16 // bit mask: service levels with hash-based forwarding
}

// Spec returns the AttrAdaptiveRoutingInfo spec.
func (*AdaptiveRoutingInfo) Spec() Spec { return smpSpec(AttrAdaptiveRoutingInfo) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a AdaptiveRoutingInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *AdaptiveRoutingInfo) Layout(c *Codec) {
	Bits(c, &a.Enabled, 31, 1, "Enabled", Decimal)
	Bits(c, &a.NoFallback, 7, 1, "NoFallback", Decimal)
	Bits(c, &a.IS4Mode, 6, 1, "IS4Mode", Decimal)
	Bits(c, &a.GlobalGroups, 5, 1, "GlobalGroups", Decimal)
	Bits(c, &a.BySLCap, 4, 1, "BySLCap", Decimal)
	Bits(c, &a.BySLEnabled, 3, 1, "BySLEnabled", Decimal)
	Bits(c, &a.ByTransportCap, 2, 1, "ByTransportCap", Decimal)
	Bits(c, &a.DynamicCap, 1, 1, "DynamicCapCalc", Decimal)
	Bits(c, &a.DirectionsCap, 8, 8, "DirectionNumSupported", Decimal)
	Bits(c, &a.GroupTableCopyCap, 16, 4, "GroupTableCopySupported", Decimal)
	Bits(c, &a.SubGroupsActive, 20, 4, "SubGroupsActive", Decimal)
	Bits(c, &a.ARNCap, 30, 1, "ARNSupported", Decimal)
	Bits(c, &a.FRNCap, 29, 1, "FRNSupported", Decimal)
	Bits(c, &a.FRCap, 28, 1, "FRSupported", Decimal)
	Bits(c, &a.FREnabled, 27, 1, "FREnabled", Decimal)
	Bits(c, &a.RNXmitEnabled, 26, 1, "RNXmitEnabled", Decimal)
	Bits(c, &a.StringWidthCap, 32, 4, "StringWidthCap", Decimal)
	Bits(c, &a.GroupTableCap, 36, 4, "GroupTableCap", Decimal)
	Bits(c, &a.GroupTop, 40, 12, "GroupTop", Decimal)
	Bits(c, &a.GroupCap, 52, 12, "GroupCap", Decimal)
	Bits(c, &a.EnableBySL, 64, 16, "EnableBySLMask", Hex)
	Bits(c, &a.SubGroupsCap, 80, 8, "SubGroupsSupported", Decimal)
	Bits(c, &a.RNVersionCap, 88, 4, "RNVersionCap", Decimal)
	Bits(c, &a.ARVersionCap, 92, 4, "ARVersionCap", Decimal)
	Bits(c, &a.ByTransportDisable, 120, 8, "ByTransportDisable", Hex)
	Bits(c, &a.AgeingTime, 128, 32, "AgeingTime", Decimal)
	Bits(c, &a.Cap1, 160, 8, "CapFields1", Hex)
	Bits(c, &a.Enabled1, 176, 8, "EnableFeatures1", Hex)
	Bits(c, &a.WHBFGranularity, 192, 3, "WHBFGranularity", Decimal)
	Bits(c, &a.EnableBySLHBF, 208, 16, "EnableBySLMaskHBF", Hex)
}

// An ARGroupTable is a block of a switch's output port groups (ib_ar_group_table_t).
// The modifier is the block number. A block has two subgroups.
type ARGroupTable struct {
	SubGroups [2]PortMask
}

// Spec returns the AttrARGroupTable spec.
func (*ARGroupTable) Spec() Spec { return smpSpec(AttrARGroupTable) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a ARGroupTable) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *ARGroupTable) Layout(c *Codec) {
	Array(c, a.SubGroups[0][:], 0, 8, "SubGroup0", portSet)
	Array(c, a.SubGroups[1][:], 256, 8, "SubGroup1", portSet)
}

// An ARLinearForwardingTable is a block of a switch's group table by LID (ib_ar_lft_t).
// The modifier is the block number.
type ARLinearForwardingTable struct {
	Entries [16]ARForwarding
}

// An ARForwarding is a LID's next hop.
type ARForwarding struct {
	State ARState `json:"lid_state"` // 2 bits
	Table uint8   `json:"table"`     // 4 bits; group table number
	Port  uint8   `json:"port"`      // output port without adaptive routing
	Group uint16  `json:"group"`     // ports for adaptive routing
}

// An ARState is the adaptive routing use for a LID.
type ARState uint8

// The states. ARBounded restricts the port choice for packets in sequence.
const (
	ARBounded ARState = iota
	ARFree
	ARStatic
)

var arStates = names{"bounded", "free", "static"}

// String returns the state's name, "?(3)" for an undefined state.
func (s ARState) String() string { return arStates.text(uint64(s)) }

// Spec returns the AttrARLinearForwardingTable spec.
func (*ARLinearForwardingTable) Spec() Spec { return smpSpec(AttrARLinearForwardingTable) }

// MarshalJSON writes {"entries": [{"lid_state": 1, ...}, ...]}.
func (a ARLinearForwardingTable) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *ARLinearForwardingTable) marshal(c *Codec) {
	c.value(struct {
		Entries []ARForwarding `json:"entries"`
	}{a.Entries[:]})
}

// Layout declares the fields.
func (a *ARLinearForwardingTable) Layout(c *Codec) {
	for i := range a.Entries {
		e, at := &a.Entries[i], i*32
		Bits(c, &e.State, at, 2, "LidState", Decimal)
		Bits(c, &e.Table, at+4, 4, "TableNumber", Decimal)
		Bits(c, &e.Port, at+8, 8, "DefaultPort", Decimal)
		Bits(c, &e.Group, at+16, 16, "GroupNumber", Decimal)
	}
}

// dump writes a row per LID, numbered from 0 in each block.
func (a *ARLinearForwardingTable) dump(c *Codec) {
	var rows []byte
	for i, e := range a.Entries {
		rows = fmt.Appendf(rows, "%4d: %-7v port %3d group %4d table %2d\n", i, e.State, e.Port, e.Group, e.Table)
	}
	c.rows(rows)
}
