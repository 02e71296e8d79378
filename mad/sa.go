package mad

// Subnet administration attributes (InfiniBand Architecture, Volume 1, 15.2.5). Their
// numbers mean something else in other classes.
const (
	AttrNodeRecord                     AttrID = 0x0011
	AttrPortInfoRecord                 AttrID = 0x0012
	AttrSLtoVLMappingTableRecord       AttrID = 0x0013
	AttrSwitchInfoRecord               AttrID = 0x0014
	AttrLinearForwardingTableRecord    AttrID = 0x0015
	AttrMulticastForwardingTableRecord AttrID = 0x0017
	AttrSMInfoRecord                   AttrID = 0x0018
	AttrLinkRecord                     AttrID = 0x0020
	AttrGUIDInfoRecord                 AttrID = 0x0030
	AttrServiceRecord                  AttrID = 0x0031
	AttrPKeyTableRecord                AttrID = 0x0033
	AttrPathRecord                     AttrID = 0x0035
	AttrVLArbitrationTableRecord       AttrID = 0x0036
	AttrMCMemberRecord                 AttrID = 0x0038
	AttrInformInfoRecord               AttrID = 0x00f3

	attrInformInfo AttrID = 0x0003
)

var saAttributes = map[AttrID]attrKind{
	AttrClassPortInfo:                  kind[ClassPortInfo]("ClassPortInfo"),
	AttrNotice:                         kind[Report]("Notice"),
	attrInformInfo:                     kind[InformInfo]("InformInfo"),
	AttrNodeRecord:                     kind[NodeRecord]("NodeRecord"),
	AttrPortInfoRecord:                 kind[PortInfoRecord]("PortInfoRecord"),
	AttrSLtoVLMappingTableRecord:       kind[SLtoVLMappingTableRecord]("SLtoVLMappingTableRecord"),
	AttrSwitchInfoRecord:               kind[SwitchInfoRecord]("SwitchInfoRecord"),
	AttrLinearForwardingTableRecord:    kind[LinearForwardingTableRecord]("LinearForwardingTableRecord"),
	AttrMulticastForwardingTableRecord: kind[MulticastForwardingTableRecord]("MulticastForwardingTableRecord"),
	AttrSMInfoRecord:                   kind[SMInfoRecord]("SMInfoRecord"),
	AttrLinkRecord:                     kind[LinkRecord]("LinkRecord"),
	AttrGUIDInfoRecord:                 kind[GUIDInfoRecord]("GUIDInfoRecord"),
	AttrServiceRecord:                  kind[ServiceRecord]("ServiceRecord"),
	AttrPKeyTableRecord:                kind[PKeyTableRecord]("P_KeyTableRecord"),
	AttrPathRecord:                     kind[PathRecord]("PathRecord"),
	AttrVLArbitrationTableRecord:       kind[VLArbitrationTableRecord]("VLArbitrationTableRecord"),
	AttrMCMemberRecord:                 kind[MCMemberRecord]("MCMemberRecord"),
	AttrInformInfoRecord:               kind[InformInfoRecord]("InformInfoRecord"),
}

// SARecordOffset returns the distance between records in an answer, in the unit of
// [SAHeader]'s AttributeOffset.
func SARecordOffset(record Attribute) uint16 { return uint16((record.Spec().Size + 7) / 8) }

func saSpec(id AttrID, size int) Spec { return Spec{ClassSA, id, size, 0} }
