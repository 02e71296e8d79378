// Package fabric discovers InfiniBand subnets. [Discover] scans a subnet and returns a
// [Fabric]: its nodes, their ports, the links between the ports, the nodes' chassis,
// and a failure list. [ReadCacheFile] reads a fabric from a file in libibnetdisc's
// format.
package fabric

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A Fabric is a subnet's state as a discovery, or a cache file, reports it. A Fabric
// may be read by several goroutines at the same time.
type Fabric struct {
	// Nodes contains every node once, in the order of a breadth-first walk from Start
	// by ascending port number, followed by nodes that the walk does not reach, by
	// GUID. The order does not depend on the reply order.
	Nodes []*Node

	Start     *Node // discovery's first node
	StartPort uint8 // Start's port through which the packets arrived

	// MaxHops is the length of the longest route to a node.
	MaxHops int

	Systems []*System // chassis, by number

	// Failures lists the requests without a valid response, the local port's link if it
	// is down (see [Fabric.Blind]), and the damage in the fabric's file. A fabric with
	// failures is partial.
	Failures []Failure

	// Bounded reports that the scan had a hop limit. An unknown peer is then not a sign
	// of a defect.
	Bounded bool

	// Aborted is the error that ended the discovery before it was complete.
	Aborted error

	// Unanswered counts the requests without a valid response in the scan that a cache
	// file stores; the file does not list them. It is 0 after a scan.
	Unanswered int

	// Sparse reports that the fabric is from a file with few attributes. Its nodes,
	// links, LIDs, and the active widths and speeds are known; other PortInfo and
	// SwitchInfo fields are 0, and link states may be [ib.PortNoChange].
	Sparse bool

	// Conflicts lists contradictions: duplicate GUIDs, links that moved during
	// the scan, links to ports that their node does not have.
	Conflicts []Conflict

	Stats umad.Stats // request counters for the discovery

	byGUID     map[ib.GUID]*Node
	byPortGUID map[ib.GUID]*Port

	stored             *storedOrder // nil for a fabric that is not from a cache
	noExtendedPortInfo bool         // the scan did not query that attribute
	blind              error        // see Blind
	from               ib.LID       // LID that the nodes' routes begin at; 0: the local port
}

// A storedOrder is the cache part that its other data does not determine.
type storedOrder struct {
	nodes   []*Node // in the file's order
	ports   []*Port
	maxHops int
}

// Unjudged names the data that the fabric's file lacks for a verdict on links, or is "".
func (f *Fabric) Unjudged() string {
	if f.Sparse {
		return "states, enabled widths and speeds"
	}
	return ""
}

// Partial reports whether data is missing: a request failed, the discovery ended early, or
// the fabric's file is damaged.
func (f *Fabric) Partial() bool { return len(f.Failures) > 0 || f.Unanswered > 0 || f.Aborted != nil }

// Unfinished reports whether the scan ended before it had reached all nodes, early or at a
// limit on hops, or the file that stores it is damaged: a node or a peer that the fabric
// lacks may exist.
func (f *Fabric) Unfinished() bool { return f.Aborted != nil || f.Bounded || f.Damaged() }

// Unread reports whether an unfinished or partial scan has not read a port, nil for a port
// without data, or its peer.
func (f *Fabric) Unread(p *Port) bool {
	return f.hasGaps() && (p == nil || p.Info == nil && !p.Omitted || p.Info != nil && p.Peer == nil && p.Info.PhysState == ib.PhysLinkUp)
}

// hasGaps reports whether a port or an attribute that the fabric lacks may exist.
func (f *Fabric) hasGaps() bool { return f.Bounded || f.Partial() }

// HasLID reports whether a node's LID is known, for a switch port 0's LID: a partial scan may
// lack it.
func (f *Fabric) HasLID(n *Node) bool {
	return !f.hasGaps() || !n.IsSwitch() || n.Ports[0] != nil && n.Ports[0].Info != nil
}

// HasDescription reports whether a node's description is known: a partial scan may lack it.
func (f *Fabric) HasDescription(n *Node) bool {
	return !f.hasGaps() || n.Desc != mad.NodeDescription{} || !f.Unfinished() && n.Described()
}

// A Node is a channel adapter, a switch or a router.
type Node struct {
	GUID  ib.GUID
	Info  mad.NodeInfo
	Desc  mad.NodeDescription // as received: not safe for a terminal, see [NameMap.Name]
	Route mad.Route           // a shortest directed route from the scan's start, if known

	Switch *mad.SwitchInfo // nil if the node is not a switch or did not respond

	// Ports is indexed by port number and has at least Info.NumPorts+1
	// entries, more if a packet arrived through a port with a higher number.
	// Entry 0 is a switch's management port, on other nodes nil unless a
	// packet arrived through "port 0". A port without any data is nil. See
	// [Port.Invalid].
	Ports []*Port

	// Duplicate reports that another node has the same GUID.
	Duplicate bool

	System *System // node's chassis; nil if unknown
	Slot   Slot    // position in System

	omitsDesc, omitsPorts bool // by a lean scan

	descLost bool            // the node did not respond
	lost     map[uint8]error // PortInfo by port number: request errors
}

// IsSwitch reports whether the node is a switch.
func (n *Node) IsSwitch() bool { return n.Info.IsSwitch() }

