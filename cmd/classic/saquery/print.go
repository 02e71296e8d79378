package saquery

import (
	"encoding/hex"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/shared/portdump"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// dotted writes a line with a name, dots up to a column, and a value.
func (q *query) dotted(width int, name, format string, value any) {
	line := "\t\t" + name
	for range width - len(name) {
		line += "."
	}
	fmt.Fprintf(q.out, line+format+"\n", value)
}

// Widths of the names with their dots.
const (
	short  = 22 // of SMInfo records
	normal = 24
	long   = 27 // of tables
	widest = 40 // of SwitchInfo records
)

func (q *query) title(s string) { q.out.WriteString(s + "\n") }

// nodeTypes are the texts of types of nodes.
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
	q.dotted(normal, "lid", "%d", r.LID)
	q.dotted(normal, "reserved", "0x%X", 0)
	q.dotted(normal, "base_version", "0x%X", n.BaseVersion)
	q.dotted(normal, "class_version", "0x%X", n.ClassVersion)
	q.dotted(normal, "node_type", "%s", nodeType(n.NodeType))
	q.dotted(normal, "num_ports", "%d", n.NumPorts)
	q.dotted(normal, "sys_guid", "%v", n.SystemGUID)
	q.dotted(normal, "node_guid", "%v", n.NodeGUID)
	q.dotted(normal, "port_guid", "%v", n.PortGUID)
	q.dotted(normal, "partition_cap", "0x%X", n.PartitionCap)
	q.dotted(normal, "device_id", "0x%X", n.DeviceID)
	q.dotted(normal, "revision", "0x%X", n.Revision)
	q.dotted(normal, "port_num", "%d", n.LocalPort)
	q.dotted(normal, "vendor_id", "0x%X", n.VendorID)
	q.dotted(normal, "NodeDescription", "%s", q.names.NameOf(n.NodeGUID, r.Description))
	return nil
}

// selected returns the byte of a selector and a value.
func selected[T ~uint8](s mad.Selector, value T) uint8 { return uint8(s)<<selectorShift | uint8(value) }

func printPath(q *query, r *mad.PathRecord, raw []byte) error {
	const offReserved = 58
	q.title("PathRecord dump:")
	q.dotted(normal, "service_id", "0x%016x", r.ServiceID)
	q.dotted(normal, "dgid", "%v", r.DGID)
	q.dotted(normal, "sgid", "%v", r.SGID)
	q.dotted(normal, "dlid", "%d", r.DLID)
	q.dotted(normal, "slid", "%d", r.SLID)
	q.dotted(normal, "hop_flow_raw", "0x%X", uint32(r.RawTraffic)<<31|r.FlowLabel<<8|uint32(r.HopLimit))
	q.dotted(normal, "tclass", "0x%X", r.TrafficClass)
	q.dotted(normal, "num_path_revers", "0x%X", r.Reversible<<7|r.NumbPath)
	q.dotted(normal, "pkey", "0x%X", uint16(r.PKey))
	q.dotted(normal, "qos_class", "0x%X", r.QoSClass)
	q.dotted(normal, "sl", "0x%X", r.SL)
	q.dotted(normal, "mtu", "0x%X", selected(r.MTUSelector, r.MTU))
	q.dotted(normal, "rate", "0x%X", selected(r.RateSelector, r.Rate))
	q.dotted(normal, "pkt_life", "0x%X", selected(r.LifeTimeSelector, r.LifeTime))
	q.dotted(normal, "preference", "0x%X", r.Preference)
	q.dotted(normal, "resv2", "0x%X", raw[offReserved:offReserved+6])
	return nil
}

func (q *query) printClassPortInfo() {
	const width = 25
	c := &q.cpi
	q.title("SA ClassPortInfo:")
	q.dotted(width, "Base version", "%d", c.BaseVersion)
	q.dotted(width, "Class version", "%d", c.ClassVersion)
	q.dotted(width, "Capability mask", "0x%04X", c.CapMask)
	q.dotted(width, "Capability mask 2", "0x%08X", c.CapMask2)
	q.dotted(width, "Response time value", "0x%02X", c.RespTimeValue)
	q.dotted(width, "Redirect GID", "%v", ib.GID(c.RedirectGID))
	q.dotted(width, "Redirect TC/SL/FL", "0x%08X", uint32(c.RedirectTrafficClass)<<24|uint32(c.RedirectSL)<<20|c.RedirectFlowLabel)
	q.dotted(width, "Redirect LID", "%d", c.RedirectLID)
	q.dotted(width, "Redirect PKey", "0x%04X", uint16(c.RedirectPKey))
	q.dotted(width, "Redirect QP", "0x%08X", c.RedirectQP)
	q.dotted(width, "Redirect QKey", "0x%08X", c.RedirectQKey)
	q.dotted(width, "Trap GID", "%v", ib.GID(c.TrapGID))
	q.dotted(width, "Trap TC/SL/FL", "0x%08X", uint32(c.TrapTrafficClass)<<24|uint32(c.TrapSL)<<20|c.TrapFlowLabel)
	q.dotted(width, "Trap LID", "%d", c.TrapLID)
	q.dotted(width, "Trap PKey", "0x%04X", uint16(c.TrapPKey))
	q.dotted(width, "Trap HL/QP", "0x%08X", uint32(c.TrapHopLimit)<<24|c.TrapQP)
	q.dotted(width, "Trap QKey", "0x%08X", c.TrapQKey)
}

