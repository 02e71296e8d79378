package mad

import (
	"fmt"
	"slices"
)

// ClassMlnx is NVIDIA's (formerly Mellanox's) class for general management packets, a
// vendor class without an OUI. Only NVIDIA devices give it the meaning in this package:
// check the node's vendor.
const ClassMlnx Class = 0x0a

// VendorMlnx is NVIDIA's vendor ID in [NodeInfo].
const VendorMlnx = 0x0002c9

// Attributes in ClassMlnx. The layouts come from vendstat.c (rdma-core,
// infiniband-diags). Each begins with an 8-byte key, which is 0 unless the subnet
// manager has set a key.
const (
	AttrMlnxGeneralInfo        AttrID = 0x0017
	AttrMlnxConfigSpace        AttrID = 0x0050
	AttrMlnxRegister           AttrID = 0x0051 // see package register
	AttrMlnxCounterGroupInfo   AttrID = 0x0090
	AttrMlnxCounterGroupConfig AttrID = 0x0091
)

var mlnxAttributes = map[AttrID]attrKind{
	AttrClassPortInfo:          kind[ClassPortInfo]("ClassPortInfo"),
	AttrMlnxGeneralInfo:        kind[MlnxGeneralInfo]("GeneralInfo"),
	AttrMlnxConfigSpace:        kind[MlnxConfigSpace]("ConfigSpace"),
	AttrMlnxRegister:           {name: "Register"},
	AttrMlnxRegisterAccess:     {name: "RegisterAccess"},
	AttrMlnxCounterGroupInfo:   kind[MlnxCounterGroupInfo]("CounterGroupInfo"),
	AttrMlnxCounterGroupConfig: kind[MlnxCounterGroupConfig]("CounterGroupConfig"),
}

// MlnxDataSize is the length in bytes of ClassMlnx attribute data, which follow the
// common header.
const MlnxDataSize = Size - headerSize

func mlnxSpec(id AttrID) Spec { return Spec{ClassMlnx, id, MlnxDataSize, 0} }

// A MlnxGeneralInfo identifies a device's hardware and firmware.
type MlnxGeneralInfo struct {
	HWRevision uint16
	DeviceID   uint16
	Uptime     uint32 // seconds

	// The firmware version in a byte per number. Devices with HasExtendedFirmware have
	// the version in ExtMajor, ExtMinor and ExtSubMinor.
	FWMajor, FWMinor, FWSubMinor uint8

	FWBuildID   uint32
	FWMonth     uint8  // two 4-bit decimal digits, as are FWDay and FWYear
	FWDay       uint8  //
	FWYear      uint16 // four digits
	FWHour      uint16
	PSID        [16]uint8 // identifies the board; ASCII, terminated by 0 if it is shorter
	INIVersion  uint32    // configuration version in the firmware
	ExtMajor    uint32    // 0 without HasExtendedFirmware, as are ExtMinor and ExtSubMinor
	ExtMinor    uint32    //
	ExtSubMinor uint32    //

	SWMajor, SWMinor, SWSubMinor uint8 // software version on a switch

	Capabilities uint32 // see MlnxCapRegister
}

// MlnxCapRegister is the bit in [MlnxGeneralInfo.Capabilities] for [AttrMlnxRegister].
const MlnxCapRegister = 1 << 20

// extendedFirmware are the first and the last IDs of devices with a firmware version in
// 32 bits per number (vendstat.c, ext_fw_info_device).
var extendedFirmware = [][2]uint16{
	{0x0245, 0x0245}, {0xc738, 0xc73b}, // SwitchX
	{0xcb20, 0xcb20},                                                       // Switch-IB
	{0xcf08, 0xcf08},                                                       // Switch-IB 2
	{0xd2f0, 0xd2f0},                                                       // Quantum
	{0x01b3, 0x01b3},                                                       // InfiniScale IV
	{0x1003, 0x101b},                                                       // ConnectX-3 to ConnectX-6
	{0xa2d2, 0xa2d2},                                                       // BlueField
	{0x1b02, 0x1b02}, {0x1b33, 0x1b33}, {0x1b40, 0x1b41}, {0x1b50, 0x1b50}, // Bull's versions
	{0x1b60, 0x1b61}, {0x1b73, 0x1b73}, {0x1b83, 0x1b83}, {0x1b93, 0x1b94},
	{0x1ba0, 0x1ba0}, {0x1bb4, 0x1bb5}, {0x1bc4, 0x1bc6}, {0x1bd0, 0x1bd5}, {0x1bf0, 0x1bf0},
}

