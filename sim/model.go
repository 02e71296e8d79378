// Package sim is an InfiniBand fabric in the memory of this process: nodes,
// links, the agents that answer management datagrams, and a subnet manager that
// brings it up. Every command that sends MADs can run against one, with nothing
// else installed.
//
// A [Fabric] is built by a preset ([Build]) or from code, configured by
// [Fabric.Configure], and asked through the port that [Fabric.Open] returns.
package sim

import (
	"fmt"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Fabric is a set of nodes and the links between them. It is not safe for
// concurrent use.
type Fabric struct {
	Nodes []*Node

	// Model says how long things take and what gets lost. The zero value
	// answers at once and loses nothing.
	Model Model

	// Manager says how Configure works. The zero value takes the shortest ways.
	Manager Manager

	// NoRMPP cuts subnet administration's tables to what one MAD holds, for
	// clients that know no messages of many segments.
	NoRMPP bool

	byID    map[string]*Node
	senders map[*Port]uint64 // how many were made
	more    []mad.Packet     // what agents answer a packet with beside its reply

	inUse   bool    // packets are sent
	master  *Port   // where the fabric's own subnet manager is; nil: it has none
	setting *Port   // whose state a subnet manager is about to set
	noticed []*Node // switches with links that have changed since Traps

	clock     func() time.Time // nil: time.Now
	firstLook time.Time        // when counters were looked at for the first time

	admin administration // what subnet administration keeps

	agenda *agenda         // nil: nothing is to happen
	pulled map[*Port]*Port // where cables were that events have pulled out

	// What is sent most often is made here: an attribute of its own for each
	// packet would be an allocation.
	nodeInfo mad.NodeInfo
	portInfo mad.PortInfo
	perfInfo mad.ClassPortInfo
}

// A Node is a channel adapter, a switch or a router. What packets on their way
// look at comes first, so that it shares a cache line.
type Node struct {
	// Ports is indexed by port number. Entry 0 is a switch's management port
	// and not used elsewhere.
	Ports []Port

	Info   mad.NodeInfo
	ID     string // unique in the fabric
	Desc   mad.NodeDescription
	Switch mad.SwitchInfo // switches only

	// LFT is a switch's linear forwarding table: the port for each LID,
	// noRoute where there is none.
	LFT []uint8

	mft map[ib.LID]*mad.PortMask // a switch's multicast forwarding table, by multicast LID

	// Silent makes the node swallow all that it is sent.
	Silent bool

	// PingServer is what the node answers pings with: the name of a host, as
	// ibping's server does. "": no such server runs there.
	PingServer string

	fabric  *Fabric
	perf    perfCaps
	off     bool // has no power
	noticed bool // is among the fabric's noticed ones
	busy    busy // the processor behind the agents
	index   int  // among the switches, while routes are computed
}

// A Port is one port of a node. What packets on their way look at comes first.
type Port struct {
	Node   *Node
	Peer   *Port // the other end of the cable; nil: none
	Number uint8
	Info   mad.PortInfo
	GUID   ib.GUID
	Ext    *mad.MlnxExtPortInfo // FDR10-capable ports only
	PKeys  []mad.PKey
	SLtoVL mad.SLtoVLMapping
	counts *counts        // nil: nobody has looked at them
	vlArb  *vlArbitration // nil: defaultVLArbitration
	cc     *congestion    // nil: no request yet
}

// noRoute is a forwarding table's entry for a LID that leads nowhere.
const noRoute = 255

// IsSwitch reports whether the node is a switch.
func (n *Node) IsSwitch() bool { return n.Info.NodeType == mad.NodeTypeSwitch }

// Node returns the node with an ID, nil where there is none.
func (f *Fabric) Node(id string) *Node { return f.byID[id] }

// A NodeSpec says what a new node is. What is left 0 gets a value that fits.
type NodeSpec struct {
	Kind  mad.NodeType
	ID    string
	Desc  string // "": ID
	Ports int

	GUID       ib.GUID
	SystemGUID ib.GUID
	VendorID   uint32
	DeviceID   uint16

	Link LinkSpec
}

// A LinkSpec says what ports can do and have enabled.
type LinkSpec struct {
	Width ib.LinkWidth // the widest; 0: 4X
	Speed ib.Speed     // the fastest; 0: HDR
}

// The vendor ID of the nodes that presets make is NVIDIA's.
const (
	defaultVendor = 0x2c9

	firstSwitchGUID = 0x0002c90000800000
	firstHCAGUID    = 0x0002c90000100000
)

// nextGUID returns the GUID of the next node, which leaves room for those of an
// adapter's ports. The GUIDs of adapters and of switches are apart by 0x7000
// nodes, so that after 0x4000 they go on in another block of the vendor's.
func (f *Fabric) nextGUID(first ib.GUID) ib.GUID {
	const block = 0x4000
	i := uint64(len(f.Nodes))
	return first + ib.GUID(i/block<<32+i%block<<8)
}

// Add makes a node. An ID that the fabric has already is refused; a GUID is not, as
// a fabric to be found fault with may have one twice.
func (f *Fabric) Add(s NodeSpec) (*Node, error) {
	isSwitch := s.Kind == mad.NodeTypeSwitch
	if s.Ports < 1 || s.Ports > 254 {
		return nil, fmt.Errorf("add node %q: %d ports, 1 to 254 are possible", s.ID, s.Ports)
	}
	if f.byID == nil {
		f.byID = map[string]*Node{}
	}
	if f.byID[s.ID] != nil {
		return nil, fmt.Errorf("add node %q: there is one of that name", s.ID)
	}
	guid, device := f.nextGUID(firstHCAGUID), devicesOf(s.Link.Speed).adapter
	if isSwitch {
		guid, device = f.nextGUID(firstSwitchGUID), devicesOf(s.Link.Speed).fabric
	}
	n := &Node{
		fabric: f,
		perf:   newPerfCaps(isSwitch),
		ID:     s.ID,
		Info: mad.NodeInfo{
			BaseVersion:  1,
			ClassVersion: 1,
			NodeType:     s.Kind,
			NumPorts:     uint8(s.Ports),
			NodeGUID:     or(s.GUID, guid),
			PartitionCap: partitionCap,
			DeviceID:     or(s.DeviceID, device),
			Revision:     0xa0,
			VendorID:     or(s.VendorID, uint32(defaultVendor)),
		},
		Desc:  mad.NewNodeDescription(or(s.Desc, s.ID)),
		Ports: make([]Port, s.Ports+1),
	}
	n.Info.SystemGUID = or(s.SystemGUID, n.Info.NodeGUID)
	for i := range n.Ports {
		p := &n.Ports[i]
		*p = Port{Node: n, Number: uint8(i), GUID: n.Info.NodeGUID, PKeys: []mad.PKey{defaultPKey}}
		if !isSwitch {
			p.GUID += ib.GUID(i)
		}
		p.Info = s.Link.portInfo(isSwitch && i == 0)
		if s.Link.Speed == ib.FDR10 {
			p.Ext = fdr10()
			p.Ext.LinkSpeedActive = 0
		}
	}
	if isSwitch {
		n.Switch = mad.SwitchInfo{LinearFDBCap: linearFDBCap, MulticastFDBCap: multicastCap, LIDsPerPort: 0, PartitionEnforcementCap: partitionCap}
	}
	f.byID[s.ID] = n
	f.Nodes = append(f.Nodes, n)
	return n, nil
}

const (
	partitionCap = 128
	linearFDBCap = 0xc000

	defaultPKey mad.PKey = 0xffff
)

// or returns v, or the default where v is 0.
func or[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// Connect plugs a cable in. The link comes up at the best that both ends have
// enabled.
func (f *Fabric) Connect(a, b *Port) error {
	for _, p := range []*Port{a, b} {
		if p.Peer != nil {
			return fmt.Errorf("connect %s to %s: %s is taken by %s", a, b, p, p.Peer)
		}
		if p.Number == 0 {
			return fmt.Errorf("connect %s to %s: port 0 has no connector", a, b)
		}
	}
	if a == b {
		return fmt.Errorf("connect %s to itself", a)
	}
	a.Peer, b.Peer = b, a
	a.train()
	return nil
}

// Disconnect pulls the cable out of a port.
func (f *Fabric) Disconnect(p *Port) {
	if peer := p.Peer; peer != nil {
		p.linkChanges()
		p.Peer, peer.Peer = nil, nil
		p.down(ib.PhysPolling)
		peer.down(ib.PhysPolling)
	}
}

// String names the port as net files do: "leaf1"[3].
func (p *Port) String() string { return fmt.Sprintf("%q[%d]", p.Node.ID, p.Number) }
