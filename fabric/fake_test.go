package fabric_test

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// fakeFabric is a fabric behind a simulated port. It responds to directed-route packets
// at once.
type fakeFabric struct {
	umadtest.Port
	local *fakeNode

	// answer, if set, may change or withhold a node's reply; it reports whether there
	// is a reply.
	answer func(n *fakeNode, reply *mad.Packet) bool

	broken error // if set, sending fails
	sent   int
}

type fakeNode struct {
	guid  ib.GUID
	kind  mad.NodeType
	name  string
	ports []fakePort // by number; a switch's port 0 included
}

type fakePort struct {
	peer     *fakeNode
	peerPort uint8
	info     mad.PortInfo
}

// newFakeNode returns a node with unlinked ports.
func newFakeNode(kind mad.NodeType, guid ib.GUID, name string, ports int) *fakeNode {
	n := &fakeNode{guid: guid, kind: kind, name: name, ports: make([]fakePort, ports+1)}
	for i := range n.ports {
		n.ports[i].info = mad.PortInfo{
			State:              ib.PortDown,
			PhysState:          ib.PhysPolling,
			LinkWidthEnabled:   ib.Width4X,
			LinkWidthSupported: ib.Width1X | ib.Width4X,
			LinkWidthActive:    ib.Width4X,
			LinkSpeedSupported: 7,
			LinkSpeedEnabled:   7,
			LinkSpeedActive:    4,
		}
	}
	return n
}

// connect links two ports and brings the link up.
func connect(a *fakeNode, ap uint8, b *fakeNode, bp uint8) {
	a.ports[ap].peer, a.ports[ap].peerPort = b, bp
	b.ports[bp].peer, b.ports[bp].peerPort = a, ap
	for _, p := range []*fakePort{&a.ports[ap], &b.ports[bp]} {
		p.info.State, p.info.PhysState = ib.PortActive, ib.PhysLinkUp
	}
}

// newFakeFabric returns a fabric with a port at a node.
func newFakeFabric(local *fakeNode) *fakeFabric {
	f := &fakeFabric{local: local}
	f.Attributes = umad.PortAttr{Device: "fake0", Number: 1}
	f.OnSend = func(p *umadtest.Port, m umad.Message) error {
		if f.broken != nil {
			return f.broken
		}
		f.sent++
		if reply, ok := f.route(&m); ok {
			p.Deliver(0, reply)
		}
		return nil
	}
	f.OnRecv = func(p *umadtest.Port) error {
		if f.broken != nil && p.Pending() == 0 {
			return f.broken
		}
		return nil
	}
	return f
}

// pickAny makes replies arrive in the order that a function such as rand.IntN selects.
func (f *fakeFabric) pickAny(index func(n int) int) {
	f.Pick = func(arrived []umad.Message) int { return index(len(arrived)) }
}

// route delivers a packet to its destination and returns the reply.
func (f *fakeFabric) route(m *umad.Message) (umad.Message, bool) {
	node, entry := f.local, uint8(0)
	if f.local.kind != mad.NodeTypeSwitch {
		entry = 1
	}
	route := m.MAD.InitialPath()
	for i, exit := range route.Ports() {
		if int(exit) >= len(node.ports) || node.ports[exit].peer == nil || i > 0 && node.kind != mad.NodeTypeSwitch {
			return umad.Message{}, false
		}
		node, entry = node.ports[exit].peer, node.ports[exit].peerPort
	}
	reply := *m
	reply.MAD[3] = byte(mad.MethodGetResp)
	if !node.fill(&reply.MAD, entry) {
		reply.MAD.SetStatus(mad.StatusBadMethodAttr)
	}
	if f.answer != nil && !f.answer(node, &reply.MAD) {
		return umad.Message{}, false
	}
	return reply, true
}

// fill writes the requested attribute.
func (n *fakeNode) fill(p *mad.Packet, entry uint8) bool {
	var attr mad.Attribute
	switch p.Attr() {
	case mad.AttrNodeInfo:
		portGUID := n.guid
		if n.kind != mad.NodeTypeSwitch {
			portGUID += ib.GUID(entry)
		}
		attr = &mad.NodeInfo{
			BaseVersion: 1, ClassVersion: 1, NodeType: n.kind, NumPorts: uint8(len(n.ports) - 1),
			SystemGUID: n.guid, NodeGUID: n.guid, PortGUID: portGUID, LocalPort: entry,
		}
	case mad.AttrNodeDescription:
		desc := mad.NewNodeDescription(n.name)
		attr = &desc
	case mad.AttrSwitchInfo:
		attr = &mad.SwitchInfo{LinearFDBCap: 1024}
	case mad.AttrSwitchPortStateTable:
		if !n.ports[0].info.CapMask2.Has(mad.Cap2SwitchPortStateTable) {
			return false
		}
		var table mad.SwitchPortStateTable
		for i := range n.ports {
			table.States[i] = n.ports[i].info.State
		}
		attr = &table
	case mad.AttrPortInfo:
		number := p.Modifier()
		if int(number) >= len(n.ports) {
			return false
		}
		info := n.ports[number].info
		info.LocalPort = entry
		attr = &info
	default:
		return false
	}
	return mad.Encode(attr, p.Data()) == nil
}