// HasExtendedFirmware reports whether the device has a firmware version with 32 bits
// per number. It determines the attribute's layout. Devices that are newer than the
// list in rdma-core 64 count as devices without.
func (a *MlnxGeneralInfo) HasExtendedFirmware() bool {
	return slices.ContainsFunc(extendedFirmware, func(r [2]uint16) bool { return r[0] <= a.DeviceID && a.DeviceID <= r[1] })
}

// Firmware returns the firmware version as vendstat prints it: "02.09.1000".
func (a *MlnxGeneralInfo) Firmware() string {
	if a.HasExtendedFirmware() {
		// Signed, as vendstat prints them.
		return fmt.Sprintf("%02d.%02d.%02d", int32(a.ExtMajor), int32(a.ExtMinor), int32(a.ExtSubMinor))
	}
	return fmt.Sprintf("%02d.%02d.%02d", a.FWMajor, a.FWMinor, a.FWSubMinor)
}

// Spec returns the AttrMlnxGeneralInfo spec.
func (*MlnxGeneralInfo) Spec() Spec { return mlnxSpec(AttrMlnxGeneralInfo) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a MlnxGeneralInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *MlnxGeneralInfo) Layout(c *Codec) {
	Bits(c, &a.HWRevision, 64, 16, "HwDevRev", Hex)
	Bits(c, &a.DeviceID, 80, 16, "HwDevId", Hex)
	Bits(c, &a.Uptime, 288, 32, "HwUptime", Decimal)
	Bits(c, &a.FWMajor, 328, 8, "FwMajor", Decimal)
	Bits(c, &a.FWMinor, 336, 8, "FwMinor", Decimal)
	Bits(c, &a.FWSubMinor, 344, 8, "FwSubMinor", Decimal)
	Bits(c, &a.FWBuildID, 352, 32, "FwBuildId", Hex)
	Bits(c, &a.FWMonth, 384, 8, "FwMonth", Hex)
	Bits(c, &a.FWDay, 392, 8, "FwDay", Hex)
	Bits(c, &a.FWYear, 400, 16, "FwYear", Hex)
	Bits(c, &a.FWHour, 432, 16, "FwHour", Hex)
	Array(c, a.PSID[:], 448, 8, "FwPSID", Text)
	Bits(c, &a.INIVersion, 576, 32, "FwIniVer", Decimal)
	software := 608
	if a.HasExtendedFirmware() {
		Bits(c, &a.ExtMajor, 608, 32, "FwExtMajor", Decimal)
		Bits(c, &a.ExtMinor, 640, 32, "FwExtMinor", Decimal)
		Bits(c, &a.ExtSubMinor, 672, 32, "FwExtSubMinor", Decimal)
		software = 832
	} else if c.mode == decoding {
		a.ExtMajor, a.ExtMinor, a.ExtSubMinor = 0, 0, 0
	}
	Bits(c, &a.SWMajor, software+8, 8, "SwMajor", Decimal)
	Bits(c, &a.SWMinor, software+16, 8, "SwMinor", Decimal)
	Bits(c, &a.SWSubMinor, software+24, 8, "SwSubMinor", Decimal)
	Bits(c, &a.Capabilities, 1088, 32, "CapabilityMask", Hex)
}

