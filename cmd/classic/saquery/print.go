package saquery

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/shared/portdump"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Name widths, with the dots.
const (
	short  = 22 // SMInfo records
	normal = 24
	long   = 27 // tables
	widest = 40 // SwitchInfo records
)

func (q *query) title(s string) { q.out.WriteString(s + "\n") }

// nodeTypes are node type names.
var nodeTypes = [...]string{"UNKNOWN", "Channel Adapter", "Switch", "Router"}

func nodeType(t mad.NodeType) string {
	if int(t) < len(nodeTypes) {
		return nodeTypes[t]
	}
	return nodeTypes[0]
}

func printNode(q *query, r *mad.NodeRecord, _ []byte) error {
	n := &r.NodeInfo
	q.title("NodeRecord dump:")
	q.dotted(normal, "lid", decimal(r.LID))
	q.dotted(normal, "reserved", hexUpper(0))
	q.dotted(normal, "base_version", hexUpper(n.BaseVersion))
	q.dotted(normal, "class_version", hexUpper(n.ClassVersion))
	q.dotted(normal, "node_type", text(nodeType(n.NodeType)))
	q.dotted(normal, "num_ports", decimal(n.NumPorts))
	q.dotted(normal, "sys_guid", key(n.SystemGUID))
	q.dotted(normal, "node_guid", key(n.NodeGUID))
	q.dotted(normal, "port_guid", key(n.PortGUID))
	q.dotted(normal, "partition_cap", hexUpper(n.PartitionCap))
	q.dotted(normal, "device_id", hexUpper(n.DeviceID))
	q.dotted(normal, "revision", hexUpper(n.Revision))
	q.dotted(normal, "port_num", decimal(n.LocalPort))
	q.dotted(normal, "vendor_id", hexUpper(n.VendorID))
	q.dotted(normal, "NodeDescription", text(q.names.NameOf(n.NodeGUID, r.Description)))
	return nil
}

// selected returns the byte with a selector and a value.
func selected[T ~uint8](s mad.Selector, value T) uint8 { return uint8(s)<<selectorShift | uint8(value) }

func printPath(q *query, r *mad.PathRecord, raw []byte) error {
	const offReserved = 58
	q.title("PathRecord dump:")
	q.dotted(normal, "service_id", key(r.ServiceID))
	q.dotted(normal, "dgid", text(r.DGID.String()))
	q.dotted(normal, "sgid", text(r.SGID.String()))
	q.dotted(normal, "dlid", decimal(r.DLID))
	q.dotted(normal, "slid", decimal(r.SLID))
	q.dotted(normal, "hop_flow_raw", hexUpper(uint32(r.RawTraffic)<<31|r.FlowLabel<<8|uint32(r.HopLimit)))
	q.dotted(normal, "tclass", hexUpper(r.TrafficClass))
	q.dotted(normal, "num_path_revers", hexUpper(r.Reversible<<7|r.NumbPath))
	q.dotted(normal, "pkey", hexUpper(uint16(r.PKey)))
	q.dotted(normal, "qos_class", hexUpper(r.QoSClass))
	q.dotted(normal, "sl", hexUpper(r.SL))
	q.dotted(normal, "mtu", hexUpper(selected(r.MTUSelector, r.MTU)))
	q.dotted(normal, "rate", hexUpper(selected(r.RateSelector, r.Rate)))
	q.dotted(normal, "pkt_life", hexUpper(selected(r.LifeTimeSelector, r.LifeTime)))
	q.dotted(normal, "preference", hexUpper(r.Preference))
	q.dotted(normal, "resv2", text("0x"+strings.ToUpper(hex.EncodeToString(raw[offReserved:offReserved+6]))))
	return nil
}

func (q *query) printClassPortInfo() {
	const width = 25
	c := &q.cpi
	q.title("SA ClassPortInfo:")
	q.dotted(width, "Base version", decimal(c.BaseVersion))
	q.dotted(width, "Class version", decimal(c.ClassVersion))
	q.dotted(width, "Capability mask", padded(c.CapMask, 4))
	q.dotted(width, "Capability mask 2", padded(c.CapMask2, 8))
	q.dotted(width, "Response time value", padded(c.RespTimeValue, 2))
	q.dotted(width, "Redirect GID", text(ib.GID(c.RedirectGID).String()))
	q.dotted(width, "Redirect TC/SL/FL", padded(uint32(c.RedirectTrafficClass)<<24|uint32(c.RedirectSL)<<20|c.RedirectFlowLabel, 8))
	q.dotted(width, "Redirect LID", decimal(c.RedirectLID))
	q.dotted(width, "Redirect PKey", padded(uint16(c.RedirectPKey), 4))
	q.dotted(width, "Redirect QP", padded(c.RedirectQP, 8))
	q.dotted(width, "Redirect QKey", padded(c.RedirectQKey, 8))
	q.dotted(width, "Trap GID", text(ib.GID(c.TrapGID).String()))
	q.dotted(width, "Trap TC/SL/FL", padded(uint32(c.TrapTrafficClass)<<24|uint32(c.TrapSL)<<20|c.TrapFlowLabel, 8))
	q.dotted(width, "Trap LID", decimal(c.TrapLID))
	q.dotted(width, "Trap PKey", padded(uint16(c.TrapPKey), 4))
	q.dotted(width, "Trap HL/QP", padded(uint32(c.TrapHopLimit)<<24|c.TrapQP, 8))
	q.dotted(width, "Trap QKey", padded(c.TrapQKey, 8))
}

