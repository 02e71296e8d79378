package sim

import (
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// build makes the fabric.
func (j *jsonReader) build() (*Fabric, error) {
	f := &Fabric{}
	for _, from := range j.nodes {
		if err := from.add(f); err != nil {
			return nil, from.errorf("%s: %w", from.path, err)
		}
	}
	for i, from := range j.nodes {
		for k := range from.ports {
			if peer := from.ports[k].peer; peer != nil {
				if err := j.link(f, &f.Nodes[i].Ports[k], from, peer); err != nil {
					return nil, err
				}
			}
		}
	}
	return f, nil
}

// add adds the node to the fabric.
func (from *jsonNode) add(f *Fabric) error {
	id := fmt.Sprintf("%s-%016x", kinds[from.info.NodeType].letter, from.info.NodeGUID)
	n, err := f.Add(NodeSpec{Kind: from.info.NodeType, ID: id, Ports: int(from.info.NumPorts)})
	if err != nil {
		return err
	}
	n.Info, n.Desc = from.info, mad.NewNodeDescription(from.desc)
	if from.switchInfo != nil {
		n.Switch = *from.switchInfo
	}
	for i := range n.Ports {
		p, line := &n.Ports[i], &from.ports[i]
		p.GUID = n.Info.NodeGUID
		if !n.IsSwitch() {
			p.GUID = or(line.guid, p.GUID+ib.GUID(i))
		}
		if line.info != nil {
			p.Info = *line.info
		}
		p.Ext = line.ext
	}
	if n.IsSwitch() {
		from.management(&n.Ports[0])
	}
	return nil
}

// management sets up port 0 of a switch. Old files contain only the LID; the capabilities
// are then taken from the other ports.
func (from *jsonNode) management(p *Port) {
	if from.port0 != nil {
		p.Info = *from.port0
		return
	}
	p.Info.LID = from.lid
	for i := range from.ports {
		if info := from.ports[i].info; info != nil {
			p.Info.CapMask, p.Info.CapMask2 = info.CapMask, info.CapMask2
			return
		}
	}
}

// link connects a port to its peer, once for both ends.
func (j *jsonReader) link(f *Fabric, p *Port, from *jsonNode, to *jsonPeer) error {
	path := from.ports[p.Number].path + ".peer"
	there := j.byGUID[to.guid]
	if there == nil {
		return from.errorf("%s.node_guid: node 0x%016x is not in the file, which may be filtered", path, to.guid)
	}
	if to.number < 1 || int(to.number) >= len(there.ports) {
		return from.errorf("%s.port: got %d, want a port of %s, from 1 to %d", path, to.number, there, len(there.ports)-1)
	}
	end := &there.ports[to.number]
	if end.peer == nil || end.peer.guid != p.Node.Info.NodeGUID || end.peer.number != p.Number {
		return from.errorf("%s: port %d of %s has another peer", path, to.number, there)
	}
	q := &f.byID[fmt.Sprintf("%s-%016x", kinds[there.info.NodeType].letter, to.guid)].Ports[to.number]
	if p == q {
		return from.errorf("%s: the peer is the port itself", path)
	}
	if p.Peer == q {
		return nil
	}
	p.Peer, q.Peer = q, p
	switch known, other := from.ports[p.Number].info != nil, end.info != nil; {
	case !known && !other:
		p.train()
	case !known:
		p.mirror(q)
	case !other:
		q.mirror(p)
	}
	return nil
}

// mirror gives a port without a PortInfo the peer's capabilities and state.
func (p *Port) mirror(of *Port) {
	lid := p.Info.LID
	p.Info = of.Info
	p.Info.LID, p.Info.LMC = lid, 0
	p.Info.CapMask &^= mad.CapSM
}