// printManager prints the short form of a PortInfo record.
func printManager(q *query, r *mad.PortInfoRecord, _ []byte) error {
	q.title("PortInfoRecord dump:")
	q.dotted(normal, "EndPortLid", "%d", r.LID)
	q.dotted(normal, "PortNum", "%d", r.PortNum)
	q.dotted(normal, "base_lid", "%d", r.PortInfo.LID)
	q.dotted(normal, "master_sm_base_lid", "%d", r.PortInfo.SMLID)
	q.dotted(normal, "capability_mask", "0x%X", uint32(r.PortInfo.CapMask))
	return nil
}

func printPortInfo(q *query, r *mad.PortInfoRecord, _ []byte) error {
	q.title("PortInfoRecord dump:\n\tRID")
	q.dotted(normal, "EndPortLid", "%d", r.LID)
	q.dotted(normal, "PortNum", "%d", r.PortNum)
	q.dotted(normal, "Options", "0x%x", r.Options)
	q.title("\tPortInfo dump:")
	return portdump.Write(q.out, &r.PortInfo, 2, q.ShowKeys)
}

const offProxyJoin = 49 // in a multicast record, with reserved bits

func printMemberRecord(q *query, r *mad.MCMemberRecord, raw []byte) error {
	q.title("MCMember Record dump:")
	q.dotted(normal, "MGID", "%v", r.MGID)
	q.dotted(normal, "PortGid", "%v", r.PortGID)
	q.dotted(normal, "qkey", "0x%x", r.QKey)
	q.dotted(normal, "mlid", "0x%x", uint16(r.MLID))
	q.dotted(normal, "mtu", "0x%x", selected(r.MTUSelector, r.MTU))
	q.dotted(normal, "TClass", "0x%x", r.TrafficClass)
	q.dotted(normal, "pkey", "0x%x", uint16(r.PKey))
	q.dotted(normal, "rate", "0x%x", selected(r.RateSelector, r.Rate))
	q.dotted(normal, "pkt_life", "0x%x", selected(r.LifeTimeSelector, r.LifeTime))
	q.dotted(normal, "SL", "0x%x", r.SL)
	q.dotted(normal, "FlowLabel", "0x%x", r.FlowLabel)
	q.dotted(normal, "HopLimit", "0x%x", r.HopLimit)
	q.dotted(normal, "Scope", "0x%x", r.Scope)
	q.dotted(normal, "JoinState", "0x%x", uint8(r.JoinState))
	q.dotted(normal, "ProxyJoin", "0x%x", raw[offProxyJoin])
	return nil
}

func printGroup(q *query, r *mad.MCMemberRecord, _ []byte) error {
	q.title("MCMemberRecord group dump:")
	q.dotted(normal, "MGID", "%v", r.MGID)
	q.dotted(normal, "Mlid", "0x%X", uint16(r.MLID))
	q.dotted(normal, "Mtu", "0x%X", selected(r.MTUSelector, r.MTU))
	q.dotted(normal, "pkey", "0x%X", uint16(r.PKey))
	q.dotted(normal, "Rate", "0x%X", selected(r.RateSelector, r.Rate))
	q.dotted(normal, "SL", "0x%X", r.SL)
	return nil
}