// printManager prints a PortInfo record in its short form.
func printManager(q *query, r *mad.PortInfoRecord, _ []byte) error {
	q.title("PortInfoRecord dump:")
	q.dotted(normal, "EndPortLid", decimal(r.LID))
	q.dotted(normal, "PortNum", decimal(r.PortNum))
	q.dotted(normal, "base_lid", decimal(r.PortInfo.LID))
	q.dotted(normal, "master_sm_base_lid", decimal(r.PortInfo.SMLID))
	q.dotted(normal, "capability_mask", hexUpper(uint32(r.PortInfo.CapMask)))
	return nil
}

func printPortInfo(q *query, r *mad.PortInfoRecord, _ []byte) error {
	q.title("PortInfoRecord dump:\n\tRID")
	q.dotted(normal, "EndPortLid", decimal(r.LID))
	q.dotted(normal, "PortNum", decimal(r.PortNum))
	q.dotted(normal, "Options", hexLower(r.Options))
	q.title("\tPortInfo dump:")
	return portdump.Write(q.out, &r.PortInfo, 2, q.ShowKeys)
}

const offProxyJoin = 49 // in a multicast record, with reserved bits

func printMemberRecord(q *query, r *mad.MCMemberRecord, raw []byte) error {
	q.title("MCMember Record dump:")
	q.dotted(normal, "MGID", text(r.MGID.String()))
	q.dotted(normal, "PortGid", text(r.PortGID.String()))
	q.dotted(normal, "qkey", hexLower(r.QKey))
	q.dotted(normal, "mlid", hexLower(uint16(r.MLID)))
	q.dotted(normal, "mtu", hexLower(selected(r.MTUSelector, r.MTU)))
	q.dotted(normal, "TClass", hexLower(r.TrafficClass))
	q.dotted(normal, "pkey", hexLower(uint16(r.PKey)))
	q.dotted(normal, "rate", hexLower(selected(r.RateSelector, r.Rate)))
	q.dotted(normal, "pkt_life", hexLower(selected(r.LifeTimeSelector, r.LifeTime)))
	q.dotted(normal, "SL", hexLower(r.SL))
	q.dotted(normal, "FlowLabel", hexLower(r.FlowLabel))
	q.dotted(normal, "HopLimit", hexLower(r.HopLimit))
	q.dotted(normal, "Scope", hexLower(r.Scope))
	q.dotted(normal, "JoinState", hexLower(uint8(r.JoinState)))
	q.dotted(normal, "ProxyJoin", hexLower(raw[offProxyJoin]))
	return nil
}

func printGroup(q *query, r *mad.MCMemberRecord, _ []byte) error {
	q.title("MCMemberRecord group dump:")
	q.dotted(normal, "MGID", text(r.MGID.String()))
	q.dotted(normal, "Mlid", hexUpper(uint16(r.MLID)))
	q.dotted(normal, "Mtu", hexUpper(selected(r.MTUSelector, r.MTU)))
	q.dotted(normal, "pkey", hexUpper(uint16(r.PKey)))
	q.dotted(normal, "Rate", hexUpper(selected(r.RateSelector, r.Rate)))
	q.dotted(normal, "SL", hexUpper(r.SL))
	return nil
}

func printService(q *query, r *mad.ServiceRecord, _ []byte) error {
	serviceKey := "<not displayed>"
	if q.ShowKeys {
		serviceKey = "0x" + hex.EncodeToString(r.Key[:])
	}
	q.title("ServiceRecord dump:")
	q.dotted(normal, "ServiceID", key(r.ServiceID))
	q.dotted(normal, "ServiceGID", text(r.GID.String()))
	q.dotted(normal, "ServiceP_Key", hexUpper(uint16(r.PKey)))
	q.dotted(normal, "ServiceLease", hexUpper(r.Lease))
	q.dotted(normal, "ServiceKey", text(serviceKey))
	q.dotted(normal, "ServiceName", text(r.Name.Clean()))
	for i, v := range r.Data8 {
		q.dotted(normal, fmt.Sprintf("ServiceData8.%d", i+1), hexUpper(v))
	}
	for i, v := range r.Data16 {
		q.dotted(normal, fmt.Sprintf("ServiceData16.%d", i+1), hexUpper(v))
	}
	for i, v := range r.Data32 {
		q.dotted(normal, fmt.Sprintf("ServiceData32.%d", i+1), hexUpper(v))
	}
	for i, v := range r.Data64 {
		q.dotted(normal, fmt.Sprintf("ServiceData64.%d", i+1), key(v))
	}
	return nil
}

