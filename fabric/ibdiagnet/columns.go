package ibdiagnet

import (
	"fmt"
	"strconv"

	"github.com/ibkit/ibkit/mad"
)

// A column is a column with a number from an attribute.
type column struct {
	name  string
	field string // name in [mad.Visit]; "" for a column without a known value
	width int    // hexadecimal digit count; 0: decimal
}

// The section columns, in ibdiagnet 2.10's order. Their names and number forms are as
// file parsers expect; see the tests.
var (
	nodeColumns = []column{
		{"NumPorts", "NumPorts", 0}, {"NodeType", "NodeType", 0}, {"ClassVersion", "ClassVers", 0}, {"BaseVersion", "BaseVers", 0},
		{"SystemImageGUID", "SystemGuid", 16}, {"NodeGUID", "Guid", 16}, {"PortGUID", "PortGuid", 16},
		{"DeviceID", "DevId", 0}, {"PartitionCap", "PartCap", 0}, {"revision", "Revision", 0}, {"VendorID", "VendorId", 0}, {"LocalPortNum", "LocalPort", 0},
	}
	portColumns = []column{
		{"MKey", "Mkey", 16}, {"GIDPrfx", "GidPrefix", 16}, {"MSMLID", "SMLid", 0}, {"LID", "Lid", 0}, {"CapMsk", "CapMask", 0},
		{"M_KeyLeasePeriod", "MkeyLeasePeriod", 0}, {"DiagCode", "DiagCode", 0},
		{"LinkWidthActv", "LinkWidthActive", 0}, {"LinkWidthSup", "LinkWidthSupported", 0}, {"LinkWidthEn", "LinkWidthEnabled", 0},
		{"LocalPortNum", "LocalPort", 0}, {speedEnabled, "", 0}, {speedActive, "", 0}, {"LMC", "LMC", 0}, {"MKeyProtBits", "ProtectBits", 0},
		{"LinkDownDefState", "LinkDownDefState", 0}, {"PortPhyState", "PhysLinkState", 0}, {"PortState", "LinkState", 0}, {speedSupported, "", 0},
		{"VLArbHighCap", "VLArbHighCap", 0}, {"VLHighLimit", "VLHighLimit", 0}, {"InitType", "InitType", 0}, {"VLCap", "VLCap", 0},
		{"MSMSL", "SMSL", 0}, {"NMTU", "NeighborMTU", 0}, {"FilterRawOutb", "FilterRawOutb", 0}, {"FilterRawInb", "FilterRawInb", 0},
		{"PartEnfOutb", "PartEnforceOutb", 0}, {"PartEnfInb", "PartEnforceInb", 0}, {"OpVLs", "OperVLs", 0}, {"HoQLife", "HoqLife", 0},
		{"VLStallCnt", "VLStallCount", 0}, {"MTUCap", "MtuCap", 0}, {"InitTypeReply", "InitReply", 0}, {"VLArbLowCap", "VLArbLowCap", 0},
		{"PKeyViolations", "PkeyViolations", 0}, {"MKeyViolations", "MkeyViolations", 0}, {"SubnTmo", "SubnetTimeout", 0},
		{"MulticastPKeyTrapSuppressionEnabled", "McastPkeyTrapSuppressionEnabled", 0}, {"ClientReregister", "ClientReregister", 0},
		{"GUIDCap", "GuidCap", 0}, {"QKeyViolations", "QkeyViolations", 0}, {"MaxCreditHint", "MaxCreditHint", 0},
		{"OverrunErrs", "OverrunErr", 0}, {"LocalPhyError", "LocalPhysErr", 0}, {"RespTimeValue", "RespTimeVal", 0},
		{"LinkRoundTripLatency", "RoundTrip", 0}, {"OOOSLMask", "", 0}, {"CapMsk2", "CapabilityMask2", 0}, {"FECActv", "", 0}, {"RetransActv", "", 0},
	}
	switchColumns = []column{
		{"LinearFDBCap", "LinearFdbCap", 0}, {"RandomFDBCap", "RandomFdbCap", 0}, {"MCastFDBCap", "McastFdbCap", 0},
		{"LinearFDBTop", "LinearFdbTop", 0}, {"DefPort", "DefPort", 0}, {"DefMCastPriPort", "DefMcastPrimPort", 0},
		{"DefMCastNotPriPort", "DefMcastNotPrimPort", 0}, {"LifeTimeValue", "LifeTime", 0}, {"PortStateChange", "StateChange", 0},
		{"OptimizedSLVLMapping", "OptSLtoVLMapping", 0}, {"LidsPerPort", "LidsPerPort", 0}, {"PartEnfCap", "PartEnforceCap", 0},
		{"InbEnfCap", "InboundPartEnf", 0}, {"OutbEnfCap", "OutboundPartEnf", 0}, {"FilterRawInbCap", "FilterRawInbound", 0},
		{"FilterRawOutbCap", "FilterRawOutbound", 0}, {"ENP0", "EnhancedPort0", 0}, {"MCastFDBTop", "MulticastFDBTop", 0},
	}
)

