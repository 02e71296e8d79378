package mad

import "strconv"

// A PortCapMask is PortInfo's CapabilityMask (InfiniBand Architecture,
// Volume 1, 14.2.5.6).
type PortCapMask uint32

// The capabilities.
const (
	CapSM                       PortCapMask = 1 << 1 // a subnet manager runs here
	CapNotice                   PortCapMask = 1 << 2
	CapTrap                     PortCapMask = 1 << 3
	CapOptionalIPD              PortCapMask = 1 << 4
	CapAutomaticMigration       PortCapMask = 1 << 5
	CapSLMapping                PortCapMask = 1 << 6
	CapMKeyNVRAM                PortCapMask = 1 << 7
	CapPKeyNVRAM                PortCapMask = 1 << 8
	CapLEDInfo                  PortCapMask = 1 << 9
	CapSMDisabled               PortCapMask = 1 << 10
	CapSystemImageGUID          PortCapMask = 1 << 11
	CapPKeySwitchExtPortTrap    PortCapMask = 1 << 12
	CapCableInfo                PortCapMask = 1 << 13
	CapExtendedSpeeds           PortCapMask = 1 << 14 // the fields LinkSpeedExt… are valid
	CapCapMask2                 PortCapMask = 1 << 15 // the field CapabilityMask2 is valid
	CapCommunicationManagement  PortCapMask = 1 << 16
	CapSNMPTunneling            PortCapMask = 1 << 17
	CapReinit                   PortCapMask = 1 << 18
	CapDeviceManagement         PortCapMask = 1 << 19
	CapVendorClass              PortCapMask = 1 << 20
	CapDRNotice                 PortCapMask = 1 << 21
	CapCapMaskNotice            PortCapMask = 1 << 22
	CapBootManagement           PortCapMask = 1 << 23
	CapLinkRoundTripLatency     PortCapMask = 1 << 24
	CapClientReregistration     PortCapMask = 1 << 25
	CapOtherLocalChangesNotice  PortCapMask = 1 << 26
	CapLinkSpeedWidthPairsTable PortCapMask = 1 << 27
	CapVendorSpecificMADsTable  PortCapMask = 1 << 28
	CapMcastPKeyTrapSuppression PortCapMask = 1 << 29
	CapMulticastFDBTop          PortCapMask = 1 << 30
	CapHierarchyInfo            PortCapMask = 1 << 31
)

// Has reports whether all of bits are set.
func (m PortCapMask) Has(bits PortCapMask) bool { return m&bits == bits }

// Names returns the set capabilities by name, lowest bit first.
func (m PortCapMask) Names() []string { return portCapNames.of(uint64(m)) }

// A PortCapMask2 is PortInfo's CapabilityMask2. It is valid only if CapCapMask2 is
// set.
type PortCapMask2 uint16

// The capabilities in the second mask.
const (
	Cap2SetNodeDescription   PortCapMask2 = 1 << 0
	Cap2PortInfoExtended     PortCapMask2 = 1 << 1
	Cap2Virtualization       PortCapMask2 = 1 << 2
	Cap2SwitchPortStateTable PortCapMask2 = 1 << 3
	Cap2LinkWidth2X          PortCapMask2 = 1 << 4
	Cap2LinkSpeedHDR         PortCapMask2 = 1 << 5
	Cap2MKeyProtectBitsExt   PortCapMask2 = 1 << 6
	Cap2EnhancedTrap128      PortCapMask2 = 1 << 7
	Cap2PartitionTop         PortCapMask2 = 1 << 8
	Cap2EnhancedQoSArbiter   PortCapMask2 = 1 << 9
	Cap2LinkSpeedNDR         PortCapMask2 = 1 << 10
	Cap2ExtendedSpeeds2      PortCapMask2 = 1 << 11 // the fields LinkSpeedExt2… are valid
	Cap2LinkSpeedXDR         PortCapMask2 = 1 << 12
)

// Has reports whether all of bits are set.
func (m PortCapMask2) Has(bits PortCapMask2) bool { return m&bits == bits }

// Names returns the set capabilities by name, lowest bit first.
func (m PortCapMask2) Names() []string { return portCap2Names.of(uint64(m)) }

// capNames are a capability mask's bit names.
type capNames []struct{ name, classic string }

// A bit that the classic dump omits.
const notDumped = ""

var portCapNames = capNames{
	{},
	same("IsSM"),
	same("IsNoticeSupported"),
	same("IsTrapSupported"),
	same("IsOptionalIPDSupported"),
	same("IsAutomaticMigrationSupported"),
	same("IsSLMappingSupported"),
	same("IsMKeyNVRAM"),
	same("IsPKeyNVRAM"),
	same("IsLedInfoSupported"),
	same("IsSMdisabled"),
	same("IsSystemImageGUIDsupported"),
	same("IsPkeySwitchExternalPortTrapSupported"),
	{"IsCableInfoSupported", notDumped},
	same("IsExtendedSpeedsSupported"),
	same("IsCapabilityMask2Supported"),
	{"IsCommunicationManagementSupported", "IsCommunicatonManagementSupported"},
	same("IsSNMPTunnelingSupported"),
	same("IsReinitSupported"),
	same("IsDeviceManagementSupported"),
	same("IsVendorClassSupported"),
	same("IsDRNoticeSupported"),
	same("IsCapabilityMaskNoticeSupported"),
	same("IsBootManagementSupported"),
	same("IsLinkRoundTripLatencySupported"),
	same("IsClientRegistrationSupported"),
	same("IsOtherLocalChangesNoticeSupported"),
	same("IsLinkSpeedWidthPairsTableSupported"),
	same("IsVendorSpecificMadsTableSupported"),
	same("IsMcastPkeyTrapSuppressionSupported"),
	same("IsMulticastFDBTopSupported"),
	same("IsHierarchyInfoSupported"),
}

var portCap2Names = capNames{
	same("IsSetNodeDescriptionSupported"),
	same("IsPortInfoExtendedSupported"),
	same("IsVirtualizationSupported"),
	same("IsSwitchPortStateTableSupported"),
	same("IsLinkWidth2xSupported"),
	same("IsLinkSpeedHDRSupported"),
	same("IsMKeyProtectBitsExtSupported"),
	same("IsEnhancedTrap128Supported"),
	same("IsPartitionTopSupported"),
	same("IsEnhancedQoSArbiterSupported"),
	same("IsLinkSpeedNDRSupported"),
	{"IsExtendedSpeeds2Supported", notDumped},
	{"IsLinkSpeedXDRSupported", notDumped},
}

func same(name string) struct{ name, classic string } {
	return struct{ name, classic string }{name, name}
}

// of returns the names of the bits in v that have a name.
func (c capNames) of(v uint64) []string {
	var s []string
	for bit, n := range c {
		if v&(1<<bit) != 0 && n.name != "" {
			s = append(s, n.name)
		}
	}
	return s
}

// dump returns the mask and, on the next lines, the bits with classic names.
func (c capNames) dump(v uint64) string {
	b := strconv.AppendUint([]byte("0x"), v, 16)
	for bit, n := range c {
		if v&(1<<bit) != 0 && n.classic != notDumped {
			b = append(append(b, "\n\t\t\t\t"...), n.classic...)
		}
	}
	return string(b)
}

var (
	asPortCapMask  = mask(portCapNames.of, portCapNames.dump)
	asPortCapMask2 = mask(portCap2Names.of, portCap2Names.dump)
)
