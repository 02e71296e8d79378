// Package route reads a subnet's forwarding tables and analyses its routing.
//
// [Read] reads the tables of all switches in a fabric, package dump the tables in files.
// [Analyze] checks a [Routing]: it finds unreachable ports, loops and imbalance. [Paths]
// follows the tables between port pairs.
package route

import (
	"fmt"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// A Routing is a subnet's routing: its nodes, the links between them, and its switches'
// forwarding tables.
type Routing struct {
	Began time.Time // of the scan, or of reading the files

	// Nodes has each node once, in the source's order.
	Nodes []*Node

	// PathSLs is nil if path service levels are unknown. A path without an entry has
	// service level 0.
	PathSLs *PathSLs

	// Failures lists the requests without a valid response. A routing with failures
	// is partial.
	Failures []Failure

	// Blind is the reason why the scan found no other node than the local node: see
	// [fabric.Fabric.Blind]. It is nil for a routing from files.
	Blind error

	// Unread is the failure count from the run that a file stores.
	Unread int

	// Changing lists the switches with tables that changed while they were read.
	Changing []*Node

	// Members has the members in each multicast LID's groups according to subnet
	// administration; nil: they are unknown, because of NoMembers, or the routing is
	// from files without them.
	Members   map[ib.LID]*Members
	NoMembers error

	within map[*Node]bool // the nodes of a part; nil: the whole routing

	byGUID     map[ib.GUID]*Node
	byPortGUID map[ib.GUID]*Node // filled by NodeByAnyGUID
}

// A Node is a switch or an end node.
type Node struct {
	GUID  ib.GUID
	Type  mad.NodeType
	Desc  mad.NodeDescription
	Route mad.Route // a directed route from the scan's start, if known

	// Ports is indexed by port number. Entry 0 is a switch's management port, and
	// unused on other nodes.
	Ports []Port

	// Tables is nil for nodes other than switches, and if the source has no tables for
	// the switch.
	Tables *Tables

	// Adaptive is nil if adaptive routing is off or unknown.
	Adaptive *Adaptive

	index int // in Routing.Nodes
}

// A Port is a node's port. On a switch, LID, LMC and GUID are port 0's.
type Port struct {
	Node   *Node
	Number uint8
	GUID   ib.GUID
	LID    ib.LID // base LID; 0: the port has no LID
	LMC    uint8  // the port has 1<<LMC LIDs
	State  ib.PortState
	Width  ib.LinkWidth
	Speed  ib.Speed
	MTU    ib.MTU
	VLs    ib.VLCap // operational virtual lanes

	// Peer is the link's other end; nil: the port has no link, or its peer is unknown.
	Peer *Port
}

// NoRoute is a forwarding table's entry for a LID without a route.
const NoRoute = 255

// Tables are a switch's forwarding tables.
type Tables struct {
	Cap uint16 // linear forwarding table entries; 0: unknown
	Top ib.LID // highest LID in use

	// LFT has each LID's output port; LIDs beyond its end have no route. It is nil if
	// the table was not read.
	LFT []uint8

	// Missing has the numbers of the 64-LID blocks that could not be read.
	Missing []uint16

	// Incomplete is set for a table in a damaged file: a LID without an entry may have one.
	Incomplete bool

	MulticastCap uint16 // multicast forwarding table entries; 0: unknown
	MulticastTop ib.LID // 0: unknown
	MFT          map[ib.LID]mad.PortMask

	// SLtoVL has the virtual lanes by service level for each input and output port
	// pair: element in*len(Ports)+out. It is nil if they are unknown; packets then keep
	// the lane with their service level's number.
	SLtoVL [][16]uint8
}

// lftBlock and mftBlock are the LID counts in a forwarding table block.
const (
	lftBlock = 64
	mftBlock = 32
)

// A Failure is a request without a valid response, or damage in a file. Err then contains
// the file and the line. It is no fabric.Failure: Attr also names the table that is damaged, and
// readers compare Node. [Routing.ReportFailures] adds the names from a view.
type Failure struct {
	Node     *Node  // nil: unknown
	Attr     string // "": damage without a table
	Modifier uint32
	Err      error
}

// ReportFailures returns the failures as documents list them.
func (r *Routing) ReportFailures(names *fabric.NameMap) (all []report.Failure) {
	for _, f := range r.Failures {
		j := fabric.ReportFailure(f.Subject(names), f.Err)
		j.Attribute, j.Modifier = f.Attr, f.Modifier
		if f.Node != nil {
			j.NodeGUID = &f.Node.GUID
		}
		all = append(all, j)
	}
	if r.Unread > 0 {
		all = append(all, report.Failure{Error: fmt.Sprintf("%d requests of the stored run failed", r.Unread)})
	}
	return all
}

// Subject returns the node's name. It is "unknown node" without a node, and "" for damage
// that belongs to no node.
func (f *Failure) Subject(names *fabric.NameMap) string {
	switch {
	case f.Node != nil:
		return names.LabelOf(f.Node.GUID, f.Node.Desc)
	case f.Attr == "":
		return ""
	}
	return "unknown node"
}

// Partial reports whether part of the routing is missing.
func (r *Routing) Partial() bool { return len(r.Failures) > 0 || r.Unread > 0 }

// IsSwitch reports whether the node is a switch.
func (n *Node) IsSwitch() bool { return n.Type == mad.NodeTypeSwitch }

// NodeByGUID returns the first node with the GUID, or nil.
func (r *Routing) NodeByGUID(guid ib.GUID) *Node { return r.byGUID[guid] }

// Has reports whether the LID is among the port's LIDs.
func (p *Port) Has(lid ib.LID) bool {
	return p.LID != 0 && lid >= p.LID && int(lid) < int(p.LID)+1<<p.LMC
}

// Lookup returns a LID's output port, NoRoute if the table has no entry.
func (t *Tables) Lookup(lid ib.LID) uint8 {
	if t == nil || int(lid) >= len(t.LFT) {
		return NoRoute
	}
	return t.LFT[lid]
}

// Known reports whether the linear table was read, at least in part.
func (t *Tables) Known() bool { return t != nil && t.LFT != nil }

// Lane returns the virtual lane for a packet from an input port to an output port.
func (n *Node) Lane(in, out, sl uint8) uint8 {
	if n.Tables == nil || n.Tables.SLtoVL == nil {
		return sl
	}
	return n.Tables.SLtoVL[int(in)*len(n.Ports)+int(out)][sl]
}