func printService(q *query, r *mad.ServiceRecord, _ []byte) error {
	serviceKey := "<not displayed>"
	if q.ShowKeys {
		serviceKey = "0x" + hex.EncodeToString(r.Key[:])
	}
	q.title("ServiceRecord dump:")
	q.dotted(normal, "ServiceID", "0x%016x", r.ServiceID)
	q.dotted(normal, "ServiceGID", "%v", r.GID)
	q.dotted(normal, "ServiceP_Key", "0x%X", uint16(r.PKey))
	q.dotted(normal, "ServiceLease", "0x%X", r.Lease)
	q.dotted(normal, "ServiceKey", "%s", serviceKey)
	q.dotted(normal, "ServiceName", "%s", r.Name.Clean())
	for i, v := range r.Data8 {
		q.dotted(normal, fmt.Sprintf("ServiceData8.%d", i+1), "0x%X", v)
	}
	for i, v := range r.Data16 {
		q.dotted(normal, fmt.Sprintf("ServiceData16.%d", i+1), "0x%X", v)
	}
	for i, v := range r.Data32 {
		q.dotted(normal, fmt.Sprintf("ServiceData32.%d", i+1), "0x%X", v)
	}
	for i, v := range r.Data64 {
		q.dotted(normal, fmt.Sprintf("ServiceData64.%d", i+1), "0x%016x", v)
	}
	return nil
}

func printSMInfo(q *query, r *mad.SMInfoRecord, _ []byte) error {
	q.title("SMInfoRecord dump:\n\t\tRID")
	q.dotted(short, "LID", "%d", r.LID)
	q.title("\t\tSMInfo dump:")
	q.dotted(short, "GUID", "%v", r.SMInfo.GUID)
	q.dotted(short, "SM_Key", "0x%016x", r.SMInfo.SMKey)
	q.dotted(short, "ActCount", "%d", r.SMInfo.ActCount)
	q.dotted(short, "Priority", "%d", r.SMInfo.Priority)
	q.dotted(short, "SMState", "%d", uint8(r.SMInfo.State))
	return nil
}

// hasMulticastTop is the bit of CapabilityMask2 of subnet administration by which it
// reports support for MulticastFDBTop.
const hasMulticastTop = 1 << 3

func printSwitchInfo(q *query, r *mad.SwitchInfoRecord, _ []byte) error {
	s := &r.SwitchInfo
	q.title("SwitchInfoRecord dump:\n\t\tRID")
	q.dotted(widest, "LID", "%d", r.LID)
	q.title("\t\tSwitchInfo dump:")
	q.dotted(widest, "LinearFDBCap", "0x%X", s.LinearFDBCap)
	q.dotted(widest, "RandomFDBCap", "0x%X", s.RandomFDBCap)
	q.dotted(widest, "MulticastFDBCap", "0x%X", s.MulticastFDBCap)
	q.dotted(widest, "LinearFDBTop", "0x%X", uint16(s.LinearFDBTop))
	q.dotted(widest, "DefaultPort", "%d", s.DefaultPort)
	q.dotted(widest, "DefaultMulticastPrimaryPort", "%d", s.DefaultMulticastPrimaryPort)
	q.dotted(widest, "DefaultMulticastNotPrimaryPort", "%d", s.DefaultMulticastNotPrimaryPort)
	q.dotted(widest, "LifeTimeValue/PortStateChange/OpSL2VL", "0x%X", s.LifeTimeValue<<3|s.PortStateChange<<2|s.OptimizedSLtoVL)
	q.dotted(widest, "LIDsPerPort", "0x%X", s.LIDsPerPort)
	q.dotted(widest, "PartitionEnforcementCap", "0x%X", s.PartitionEnforcementCap)
	q.dotted(widest, "flags", "0x%X", s.InboundEnforcement<<7|s.OutboundEnforcement<<6|s.FilterRawInbound<<5|s.FilterRawOutbound<<4|s.EnhancedPort0<<3)
	if q.cpi.CapMask2&hasMulticastTop != 0 {
		q.dotted(widest, "MulticastFDBTop", "0x%X", uint16(s.MulticastFDBTop))
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
	q.dotted(normal, "SubscriberGID", "%v", r.SubscriberGID)
	q.dotted(normal, "SubscriberEnum", "0x%X", r.Enum)
	q.title("\t\tInformInfo dump:")
	q.dotted(normal, "gid", "%v", i.GID)
	q.dotted(normal, "lid_range_begin", "%d", i.LIDBegin)
	q.dotted(normal, "lid_range_end", "%d", i.LIDEnd)
	q.dotted(normal, "is_generic", "0x%X", i.Generic)
	q.dotted(normal, "subscribe", "0x%X", i.Subscribe)
	q.dotted(normal, "trap_type", "0x%X", i.Type)
	producer := "node_type"
	if i.Generic != 0 {
		q.dotted(normal, "trap_num", "%d", i.TrapNumber)
	} else {
		q.dotted(normal, "dev_id", "0x%X", i.TrapNumber)
		producer = "vendor_id"
	}
	q.dotted(normal, "qpn", "%s", qpn)
	q.dotted(normal, "resp_time_val", "0x%X", i.RespTime)
	q.dotted(normal, producer, "0x%06X", i.ProducerType)
	return nil
}
