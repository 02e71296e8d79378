package fabric_test

import (
	"os"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// fakeFabric is a fabric behind a umad.Port. It responds to directed-route packets
// at once, in the order that pick returns.
type fakeFabric struct {
	local *fakeNode

	// answer, if not nil, may change the reply of a node. It returns false to
	// drop the reply.
	answer func(n *fakeNode, reply *mad.Packet) bool

	// pick returns the index of the next of n waiting replies; nil picks the
	// oldest.
	pick func(n int) int

	broken  error // if not nil, Send and Recv return it
	replies []umad.Message
	sent    int
	stopped bool
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

func (f *fakeFabric) Attr() umad.PortAttr { return umad.PortAttr{Device: "fake0", Number: 1} }
func (f *fakeFabric) Interrupt()          { f.stopped = true }
func (f *fakeFabric) Close() error        { return nil }

func (f *fakeFabric) Send(m *umad.Message) error {
	if f.broken != nil {
		return f.broken
	}
	f.sent++
	if reply, ok := f.route(m); ok {
		f.replies = append(f.replies, reply)
	}
	return nil
}

func (f *fakeFabric) Recv(m *umad.Message, deadline time.Time) error {
	if len(f.replies) == 0 {
		if f.broken != nil {
			return f.broken
		}
		if !deadline.IsZero() && !f.stopped {
			time.Sleep(time.Until(deadline))
		}
		return os.ErrDeadlineExceeded
	}
	i := 0
	if f.pick != nil {
		i = f.pick(len(f.replies))
	}
	*m = f.replies[i]
	f.replies = append(f.replies[:i], f.replies[i+1:]...)
	return nil
}

// route delivers a packet to its destination and returns the reply.
func (f *fakeFabric) route(m *umad.Message) (umad.Message, bool) {
	node, entry := f.local, uint8(0)
	if f.local.kind != mad.NodeTypeSwitch {
		entry = 1
	}
	route := m.MAD.InitialPath()
	for i := range route.Hops() {
		exit := route[i]
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
