package route

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// Add appends a node with count ports beside port 0.
func (r *Routing) Add(guid ib.GUID, kind mad.NodeType, count uint8) *Node {
	n := &Node{GUID: guid, Type: kind, Ports: make([]Port, int(count)+1), index: len(r.Nodes)}
	for i := range n.Ports {
		n.Ports[i].Node, n.Ports[i].Number = n, uint8(i)
	}
	if r.byGUID == nil {
		r.byGUID = map[ib.GUID]*Node{}
	}
	if r.byGUID[guid] == nil {
		r.byGUID[guid] = n
	}
	r.Nodes = append(r.Nodes, n)
	return n
}

// Connect makes two ports a link's ends.
func Connect(a, b *Port) { a.Peer, b.Peer = b, a }

// NodeByAnyGUID returns the node with a GUID, or with a port that has it, or nil.
func (r *Routing) NodeByAnyGUID(guid ib.GUID) *Node {
	if n := r.byGUID[guid]; n != nil {
		return n
	}
	if r.byPortGUID == nil {
		r.byPortGUID = map[ib.GUID]*Node{}
		for _, n := range r.Nodes {
			for i := range n.Ports {
				if p := &n.Ports[i]; p.GUID != 0 && r.byPortGUID[p.GUID] == nil {
					r.byPortGUID[p.GUID] = n
				}
			}
		}
	}
	return r.byPortGUID[guid]
}

// AddTables returns a switch's tables, which it adds if there are none yet.
func (n *Node) AddTables() *Tables {
	if n.Tables == nil {
		n.Tables = &Tables{}
	}
	return n.Tables
}

// SetLanes sets the virtual lanes by service level from an input port to an output port.
// The switch's other pairs keep the lane with the service level's number.
func (n *Node) SetLanes(in, out uint8, lanes [16]uint8) {
	t := n.AddTables()
	if t.SLtoVL == nil {
		t.SLtoVL = make([][16]uint8, len(n.Ports)*len(n.Ports))
		for i := range t.SLtoVL {
			for sl := range t.SLtoVL[i] {
				t.SLtoVL[i][sl] = uint8(sl)
			}
		}
	}
	t.SLtoVL[int(in)*len(n.Ports)+int(out)] = lanes
}

// SetMulticast sets a multicast LID's ports.
func (n *Node) SetMulticast(lid ib.LID, mask mad.PortMask) {
	t := n.AddTables()
	if t.MFT == nil {
		t.MFT = map[ib.LID]mad.PortMask{}
	}
	t.MFT[lid] = mask
}
