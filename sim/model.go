// Package sim simulates an InfiniBand fabric in memory: nodes, links, the agents that
// answer management datagrams, and a subnet manager. Commands that send MADs can run
// against a simulated fabric without any hardware or other software.
//
// A [Fabric] comes from a description ([Build]) or from code. [Fabric.Configure] runs
// the subnet manager; [Fabric.Open] returns a port to send requests from.
package sim

import (
	"fmt"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Fabric is a set of nodes and the links between them. It is not safe for concurrent use.
type Fabric struct {
	Nodes []*Node

	// Model sets delays and losses. With the zero value, replies come at once and
	// packets are never lost.
	Model Model

	// Manager configures Configure. The zero value selects shortest paths.
	Manager Manager

	// NoRMPP limits subnet administration replies to one MAD, for clients without RMPP
	// support.
	NoRMPP bool

	byID    map[string]*Node
	senders map[*Port]uint64 // senders made
	extra   []mad.Packet     // packets that follow the reply to a request

	inUse   bool    // a sender exists
	master  *Port   // the fabric's own subnet manager port; nil: not configured
	setting *Port   // port that a request is changing
	changed []*Node // switches with link changes since Notifications
	notices []notice
	sent    []Notification // for Notifications

	listener *clientPort // receives packets without a request

	clock     func() time.Time // nil: time.Now
	firstLook time.Time        // first access to counters
	wasRead   bool             // a request for counters arrived
	early     int              // events before this request

	admin administration

	events *eventQueue     // nil: no events
	pulled map[*Port]*Port // last peers, by disconnected port

	// Buffers for frequent attributes, which would be allocated otherwise.
	nodeInfo mad.NodeInfo
	portInfo mad.PortInfo
	perfInfo mad.ClassPortInfo
	perfQPs  map[uint32]*Node // by queue pair, the nodes that redirect requests to it
	samples  mad.PortSamplesControl
}

// A Node is a channel adapter, a switch or a router. The fields used for routing come
// first, so that they share a cache line.
type Node struct {
	// Ports is indexed by port number. Entry 0 is a switch's management port and not used
	// for other nodes.
	Ports []Port

	Info   mad.NodeInfo
	ID     string // unique in the fabric
	Desc   mad.NodeDescription
	Switch mad.SwitchInfo // switches only

	// LFT is a switch's linear forwarding table: the port for each LID, or noRoute.
	LFT []uint8

	mft map[ib.LID]*mad.PortMask // multicast forwarding table in a switch

	// Silent makes the node discard all packets that it receives.
	Silent bool

	muted []mute // requests without an answer

	// PingServer is the host name with which the node answers pings, as an ibping
	// server does. "": the node does not answer pings.
	PingServer string

	fabric  *Fabric
	perf    perfAgent
	vendor  *vendorAgent // nil: the node does not answer NVIDIA's attributes
	split   bool         // each switch connector has two ports
	off     bool         // powered off
	changed bool         // in Fabric.changed
	busy    busy
	index   int // switch number while routes are computed
}

// A Port is a port of a node. The fields used for routing come first.
type Port struct {
	Node   *Node
	Peer   *Port // port at the other cable end; nil: no cable
	Number uint8
	Info   mad.PortInfo
	GUID   ib.GUID
	Ext    *mad.MlnxExtPortInfo // FDR10-capable ports only
	PKeys  []mad.PKey
	SLtoVL mad.SLtoVLMapping
	counts *counts        // nil: all counters are 0
	vlArb  *vlArbitration // nil: defaultVLArbitration
	cc     *congestion    // nil: no request yet
	fec    uint16         // PortInfoExtended.FECModeActive
	optics optics
}

// noRoute is the forwarding table entry for a LID without a route.
const noRoute = 255

// IsSwitch reports whether the node is a switch.
func (n *Node) IsSwitch() bool { return n.Info.IsSwitch() }

// Node returns the node with an ID, nil for an unknown ID.
func (f *Fabric) Node(id string) *Node { return f.byID[id] }

// A NodeSpec describes a new node. Fields that are 0 get defaults.
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

// A LinkSpec describes the widths and speeds that ports support and have enabled.
type LinkSpec struct {
	Width ib.LinkWidth // widest; 0: 4X
	Speed ib.Speed     // fastest; 0: HDR
}

// NVIDIA's vendor ID and GUIDs, for preset nodes.
const (
	defaultVendor = mad.VendorMlnx

	firstSwitchGUID = 0x0002c90000800000
	firstHCAGUID    = 0x0002c90000100000
)

// nextGUID returns the GUID for the next node and leaves room for an adapter's port GUIDs.
// The first adapter and switch GUIDs are 0x7000 nodes apart; after 0x4000 nodes the GUIDs
// continue in another vendor block.
func (f *Fabric) nextGUID(first ib.GUID) ib.GUID {
	const block = 0x4000
	i := uint64(len(f.Nodes))
	return first + ib.GUID(i/block<<32+i%block<<8)
}

// Add adds a node. IDs must be unique; GUIDs may be duplicates, as in a fabric with
// defects.
func (f *Fabric) Add(s NodeSpec) (*Node, error) {
	isSwitch := s.Kind == mad.NodeTypeSwitch
	if s.Ports < 1 || s.Ports > 254 {
		return nil, fmt.Errorf("add node %q: %d ports: not a number from 1 to 254", s.ID, s.Ports)
	}
	if f.byID == nil {
		f.byID = map[string]*Node{}
	}
	if f.byID[s.ID] != nil {
		return nil, fmt.Errorf("add node %q: duplicate ID", s.ID)
	}
	guid, device := f.nextGUID(firstHCAGUID), devicesOf(s.Link.Speed).adapter
	if isSwitch {
		guid, device = f.nextGUID(firstSwitchGUID), devicesOf(s.Link.Speed).fabric
	}
	n := &Node{
		fabric: f,
		perf:   perfAgent{perfCaps: newPerfCaps(isSwitch)},
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
		if isSwitch && i == 0 && p.Info.CapMask.Has(mad.CapCapMask2) {
			p.Info.CapMask2 |= mad.Cap2SwitchPortStateTable
		}
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

// or returns v, or def if v is the zero value.
func or[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// Connect connects two ports. The link comes up at the best width and speed that both
// ends have enabled.
func (f *Fabric) Connect(a, b *Port) error {
	for _, p := range []*Port{a, b} {
		if p.Peer != nil {
			return fmt.Errorf("connect %s to %s: %s is connected to %s", a, b, p, p.Peer)
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

// Disconnect disconnects a port's cable.
func (f *Fabric) Disconnect(p *Port) {
	if peer := p.Peer; peer != nil {
		p.linkChanges()
		p.Peer, peer.Peer = nil, nil
		p.down(ib.PhysPolling)
		peer.down(ib.PhysPolling)
	}
}

// String returns the port name as in net files: "leaf1"[3].
func (p *Port) String() string { return fmt.Sprintf("%q[%d]", p.Node.ID, p.Number) }
