package fabric

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// maxPorts is the highest port count for a node (InfiniBand Architecture, Volume 1,
// 14.2.5.3).
const maxPorts = 254

// Invalid returns the values in the node's NodeInfo that no node may have, each
// as a phrase, for example "node GUID 0"; nil for a valid node. A node with
// invalid data is part of the fabric all the same.
func (n *Node) Invalid() []string {
	var s []string
	if t := n.Info.NodeType; t < mad.NodeTypeCA || t > mad.NodeTypeRouter {
		s = append(s, fmt.Sprintf("node type %d", t))
	}
	if n.GUID == 0 {
		s = append(s, "node GUID 0")
	}
	if c := n.Info.NumPorts; c == 0 || c > maxPorts {
		s = append(s, fmt.Sprintf("node with %d ports", c))
	}
	return s
}

// Invalid returns the port values that no port may have, each as a phrase, for example
// "LID 49152"; nil for a valid port.
func (p *Port) Invalid() []string {
	var s []string
	if !p.linkable() && !p.IsManagement() {
		s = append(s, fmt.Sprintf("port number %d", p.Number))
	}
	if p.GUID == 0 {
		s = append(s, "port GUID 0")
	}
	if i := p.Info; i != nil {
		if !i.State.Defined() || !i.PhysState.Defined() {
			s = append(s, fmt.Sprintf("state %s/%s", i.State, i.PhysState))
		}
		if last := int(i.LID) + 1<<i.LMC - 1; i.LID != 0 && last > int(ib.MaxUnicastLID) {
			s = append(s, fmt.Sprintf("LID %d with LMC %d", i.LID, i.LMC))
		}
	}
	return s
}

// IsManagement reports whether the port is a switch's port 0, which has no link.
func (p *Port) IsManagement() bool {
	return p.Number == 0 && p.Node.IsSwitch() && p.Peer == nil
}

// linkable reports whether the number is the number of a port with a link.
func (p *Port) linkable() bool { return p.Number > 0 && p.Number <= p.Node.Info.NumPorts }

// portValid reports whether the claim ends at a port that the node has.
func (c *claim) portValid() bool {
	return c.info.LocalPort > 0 && c.info.LocalPort <= c.info.NumPorts
}

// An invalidEnd is a link to a port that its node does not have.
type invalidEnd struct {
	claim
	node *scanNode
}

// foundAtInvalidPort adds a node with a local port in its NodeInfo that the node does
// not have. For a switch, the scan of its own ports finds the link; an end node gets a
// port with the invalid number.
func (s *scan) foundAtInvalidPort(c claim, depth int) {
	s.conflict(&c, fmt.Sprintf("which has %d ports, numbered from 1", c.info.NumPorts))
	var n *scanNode
	for _, known := range s.nodes[c.info.NodeGUID] {
		if sameIdentity(&known.Info, &c.info) {
			n = known
			break
		}
	}
	if n == nil {
		if s.full() {
			return
		}
		n = s.newNode(c, depth)
	}
	if !n.IsSwitch() && n.PortAt(c.info.LocalPort) == nil {
		s.port(n, c.info.LocalPort).GUID = c.info.PortGUID
		s.queryPortInfo(n, c.to, c.info.LocalPort)
	}
	s.invalid = append(s.invalid, invalidEnd{c, n})
	if depth < n.depth {
		s.shorten(n, depth, c.to, c.info.LocalPort)
	}
}

// linkInvalid joins link ends that were not found from the other end. If several links
// end in the same invalid port, the lowest port number on the node with the lowest GUID
// gets it.
func (s *scan) linkInvalid() {
	slices.SortFunc(s.invalid, func(a, b invalidEnd) int {
		return cmp.Or(cmp.Compare(a.from.GUID, b.from.GUID), cmp.Compare(a.port, b.port))
	})
	for _, e := range s.invalid {
		near, far := e.from.PortAt(e.port), e.node.PortAt(e.info.LocalPort)
		if near == nil || near.Peer != nil || far != nil && far.Peer != nil {
			continue
		}
		far = s.port(e.node, e.info.LocalPort)
		far.GUID = e.info.PortGUID
		near.Peer, far.Peer = far, near
	}
}

// refusable reports whether an error is the answer to a port number that the node may
// not have, because its NodeInfo is invalid.
func (s *scan) refusable(n *scanNode, number uint8, err error) bool {
	if _, refused := errors.AsType[mad.StatusError](err); !refused || n.Node == s.fabric.Start && number == s.fabric.StartPort {
		return false
	}
	isPort0 := number == 0 && n.IsSwitch()
	return n.Info.NumPorts > maxPorts && !isPort0 || number > n.Info.NumPorts || number == 0 && !isPort0
}
