package mad

import "fmt"

// An AttrID names the attribute that a MAD carries. The numbers are local to a
// management class, but for those below 0x10; the constants here are subnet
// management's (InfiniBand Architecture, Volume 1, 14.2.5).
type AttrID uint16

// The attributes of subnet management, and the two that classes share.
const (
	AttrClassPortInfo            AttrID = 0x0001
	AttrNotice                   AttrID = 0x0002
	AttrNodeDescription          AttrID = 0x0010
	AttrNodeInfo                 AttrID = 0x0011
	AttrSwitchInfo               AttrID = 0x0012
	AttrGUIDInfo                 AttrID = 0x0014
	AttrPortInfo                 AttrID = 0x0015
	AttrPKeyTable                AttrID = 0x0016
	AttrSLtoVLMapping            AttrID = 0x0017
	AttrVLArbitration            AttrID = 0x0018
	AttrLinearForwardingTable    AttrID = 0x0019
	AttrMulticastForwardingTable AttrID = 0x001b
	AttrSMInfo                   AttrID = 0x0020
	AttrPortInfoExtended         AttrID = 0x0033
	AttrMlnxExtPortInfo          AttrID = 0xff90 // NVIDIA's, for FDR10
)

// String returns the specification's name of the subnet management attribute.
func (a AttrID) String() string {
	if name, ok := attrNames[a]; ok {
		return name
	}
	return fmt.Sprintf("Attribute(0x%04x)", uint16(a))
}

var attrNames = map[AttrID]string{
	AttrClassPortInfo:            "ClassPortInfo",
	AttrNotice:                   "Notice",
	AttrNodeDescription:          "NodeDescription",
	AttrNodeInfo:                 "NodeInfo",
	AttrSwitchInfo:               "SwitchInfo",
	AttrGUIDInfo:                 "GUIDInfo",
	AttrPortInfo:                 "PortInfo",
	AttrPKeyTable:                "P_KeyTable",
	AttrSLtoVLMapping:            "SLtoVLMappingTable",
	AttrVLArbitration:            "VLArbitrationTable",
	AttrLinearForwardingTable:    "LinearForwardingTable",
	AttrMulticastForwardingTable: "MulticastForwardingTable",
	AttrSMInfo:                   "SMInfo",
	AttrPortInfoExtended:         "PortInfoExtended",
	AttrMlnxExtPortInfo:          "ExtendedPortInfo",
	AttrPathRecord:               "PathRecord",
}
