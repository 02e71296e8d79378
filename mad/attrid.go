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
// [Class.AttrName] knows those of the other classes.
func (a AttrID) String() string { return ClassSMPLIDRouted.AttrName(a) }

// AttrName returns the specification's name of the attribute that has a number
// in the class.
func (c Class) AttrName(id AttrID) string {
	if k, ok := c.attributes()[id]; ok {
		return k.name
	}
	return fmt.Sprintf("Attribute(0x%04x)", uint16(id))
}

// NewAttribute returns an empty attribute of the kind that has a number in the
// class, nil where this package has no such kind.
func (c Class) NewAttribute(id AttrID) Attribute {
	if k := c.attributes()[id]; k.empty != nil {
		return k.empty()
	}
	return nil
}

// attributes returns what is known of the class's attributes.
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
	}
	return nil
}

// An attrKind is one kind of attribute.
type attrKind struct {
	name  string
	empty func() Attribute // nil where there is no struct for it
}

// kind describes the attribute that is in a T.
func kind[T any, A interface {
	*T
	Attribute
}](name string) attrKind {
	return attrKind{name, func() Attribute { return A(new(T)) }}
}

var smpAttributes = map[AttrID]attrKind{
	AttrClassPortInfo:            {name: "ClassPortInfo"},
	AttrNotice:                   {name: "Notice"},
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
	AttrSMInfo:                   kind[SMInfo]("SMInfo"),
	AttrPortInfoExtended:         kind[PortInfoExtended]("PortInfoExtended"),
	AttrMlnxExtPortInfo:          kind[MlnxExtPortInfo]("ExtendedPortInfo"),
}
