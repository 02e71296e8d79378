package mad

import (
	"fmt"

	"github.com/ibkit/ibkit/ib"
)

// A NodeType is a node's type.
type NodeType uint8

// The node types.
const (
	NodeTypeCA     NodeType = 1
	NodeTypeSwitch NodeType = 2
	NodeTypeRouter NodeType = 3
)

var nodeTypeNames = names{"", "CA", "Switch", "Router"}

// String returns "CA", "Switch", "Router", or "?(9)" for an undefined type 9.
func (t NodeType) String() string { return nodeTypeNames.text(uint64(t)) }

var asNodeType = enum(nodeTypeNames.of, func(v uint64) string {
	switch t := NodeType(v); t {
	case NodeTypeCA:
		return "Channel Adapter"
	case NodeTypeSwitch, NodeTypeRouter:
		return t.String()
	}
	return fmt.Sprintf("?(%d)?", v)
})

// A NodeInfo describes a node and the port through which the request arrived
// (InfiniBand Architecture, Volume 1, 14.2.5.3).
type NodeInfo struct {
	BaseVersion  uint8
	ClassVersion uint8
	NodeType     NodeType
	NumPorts     uint8   // a switch's port 0 is not counted
	SystemGUID   ib.GUID // common to a system's nodes; 0 if unknown
	NodeGUID     ib.GUID
	PortGUID     ib.GUID // GUID of the port through which the request arrived
	PartitionCap uint16  // entries in a port's P_Key table
	DeviceID     uint16
	Revision     uint32
	LocalPort    uint8  // port through which the request arrived
	VendorID     uint32 // 24 bits
}

// Spec returns the AttrNodeInfo spec.
func (*NodeInfo) Spec() Spec { return smpSpec(AttrNodeInfo) }

// IsSwitch reports whether the node is a switch.
func (a *NodeInfo) IsSwitch() bool { return a.NodeType == NodeTypeSwitch }

// MarshalJSON writes the fields as an object; see the package comment.
func (a NodeInfo) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// UnmarshalJSON parses MarshalJSON output. Errors begin with the invalid member's name.
func (a *NodeInfo) UnmarshalJSON(b []byte) error { return unmarshalJSON(a, b) }

// Layout declares the fields.
func (a *NodeInfo) Layout(c *Codec) {
	Bits(c, &a.BaseVersion, 0, 8, "BaseVers", Decimal)
	Bits(c, &a.ClassVersion, 8, 8, "ClassVers", Decimal)
	Bits(c, &a.NodeType, 16, 8, "NodeType", asNodeType)
	Bits(c, &a.NumPorts, 24, 8, "NumPorts", Decimal)
	Bits(c, &a.SystemGUID, 32, 64, "SystemGuid", HexString)
	Bits(c, &a.NodeGUID, 96, 64, "Guid", HexString)
	Bits(c, &a.PortGUID, 160, 64, "PortGuid", HexString)
	Bits(c, &a.PartitionCap, 224, 16, "PartCap", Decimal)
	Bits(c, &a.DeviceID, 240, 16, "DevId", Hex)
	Bits(c, &a.Revision, 256, 32, "Revision", Hex)
	Bits(c, &a.LocalPort, 288, 8, "LocalPort", Decimal)
	Bits(c, &a.VendorID, 296, 24, "VendorId", Hex)
}
