// Package fabric finds out what an InfiniBand subnet consists of and holds the
// result: nodes, their ports, the links between them, the systems that they
// are built into, and what could not be found out.
package fabric

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A Fabric is what one discovery, or one cache file, says of a subnet.
type Fabric struct {
	// Nodes holds every node once, in the order of a breadth-first walk from
	// Start by ascending port number; nodes that this walk does not reach
	// follow by GUID. The order does not depend on the order of replies.
	Nodes []*Node

	Start     *Node // where discovery began
	StartPort uint8 // the port of Start by which it was entered

	// MaxHops is the length of the longest route to a node.
	MaxHops int

	Systems []*System // chassis, by number

	// Failures lists what was asked for and not had. A fabric with failures
	// is partial.
	Failures []Failure

	// Bounded says that the scan was to end some hops away from its start: that
	// a link's other end is not known means nothing there.
	Bounded bool

	// Aborted is the error that ended the discovery before it was complete.
	Aborted error

	// Conflicts lists what was seen and cannot be true of one fabric at one
	// time: duplicate GUIDs, links that moved while they were scanned.
	Conflicts []Conflict

	Stats umad.Stats // what the discovery cost

	byGUID     map[ib.GUID]*Node
	byPortGUID map[ib.GUID]*Port
}

// Partial reports whether anything that was asked for is missing.
func (f *Fabric) Partial() bool { return len(f.Failures) > 0 || f.Aborted != nil }

// A Node is a channel adapter, a switch or a router.
type Node struct {
	GUID  ib.GUID
	Info  mad.NodeInfo
	Desc  mad.NodeDescription // as the node sent it: not safe for a terminal, see Name
	Route mad.Route           // a shortest directed route from the start of the scan

	Switch *mad.SwitchInfo // switches only; nil where it was not answered

	// Ports is indexed by port number and has at least Info.NumPorts+1
	// entries, more if a packet arrived through a port with a higher number.
	// Entry 0 is a switch's management port, on other nodes nil unless a
	// packet arrived through "port 0". A port without any data is nil. See
	// [Port.Invalid].
	Ports []*Port

	// Duplicate marks a node whose GUID another node has as well.
	Duplicate bool

	System *System // the chassis that the node is a part of; nil: none known
	Slot   Slot    // where in System
}

// A Port is one end of a link, or a switch's port 0.
type Port struct {
	Node   *Node
	Number uint8
	GUID   ib.GUID

	// Info is nil where the port did not answer.
	Info *mad.PortInfo

	// Ext is the vendor's ExtendedPortInfo of an FDR10-capable port; nil
	// where it was not asked for or not answered.
	Ext *mad.MlnxExtPortInfo

	// Peer is the other end of the link; nil: none, or not found.
	Peer *Port

	// External is the number printed on the chassis, 0 where there is none.
	External int
}

// LID returns the base LID that the port answers to. For a switch's external
// ports this is the LID of its management port.
func (p *Port) LID() ib.LID {
	if p.Node.Info.NodeType == mad.NodeTypeSwitch {
		p = p.Node.Ports[0]
	}
	if p == nil || p.Info == nil {
		return 0
	}
	return p.Info.LID
}

// Caps returns the PortInfo whose capability masks hold for the port: port 0's
// on a switch, its own elsewhere (InfiniBand Architecture, Volume 1, 14.2.5.6).
// It is nil where that port did not answer.
func (p *Port) Caps() *mad.PortInfo {
	if p.Node.Info.NodeType != mad.NodeTypeSwitch {
		return p.Info
	}
	if p0 := p.Node.Ports[0]; p0 != nil {
		return p0.Info
	}
	return nil
}

// A Failure is one thing that discovery asked for and did not get.
type Failure struct {
	Route    mad.Route
	LID      ib.LID  // 0, or the LID to which the packet was sent first
	NodeGUID ib.GUID // the node asked, or the one before it where it is not known; 0: the start
	Port     uint8   // the port asked about, or the one of NodeGUID that leads to the node asked
	Attr     mad.AttrID
	Modifier uint32
	Err      error
}

// A Conflict is something seen that cannot hold for one fabric at one time.
type Conflict struct {
	GUID   ib.GUID
	Port   uint8
	Detail string // a sentence for people
}

// NodeByGUID returns the node with the GUID, nil where there is none. Of
// several with the same GUID it returns the first.
func (f *Fabric) NodeByGUID(guid ib.GUID) *Node { return f.byGUID[guid] }

// PortByGUID returns the port with the GUID, nil where there is none. All
// ports of a switch share one GUID; it stands for port 0.
func (f *Fabric) PortByGUID(guid ib.GUID) *Port { return f.byPortGUID[guid] }

// index fills the look-up tables from Nodes.
func (f *Fabric) index() {
	f.byGUID = make(map[ib.GUID]*Node, len(f.Nodes))
	f.byPortGUID = make(map[ib.GUID]*Port, len(f.Nodes))
	for _, n := range f.Nodes {
		if f.byGUID[n.GUID] == nil {
			f.byGUID[n.GUID] = n
		}
		for _, p := range n.Ports {
			if p != nil && p.GUID != 0 && f.byPortGUID[p.GUID] == nil {
				f.byPortGUID[p.GUID] = p
			}
		}
	}
}
