package ibtracert

import (
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A place is a request destination: a LID, or a directed route from the local port.
type place struct {
	lid   ib.LID
	route mad.Route
}

// id returns the place with libibmad's text.
func (p *place) id() getopt.PortID {
	to := umad.Target{LID: p.lid, Route: p.route}
	if p.lid == 0 {
		return getopt.PortID{Target: to, Text: "DR path slid 0; dlid 0; " + p.route.String()}
	}
	return getopt.PortID{Target: to, Text: to.String()}
}

// maxPath is the length of the longest route that ibtracert extends.
const maxPath = 62

// extend appends a port to the route. It reports false if the route is too long.
func (p *place) extend(port int) bool {
	if p.route.Hops()+2 >= maxPath+2 {
		return false
	}
	p.route = p.route.Append(uint8(port))
	return true
}

// A node is a node with the port at which requests arrive.
type node struct {
	kind  mad.NodeType
	guid  ib.GUID
	ports int
	desc  mad.NodeDescription
}

// A port is a port on a node.
type port struct {
	guid   ib.GUID
	number int
	lid    ib.LID
	lmc    uint8
	state  ib.PortState
}

// get queries a node attribute at a place.
func (t *tracer) get(at *place, a mad.Attribute, modifier uint32) bool {
	_, err := t.Call(t.ctx, t.client, getopt.MadRPC, at.id(), &umad.Request{Value: a, Modifier: modifier})
	return err == nil
}

// node reads the node at a place and its port.
func (t *tracer) node(n *node, p *port, at *place) bool {
	var info mad.NodeInfo
	var desc mad.NodeDescription
	var ports mad.PortInfo
	if !t.get(at, &info, 0) || !t.get(at, &desc, 0) || !t.get(at, &ports, 0) {
		return false
	}
	*n = node{kind: info.NodeType, guid: info.NodeGUID, ports: int(info.NumPorts), desc: desc}
	*p = port{guid: info.PortGUID, number: int(info.LocalPort), lid: ports.LID, lmc: ports.LMC, state: ports.State}
	return true
}

// A forwarding is a switch's table for a single LID.
type forwarding struct {
	top      ib.LID
	enhanced bool // port 0 is enhanced
}

// lookup reads a LID's output port from the switch at a place; negative if it is unknown.
func (t *tracer) lookup(f *forwarding, at *place, lid ib.LID) int {
	var info mad.SwitchInfo
	if !t.get(at, &info, 0) {
		return -1
	}
	f.top, f.enhanced = info.LinearFDBTop, info.EnhancedPort0 != 0
	if uint16(lid) >= info.LinearFDBCap && lid > info.LinearFDBTop {
		return -1
	}
	var block mad.LinearForwardingTable
	if !t.get(at, &block, uint32(lid)/uint32(len(block.Ports))) {
		return -1
	}
	return int(block.Ports[int(lid)%len(block.Ports)])
}

// isInactive reports whether a port cannot forward packets. A switch's base port 0 is
// always active.
func isInactive(n *node, p *port, f *forwarding) bool {
	return p.state != ib.PortActive && (n.kind != mad.NodeTypeSwitch || f.enhanced)
}

func (t *tracer) same(a, b *port) bool {
	return a.guid == b.guid || t.force && a.lid == b.lid
}

func typeName(k mad.NodeType) string {
	switch k {
	case mad.NodeTypeCA:
		return "ca"
	case mad.NodeTypeSwitch:
		return "switch"
	case mad.NodeTypeRouter:
		return "router"
	}
	return "???"
}

func lastLID(p *port) int { return int(p.lid) + 1<<p.lmc - 1 }

// printEnd prints the first or the last node on a route.
func (t *tracer) printEnd(l level, prompt string, n *node, p *port) {
	number := p.number
	if n.kind == mad.NodeTypeSwitch {
		number = 0
	}
	switch l {
	case brief:
		fmt.Fprintf(t.out, "%s {%v}[%d]\n", prompt, n.guid, number)
	case full:
		fmt.Fprintf(t.out, "%s %s {%v} portnum %d lid %d-%d \"%s\"\n", prompt, typeName(n.kind), n.guid, number, p.lid, lastLID(p), t.names.NameOf(n.guid, n.desc))
	}
}

// printHop prints a route hop.
func (t *tracer) printHop(l level, n *node, output int, p *port) {
	switch {
	case l == silent && t.Verbose == 0:
	case l == brief:
		fmt.Fprintf(t.out, "[%d] -> {%v}[%d]\n", output, p.guid, p.number)
	default:
		fmt.Fprintf(t.out, "[%d] -> %s port {%v}[%d] lid %d-%d \"%s\"\n", output, typeName(n.kind), p.guid, p.number, p.lid, lastLID(p), t.names.NameOf(n.guid, n.desc))
	}
}
