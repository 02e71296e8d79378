package sim

import "github.com/ibkit/ibkit/mad"

// lftBlock is the number of LIDs in a LinearForwardingTable packet.
const lftBlock = 64

func getLFT(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	if !d.node.IsSwitch() {
		return mad.StatusBadMethodAttr
	}
	if p.Modifier() >= linearFDBCap/lftBlock {
		return mad.StatusBadValue
	}
	t := d.node.forwarding(int(p.Modifier()))
	return encode(p, &t)
}

// forwarding returns a linear forwarding table block.
func (n *Node) forwarding(block int) (t mad.LinearForwardingTable) {
	for i := range t.Ports {
		t.Ports[i] = noRoute
	}
	if first := block * lftBlock; first < len(n.LFT) {
		copy(t.Ports[:], n.LFT[first:])
	}
	return t
}

func setLFT(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	var t mad.LinearForwardingTable
	if !d.node.IsSwitch() || p.Decode(&t) != nil {
		return mad.StatusBadMethodAttr
	}
	if p.Modifier() >= linearFDBCap/lftBlock {
		return mad.StatusBadValue
	}
	first := int(p.Modifier()) * lftBlock
	d.node.growLFT(first + lftBlock)
	copy(d.node.LFT[first:], t.Ports[:])
	return 0
}

// growLFT extends the forwarding table to size entries.
func (n *Node) growLFT(size int) {
	for len(n.LFT) < size {
		n.LFT = append(n.LFT, noRoute)
	}
}

// tablePort returns the port that a table's modifier selects: the modifier's upper half on
// a switch, otherwise the port at which the packet arrived.
func (d destination) tablePort(modifier uint32) *Port {
	if !d.node.IsSwitch() {
		return d.port(0)
	}
	return d.port(modifier >> 16)
}

func getPKeyTable(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	port, block := d.tablePort(p.Modifier()), int(p.Modifier()&0xffff)
	var t mad.PKeyTable
	if port == nil || block*len(t.PKeys) >= partitionCap {
		return mad.StatusBadValue
	}
	if first := block * len(t.PKeys); first < len(port.PKeys) {
		copy(t.PKeys[:], port.PKeys[first:])
	}
	return encode(p, &t)
}

func setPKeyTable(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	port, block := d.tablePort(p.Modifier()), int(p.Modifier()&0xffff)
	var t mad.PKeyTable
	if port == nil || block*len(t.PKeys) >= partitionCap || p.Decode(&t) != nil {
		return mad.StatusBadValue
	}
	first := block * len(t.PKeys)
	for len(port.PKeys) < first+len(t.PKeys) {
		port.PKeys = append(port.PKeys, 0)
	}
	copy(port.PKeys[first:], t.PKeys[:])
	return 0
}

func getSLtoVL(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	port := d.sltovlPort(p.Modifier())
	if port == nil {
		return mad.StatusBadValue
	}
	return encode(p, &port.SLtoVL)
}

func setSLtoVL(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	port := d.sltovlPort(p.Modifier())
	if port == nil || p.Decode(&port.SLtoVL) != nil {
		return mad.StatusBadValue
	}
	return 0
}

// sltovlPort returns the output port for an SLtoVLMappingTable. On a switch, modifier bits
// 8 to 15 are the input port and bits 0 to 7 the output port (InfiniBand Architecture,
// Volume 1, 14.2.5.8). All input ports share a table.
func (d destination) sltovlPort(modifier uint32) *Port {
	if !d.node.IsSwitch() {
		return d.port(0)
	}
	return d.port(modifier & 0xff)
}