// A MlnxConfigSpace reads or writes words in a device's configuration space. Its
// addresses are specific to the device. A request has the addresses and, in a Set, data
// and masks; [MlnxConfigSpaceModifier] returns its modifier.
type MlnxConfigSpace struct {
	Records [MlnxConfigRecords]MlnxConfigRecord
}

// MlnxConfigRecords is the maximum word count in a MlnxConfigSpace.
const MlnxConfigRecords = 18

// A MlnxConfigRecord is a word in the configuration space.
type MlnxConfigRecord struct {
	Address uint32 `json:"address"`
	Data    uint32 `json:"data"`
	Mask    uint32 `json:"mask"` // Data bits that a Set writes
}

// MlnxConfigSpaceModifier returns the modifier for a MlnxConfigSpace with the given
// record count, each record with its own address (mode 2).
func MlnxConfigSpaceModifier(records int) uint32 {
	const ownAddresses = 2
	return ownAddresses<<22 | uint32(records)<<16
}

// Spec returns the AttrMlnxConfigSpace spec.
func (*MlnxConfigSpace) Spec() Spec { return mlnxSpec(AttrMlnxConfigSpace) }

// MarshalJSON writes {"records": [{"address": 1048892, ...}, ...]} without the records
// at the end that are 0.
func (a MlnxConfigSpace) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *MlnxConfigSpace) marshal(c *Codec) {
	c.value(struct {
		Records []MlnxConfigRecord `json:"records"`
	}{a.used()})
}

// used returns the records up to the last record that is not 0.
func (a *MlnxConfigSpace) used() []MlnxConfigRecord {
	n := len(a.Records)
	for n > 0 && a.Records[n-1] == (MlnxConfigRecord{}) {
		n--
	}
	return a.Records[:n]
}

// Layout declares the fields.
func (a *MlnxConfigSpace) Layout(c *Codec) {
	for i := range a.Records {
		a.Records[i].fields(c, 64+i*96)
	}
}

func (r *MlnxConfigRecord) fields(c *Codec, at int) {
	Bits(c, &r.Address, at, 32, "Address", Hex)
	Bits(c, &r.Data, at+32, 32, "Data", Hex)
	Bits(c, &r.Mask, at+64, 32, "Mask", Hex)
}

// dump writes the records in use.
func (a *MlnxConfigSpace) dump(c *Codec) {
	var rows []byte
	for i, r := range a.used() {
		rows = fmt.Appendf(rows, "%4d: address 0x%08x data 0x%08x mask 0x%08x\n", i, r.Address, r.Data, r.Mask)
	}
	c.rows(rows)
}

// A MlnxCounterGroupInfo contains the counter groups that can be configured. The
// modifier is the port.
type MlnxCounterGroupInfo struct {
	Groups uint8     // group count
	Masks  [2]uint32 // configurations per group
}

// Spec returns the AttrMlnxCounterGroupInfo spec.
func (*MlnxCounterGroupInfo) Spec() Spec { return mlnxSpec(AttrMlnxCounterGroupInfo) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a MlnxCounterGroupInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *MlnxCounterGroupInfo) Layout(c *Codec) {
	Bits(c, &a.Groups, 88, 8, "CounterGroups", Decimal)
	Array(c, a.Masks[:], 96, 32, "GroupMask", HexLines)
}

// A MlnxCounterGroupConfig selects the counters for each group. The
// modifier is the port.
type MlnxCounterGroupConfig struct {
	Selected [2]uint8
}

// Spec returns the AttrMlnxCounterGroupConfig spec.
func (*MlnxCounterGroupConfig) Spec() Spec { return mlnxSpec(AttrMlnxCounterGroupConfig) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a MlnxCounterGroupConfig) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *MlnxCounterGroupConfig) Layout(c *Codec) {
	Bits(c, &a.Selected[0], 120, 8, "GroupSelect0", Decimal)
	Bits(c, &a.Selected[1], 152, 8, "GroupSelect1", Decimal)
}
