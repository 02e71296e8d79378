package mad

import (
	"fmt"
	"slices"
)

// An AttrID identifies a MAD's attribute within its management class. Numbers below
// 0x10 are common to all classes; the constants here belong to subnet management
// (InfiniBand Architecture, Volume 1, 14.2.5).
type AttrID uint16

// The subnet management attributes, and two common attributes.
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
	AttrHierarchyInfo            AttrID = 0x001e
	AttrSMInfo                   AttrID = 0x0020
	AttrPortInfoExtended         AttrID = 0x0033
	AttrSwitchPortStateTable     AttrID = 0x0034

	// NVIDIA's.
	AttrPrivateLFTInfo          AttrID = 0xff10
	AttrVendorCapabilities      AttrID = 0xff17
	AttrAdaptiveRoutingInfo     AttrID = 0xff20
	AttrARGroupTable            AttrID = 0xff21
	AttrARLinearForwardingTable AttrID = 0xff23
	AttrMlnxConfigSpaceSMP      AttrID = 0xff50 // AttrMlnxConfigSpace in subnet management
	AttrMlnxRegisterAccess      AttrID = 0xff52 // also in [ClassMlnx]
	AttrMlnxSemaphore           AttrID = 0xff53
	AttrMlnxCableInfo           AttrID = 0xff60
	AttrMlnxExtPortInfo         AttrID = 0xff90 // for FDR10
)

// String returns the specification's name for the subnet management attribute. For
// other classes use [Class.AttrName].
func (a AttrID) String() string { return ClassSMPLIDRouted.AttrName(a) }

// AttrName returns the specification's name for an attribute in the class.
func (c Class) AttrName(id AttrID) string {
	if k, ok := c.attributes()[id]; ok {
		return k.name
	}
	return fmt.Sprintf("Attribute(0x%04x)", uint16(id))
}

// NewAttribute returns the class's zero attribute with the given number, nil if this
// package does not implement it.
func (c Class) NewAttribute(id AttrID) Attribute {
	if k := c.attributes()[id]; k.empty != nil {
		return k.empty()
	}
	return nil
}

// attributes returns the attribute kinds in the class.
func (c Class) attributes() map[AttrID]attrKind {
	switch c {
	case ClassSMPLIDRouted, ClassSMPDirected:
		return smpAttributes
	case ClassSA:
		return saAttributes
	case ClassPM:
		return perfAttributes
	case ClassCC:
		return congestionAttributes
	case ClassMlnx:
		return mlnxAttributes
	case ClassSysstat:
		return sysstatAttributes
	}
	return nil
}

// An attrKind is an attribute kind.
type attrKind struct {
	name  string
	empty func() Attribute // nil if there is no struct
}

// kind returns the attribute kind for type T.
func kind[T any, A interface {
	*T
	Attribute
}](name string) attrKind {
	return attrKind{name, func() Attribute { return A(new(T)) }}
}

var smpAttributes = map[AttrID]attrKind{
	AttrClassPortInfo:            {name: "ClassPortInfo"},
	AttrNotice:                   kind[Notice]("Notice"),
	AttrNodeDescription:          kind[NodeDescription]("NodeDescription"),
	AttrNodeInfo:                 kind[NodeInfo]("NodeInfo"),
	AttrSwitchInfo:               kind[SwitchInfo]("SwitchInfo"),
	AttrGUIDInfo:                 kind[GUIDInfo]("GUIDInfo"),
	AttrPortInfo:                 kind[PortInfo]("PortInfo"),
	AttrPKeyTable:                kind[PKeyTable]("P_KeyTable"),
	AttrSLtoVLMapping:            kind[SLtoVLMapping]("SLtoVLMappingTable"),
	AttrVLArbitration:            kind[VLArbitration]("VLArbitrationTable"),
	AttrLinearForwardingTable:    kind[LinearForwardingTable]("LinearForwardingTable"),
	AttrMulticastForwardingTable: kind[MulticastForwardingTable]("MulticastForwardingTable"),
	AttrHierarchyInfo:            kind[HierarchyInfo]("HierarchyInfo"),
	AttrSMInfo:                   kind[SMInfo]("SMInfo"),
	AttrPortInfoExtended:         kind[PortInfoExtended]("PortInfoExtended"),
	AttrSwitchPortStateTable:     kind[SwitchPortStateTable]("SwitchPortStateTable"),
	AttrPrivateLFTInfo:           kind[PrivateLFTInfo]("PrivateLFTInfo"),
	AttrVendorCapabilities:       kind[VendorCapabilities]("VendorCapabilities"),
	AttrAdaptiveRoutingInfo:      kind[AdaptiveRoutingInfo]("AdaptiveRoutingInfo"),
	AttrARGroupTable:             kind[ARGroupTable]("ARGroupTable"),
	AttrARLinearForwardingTable:  kind[ARLinearForwardingTable]("ARLinearForwardingTable"),
	AttrMlnxConfigSpaceSMP:       {name: "ConfigSpace"},
	AttrMlnxRegisterAccess:       {name: "RegisterAccess"},
	AttrMlnxCableInfo:            {name: "CableInfo"},
	AttrMlnxSemaphore:            {name: "Semaphore"},
	AttrMlnxExtPortInfo:          kind[MlnxExtPortInfo]("ExtendedPortInfo"),
}

// Attributes returns the class's attributes that this package
// implements, in number order.
func (c Class) Attributes() []AttrID {
	var ids []AttrID
	for id, k := range c.attributes() {
		if k.empty != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