func printSMInfo(q *query, r *mad.SMInfoRecord, _ []byte) error {
	q.title("SMInfoRecord dump:\n\t\tRID")
	q.dotted(short, "LID", decimal(r.LID))
	q.title("\t\tSMInfo dump:")
	q.dotted(short, "GUID", key(r.SMInfo.GUID))
	q.dotted(short, "SM_Key", key(r.SMInfo.SMKey))
	q.dotted(short, "ActCount", decimal(r.SMInfo.ActCount))
	q.dotted(short, "Priority", decimal(r.SMInfo.Priority))
	q.dotted(short, "SMState", decimal(uint8(r.SMInfo.State)))
	return nil
}

// hasMulticastTop is the CapabilityMask2 bit by which subnet administration reports
// support for MulticastFDBTop.
const hasMulticastTop = 1 << 3

func printSwitchInfo(q *query, r *mad.SwitchInfoRecord, _ []byte) error {
	s := &r.SwitchInfo
	q.title("SwitchInfoRecord dump:\n\t\tRID")
	q.dotted(widest, "LID", decimal(r.LID))
	q.title("\t\tSwitchInfo dump:")
	q.dotted(widest, "LinearFDBCap", hexUpper(s.LinearFDBCap))
	q.dotted(widest, "RandomFDBCap", hexUpper(s.RandomFDBCap))
	q.dotted(widest, "MulticastFDBCap", hexUpper(s.MulticastFDBCap))
	q.dotted(widest, "LinearFDBTop", hexUpper(uint16(s.LinearFDBTop)))
	q.dotted(widest, "DefaultPort", decimal(s.DefaultPort))
	q.dotted(widest, "DefaultMulticastPrimaryPort", decimal(s.DefaultMulticastPrimaryPort))
	q.dotted(widest, "DefaultMulticastNotPrimaryPort", decimal(s.DefaultMulticastNotPrimaryPort))
	q.dotted(widest, "LifeTimeValue/PortStateChange/OpSL2VL", hexUpper(s.LifeTimeValue<<3|s.PortStateChange<<2|s.OptimizedSLtoVL))
	q.dotted(widest, "LIDsPerPort", hexUpper(s.LIDsPerPort))
	q.dotted(widest, "PartitionEnforcementCap", hexUpper(s.PartitionEnforcementCap))
	q.dotted(widest, "flags", hexUpper(s.InboundEnforcement<<7|s.OutboundEnforcement<<6|s.FilterRawInbound<<5|s.FilterRawOutbound<<4|s.EnhancedPort0<<3))
	if q.cpi.CapMask2&hasMulticastTop != 0 {
		q.dotted(widest, "MulticastFDBTop", hexUpper(uint16(s.MulticastFDBTop)))
	}
	return nil
}

func printInformInfo(q *query, r *mad.InformInfoRecord, _ []byte) error {
	i := &r.InformInfo
	qpn := "<not displayed>"
	if q.ShowKeys {
		qpn = fmt.Sprintf("0x%06X", i.QPN)
	}
	q.title("InformInfoRecord dump:\n\t\tRID")
	q.dotted(normal, "SubscriberGID", text(r.SubscriberGID.String()))
	q.dotted(normal, "SubscriberEnum", hexUpper(r.Enum))
	q.title("\t\tInformInfo dump:")
	q.dotted(normal, "gid", text(i.GID.String()))
	q.dotted(normal, "lid_range_begin", decimal(i.LIDBegin))
	q.dotted(normal, "lid_range_end", decimal(i.LIDEnd))
	q.dotted(normal, "is_generic", hexUpper(i.Generic))
	q.dotted(normal, "subscribe", hexUpper(i.Subscribe))
	q.dotted(normal, "trap_type", hexUpper(i.Type))
	producer := "node_type"
	if i.Generic != 0 {
		q.dotted(normal, "trap_num", decimal(i.TrapNumber))
	} else {
		q.dotted(normal, "dev_id", hexUpper(i.TrapNumber))
		producer = "vendor_id"
	}
	q.dotted(normal, "qpn", text(qpn))
	q.dotted(normal, "resp_time_val", hexUpper(i.RespTime))
	q.dotted(normal, producer, padded(i.ProducerType, 6))
	return nil
}
