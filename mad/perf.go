package mad

// Performance management attributes (InfiniBand Architecture, Volume 1, 16.1.3; A13 for
// congestion). Other classes use the same numbers for other attributes.
const (
	AttrPortSamplesControl            AttrID = 0x0010
	AttrPortCounters                  AttrID = 0x0012
	AttrPortRcvErrorDetails           AttrID = 0x0015
	AttrPortXmitDiscardDetails        AttrID = 0x0016
	AttrPortOpRcvCounters             AttrID = 0x0017
	AttrPortFlowCtlCounters           AttrID = 0x0018
	AttrPortVLOpPackets               AttrID = 0x0019
	AttrPortVLOpData                  AttrID = 0x001a
	AttrPortVLXmitFlowCtlUpdateErrors AttrID = 0x001b
	AttrPortVLXmitWaitCounters        AttrID = 0x001c
	AttrPortCountersExtended          AttrID = 0x001d
	AttrPortExtendedSpeedsCounters    AttrID = 0x001f
	AttrSwPortVLCongestion            AttrID = 0x0030
	AttrPortRcvConCtrl                AttrID = 0x0031
	AttrPortSLRcvFECN                 AttrID = 0x0032
	AttrPortSLRcvBECN                 AttrID = 0x0033
	AttrPortXmitConCtrl               AttrID = 0x0034
	AttrPortVLXmitTimeCong            AttrID = 0x0035
	AttrPortXmitDataSL                AttrID = 0x0036
	AttrPortRcvDataSL                 AttrID = 0x0037
)

var perfAttributes = map[AttrID]attrKind{
	AttrClassPortInfo:                 kind[ClassPortInfo]("ClassPortInfo"),
	AttrPortSamplesControl:            kind[PortSamplesControl]("PortSamplesControl"),
	AttrPortCounters:                  kind[PortCounters]("PortCounters"),
	AttrPortRcvErrorDetails:           kind[PortRcvErrorDetails]("PortRcvErrorDetails"),
	AttrPortXmitDiscardDetails:        kind[PortXmitDiscardDetails]("PortXmitDiscardDetails"),
	AttrPortOpRcvCounters:             kind[PortOpRcvCounters]("PortOpRcvCounters"),
	AttrPortFlowCtlCounters:           kind[PortFlowCtlCounters]("PortFlowCtlCounters"),
	AttrPortVLOpPackets:               kind[PortVLOpPackets]("PortVLOpPackets"),
	AttrPortVLOpData:                  kind[PortVLOpData]("PortVLOpData"),
	AttrPortVLXmitFlowCtlUpdateErrors: kind[PortVLXmitFlowCtlUpdateErrors]("PortVLXmitFlowCtlUpdateErrors"),
	AttrPortVLXmitWaitCounters:        kind[PortVLXmitWaitCounters]("PortVLXmitWaitCounters"),
	AttrPortCountersExtended:          kind[PortCountersExtended]("PortCountersExtended"),
	AttrPortExtendedSpeedsCounters:    kind[PortExtendedSpeedsCounters]("PortExtendedSpeedsCounters"),
	AttrSwPortVLCongestion:            kind[SwPortVLCongestion]("SwPortVLCongestion"),
	AttrPortRcvConCtrl:                kind[PortRcvConCtrl]("PortRcvConCtrl"),
	AttrPortSLRcvFECN:                 kind[PortSLRcvFECN]("PortSLRcvFECN"),
	AttrPortSLRcvBECN:                 kind[PortSLRcvBECN]("PortSLRcvBECN"),
	AttrPortXmitConCtrl:               kind[PortXmitConCtrl]("PortXmitConCtrl"),
	AttrPortVLXmitTimeCong:            kind[PortVLXmitTimeCong]("PortVLXmitTimeCong"),
	AttrPortXmitDataSL:                kind[PortXmitDataSL]("PortXmitDataSL"),
	AttrPortRcvDataSL:                 kind[PortRcvDataSL]("PortRcvDataSL"),
}

func perfSpec(id AttrID) Spec { return Spec{ClassPM, id, PerfDataSize, 0} }

// AllPorts is the PortSelect for the sums over all ports on a node, or in a Set for
// each port. Only agents with [PerfAllPortSelect] support it.
const AllPorts = 0xff

// A PortSelection is the start of each attribute with port counters: the port and, in a
// Set, the counters to clear.
type PortSelection struct {
	PortSelect    uint8  // a number, or AllPorts
	CounterSelect uint16 // a bit per counter, in their order
}

func (a *PortSelection) selection(c *Codec) {
	Bits(c, &a.PortSelect, 8, 8, "PortSelect", Decimal)
	Bits(c, &a.CounterSelect, 16, 16, "CounterSelect", Hex)
}