// The speed columns, which combine the field groups in PortInfo and in NVIDIA's
// ExtendedPortInfo: a byte each (IBLinkSpeed in ibutils, ibdm/Fabric.h).
const (
	speedEnabled   = "LinkSpeedEn"
	speedActive    = "LinkSpeedActv"
	speedSupported = "LinkSpeedSup"

	shiftExt  = 8
	shiftMlnx = 16
	shiftExt2 = 24
)

// values returns an attribute's fields by name.
func values(a mad.Attribute, into map[string]uint64) {
	clear(into)
	mad.Visit(a, func(name string, _ int, v uint64) uint64 {
		into[name] = v
		return v
	})
}

// append appends a column's value, in an attribute's fields.
func (c *column) append(b []byte, fields map[string]uint64) []byte {
	v, ok := fields[c.field]
	switch {
	case !ok:
		return append(b, absent...)
	case c.width > 0:
		return fmt.Appendf(b, "0x%0*x", c.width, v)
	}
	return strconv.AppendUint(b, v, 10)
}

// header returns column names, after other names.
func header(first string, columns []column) string {
	for _, c := range columns {
		first += "," + c.name
	}
	return first
}

// speeds returns the speed columns' values.
func speeds(i *mad.PortInfo, x *mad.MlnxExtPortInfo) (enabled, active, supported uint64) {
	enabled = uint64(i.LinkSpeedEnabled) | uint64(i.LinkSpeedExtEnabled)<<shiftExt | uint64(i.LinkSpeedExt2Enabled)<<shiftExt2
	supported = uint64(i.LinkSpeedSupported) | uint64(i.LinkSpeedExtSupported)<<shiftExt | uint64(i.LinkSpeedExt2Supported)<<shiftExt2
	if x != nil {
		enabled |= uint64(x.LinkSpeedEnabled) << shiftMlnx
		supported |= uint64(x.LinkSpeedSupported) << shiftMlnx
	}
	// The active speed is a single speed: the newest group's speed.
	switch {
	case i.LinkSpeedExt2Active != 0:
		active = uint64(i.LinkSpeedExt2Active) << shiftExt2
	case i.LinkSpeedExtActive != 0:
		active = uint64(i.LinkSpeedExtActive) << shiftExt
	case x != nil && x.LinkSpeedActive != 0:
		active = uint64(x.LinkSpeedActive) << shiftMlnx
	default:
		active = uint64(i.LinkSpeedActive)
	}
	return enabled, active, supported
}

// setSpeeds is the reverse of speeds. It returns nil without ExtendedPortInfo speeds.
// For an active speed in a newer group, the original group has the value for QDR.
func setSpeeds(i *mad.PortInfo, enabled, active, supported uint64) *mad.MlnxExtPortInfo {
	group := func(v uint64, shift int) uint8 { return uint8(v >> shift) }
	i.LinkSpeedEnabled = mad.LinkSpeed(group(enabled, 0))
	i.LinkSpeedExtEnabled, i.LinkSpeedExt2Enabled = mad.LinkSpeedExt(group(enabled, shiftExt)), mad.LinkSpeedExt2(group(enabled, shiftExt2))
	i.LinkSpeedSupported = mad.LinkSpeed(group(supported, 0))
	i.LinkSpeedExtSupported, i.LinkSpeedExt2Supported = mad.LinkSpeedExt(group(supported, shiftExt)), mad.LinkSpeedExt2(group(supported, shiftExt2))
	i.LinkSpeedActive = mad.LinkSpeed(group(active, 0))
	i.LinkSpeedExtActive, i.LinkSpeedExt2Active = mad.LinkSpeedExt(group(active, shiftExt)), mad.LinkSpeedExt2(group(active, shiftExt2))
	if active != 0 && i.LinkSpeedActive == 0 {
		const qdr = 4
		i.LinkSpeedActive = qdr
	}
	if group(enabled|active|supported, shiftMlnx) == 0 {
		return nil
	}
	return &mad.MlnxExtPortInfo{
		LinkSpeedSupported: mad.MlnxLinkSpeed(group(supported, shiftMlnx)),
		LinkSpeedEnabled:   mad.MlnxLinkSpeed(group(enabled, shiftMlnx)),
		LinkSpeedActive:    mad.MlnxLinkSpeed(group(active, shiftMlnx)),
	}
}