// LID returns the first known LID of the node's ports, or 0.
func (n *Node) LID() ib.LID {
	for _, p := range n.Ports {
		if p != nil && p.LID() != 0 {
			return p.LID()
		}
	}
	return 0
}

// IsCA reports whether the node is a channel adapter.
func (n *Node) IsCA() bool { return n.Info.NodeType == mad.NodeTypeCA }

// Described reports whether the node gave its description: [Node.Desc] can be empty
// without that.
func (n *Node) Described() bool { return !n.descLost && !n.omitsDesc }

// A Port is a link end, or a switch's port 0.
type Port struct {
	Node   *Node
	Number uint8
	GUID   ib.GUID

	// Info is nil if the port did not respond, or was omitted.
	Info *mad.PortInfo

	// Omitted reports that the switch's state table has the port as down, and that the
	// scan did not query it: see [DiscoverOptions.OmitDownPorts].
	Omitted bool

	// Ext is NVIDIA's ExtendedPortInfo; nil if the discovery did not query it
	// or the port did not respond.
	Ext     *mad.MlnxExtPortInfo
	extLost bool // the port did not respond

	// Peer is the link's other end; nil if there is no link or the peer is unknown.
	Peer *Port

	// External is the number printed on the chassis, 0 if the port has no printed number.
	External int

	// Label is the port's position as its agent reports it, such as "1/3/2" for port 2 in
	// cage 3. It is "" if the port has no label, or without [Fabric.ReadLabels].
	Label string
}

// LID returns the port's base LID. For a switch's external ports this is the management
// port's LID. It is 0 if the port has no LID, or if that is unknown: see [Port.Missing].
func (p *Port) LID() ib.LID {
	if info := p.Caps(); info != nil {
		return info.LID
	}
	return 0
}

// Missing returns the reason why the port's LID and capabilities are unknown, nil if they
// are known: PortInfo for the port, or for a switch's port 0, is missing.
func (p *Port) Missing() error {
	if p.Caps() != nil {
		return nil
	}
	number := p.Number
	if p.Node.IsSwitch() {
		number = 0
	}
	err := p.Node.lost[number]
	if err == nil {
		return fmt.Errorf("PortInfo of port %d is missing", number)
	}
	if failed, ok := errors.AsType[*umad.Error](err); ok {
		err = failed.Err // without the request's address
	}
	return fmt.Errorf("PortInfo of port %d: %w", number, err)
}

// The reasons why packets with a LID do not reach a port.
var (
	ErrNoLID     = errors.New("the port has no LID: no subnet manager has configured it")
	ErrNotActive = errors.New("the link is not active: no subnet manager has activated it")
)

// Unreachable returns the reason why packets with a LID cannot reach the port's agents, or
// nil.
func (p *Port) Unreachable() error {
	if err := p.Missing(); err != nil {
		return fmt.Errorf("the LID is unknown: %w", err)
	}
	switch {
	case p.LID() == 0:
		return ErrNoLID
	case !p.Node.IsSwitch() && p.Info != nil && p.Info.State == ib.PortInit:
		return ErrNotActive
	}
	return nil
}

// Caps returns the PortInfo with the capability masks that apply to the port: on a
// switch port 0's PortInfo, otherwise its own (InfiniBand Architecture, Volume 1,
// 14.2.5.6). It is nil if that port did not respond.
func (p *Port) Caps() *mad.PortInfo {
	if !p.Node.IsSwitch() {
		return p.Info
	}
	if p0 := p.Node.Ports[0]; p0 != nil {
		return p0.Info
	}
	return nil
}

// Identity returns the port as the port that a change is meant for.
func (p *Port) Identity() umad.Identity {
	id := umad.Identity{NodeGUID: p.Node.GUID, PortGUID: p.GUID, Port: p.Number}
	if p.Number == mad.AllPorts {
		id.Port = 0
	}
	return id
}

// A Failure is a discovery request without a valid response, a link that led nowhere, or
// damage in the file that stores the fabric: see [Failure.IsDamage]. It keeps the error for
// errors.Is, and has no names: a view has the name map with which [Fabric.ReportFailures]
// returns a report.Failure.
type Failure struct {
	Route    mad.Route
	LID      ib.LID     // LID that the packet was sent to before the directed part, 0 without such a part
	NodeGUID ib.GUID    // the destination, or the node before an unknown destination; 0 for the start
	Port     uint8      // the port queried, or the port of NodeGUID that leads to the destination
	Attr     mad.AttrID // 0: damage
	Modifier uint32
	Err      error
}

// IsDamage reports whether the failure is a part of a stored fabric's file that could not
// be read, not a request. Err then contains the file and the position. NodeGUID is 0, and
// Port with it, if the node is unknown.
func (f Failure) IsDamage() bool { return f.Attr == 0 }

// Damaged reports whether a part of the file that stores the fabric could not be read.
func (f *Fabric) Damaged() bool { return slices.ContainsFunc(f.Failures, Failure.IsDamage) }

// A Conflict is a contradiction between data from a fabric's nodes.
type Conflict struct {
	GUID   ib.GUID
	Port   uint8
	Detail string // a sentence for users
}

// NodeByGUID returns the first node with the GUID, or nil.
func (f *Fabric) NodeByGUID(guid ib.GUID) *Node { return f.byGUID[guid] }

// PortByGUID returns the port with the GUID, or nil. All switch ports share a GUID,
// which identifies port 0.
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
