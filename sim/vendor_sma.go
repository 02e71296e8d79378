package sim

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// The agents for NVIDIA's subnet management attributes and for HierarchyInfo answer for
// nodes with a vendor agent.

func getVendorCapabilities(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	if d.node.vendor == nil || p.Modifier() != mad.VendorCapabilitiesModifier {
		return mad.StatusBadMethodAttr
	}
	var a mad.VendorCapabilities
	if d.node.IsSwitch() {
		a.Add(mad.VendorCapAdaptiveRoutingRev)
		a.Add(mad.VendorCapPrivateLFT)
	}
	return encode(p, &a)
}

// hasAdaptiveRouting reports whether the node has adaptive routing tables.
func (n *Node) hasAdaptiveRouting() bool { return n.vendor != nil && n.IsSwitch() }

func getPrivateLFTInfo(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	if !d.node.hasAdaptiveRouting() {
		return mad.StatusBadMethodAttr
	}
	return encode(p, &mad.PrivateLFTInfo{Tables: 4, ModeCap: 1, Modes: [7]mad.PrivateLFTMode{{Size: 48, Banks: 4}}})
}

func getAdaptiveRoutingInfo(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	if !d.node.hasAdaptiveRouting() {
		return mad.StatusBadMethodAttr
	}
	a := mad.AdaptiveRoutingInfo{GroupCap: maxARGroups, GroupTableCap: 1, BySLCap: 1, SubGroupsCap: 1, ARVersionCap: 1, EnableBySL: 0xffff}
	if r := d.node.vendor.adaptive; r != nil {
		a.Enabled = 1
		a.GroupTop = uint16(max(len(r.groups), 1) - 1)
	}
	return encode(p, &a)
}

func getARGroupTable(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	if !d.node.hasAdaptiveRouting() {
		return mad.StatusBadMethodAttr
	}
	var a mad.ARGroupTable
	perBlock := uint32(len(a.SubGroups))
	if p.Modifier() >= maxARGroups/perBlock {
		return mad.StatusBadValue
	}
	if r := d.node.vendor.adaptive; r != nil {
		if first := int(p.Modifier() * perBlock); first < len(r.groups) {
			copy(a.SubGroups[:], r.groups[first:])
		}
	}
	return encode(p, &a)
}

func getARLFT(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	n := d.node
	if !n.hasAdaptiveRouting() {
		return mad.StatusBadMethodAttr
	}
	var a mad.ARLinearForwardingTable
	perBlock := uint32(len(a.Entries))
	if p.Modifier() >= linearFDBCap/perBlock {
		return mad.StatusBadValue
	}
	for i := range a.Entries {
		lid := int(p.Modifier()*perBlock) + i
		e := &a.Entries[i]
		*e = mad.ARForwarding{State: mad.ARStatic, Port: noRoute}
		if lid < len(n.LFT) {
			e.Port = n.LFT[lid]
		}
		if r := n.vendor.adaptive; r != nil && lid < len(r.byLID) && r.byLID[lid] != noGroup {
			e.State, e.Group = mad.ARFree, r.byLID[lid]
		}
	}
	return encode(p, &a)
}

func getHierarchyInfo(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	port := d.port(p.Modifier() & 0xff)
	switch {
	case d.node.vendor == nil:
		return mad.StatusBadMethodAttr
	case port == nil, port.Number == 0, p.Modifier()>>8 != 0:
		return mad.StatusBadValue
	}
	var a mad.HierarchyInfo
	var records []mad.HierarchyRecord
	a.TemplateGUID, records = port.hierarchy()
	a.ActiveLevels = uint8(copy(a.Records[:], records))
	return encode(p, &a)
}

// hierarchy returns the port's template and position: the cage, the port in the cage, and
// the part within a split port. NDR and XDR cages have two ports.
func (p *Port) hierarchy() (template uint64, records []mad.HierarchyRecord) {
	add := func(selector uint8, value int) {
		records = append(records, mad.NewHierarchyRecord(selector, uint32(value)))
	}
	connector, split := int(p.Number), 0
	if p.Node.split {
		connector = (connector + 1) / 2
		if p.Info.LinkWidthSupported&ib.Width4X == 0 {
			split = 2 - int(p.Number)%2
		}
	}
	cage, port := connector, 1
	if p.Node.IsSwitch() && p.Info.LinkSpeedExtSupported.Speed()&ib.NDR != 0 {
		cage, port = (connector+1)/2, 2-connector%2
	}
	const bus = 0x17
	switch isXDR := p.Info.LinkSpeedExt2Supported != 0; {
	case isXDR && p.Node.IsSwitch():
		add(0, 3)   // type: switch
		add(1, 256) // ASIC A
		add(3, cage)
		add(4, port)
		if split > 0 {
			add(5, split)
		}
		return mad.HierarchyTemplateXDR, records
	case isXDR:
		add(0, 4) // type: HCA
		add(3, 1)
		add(4, port)
		add(9, bus<<8) // PCI address
		return mad.HierarchyTemplateXDRHost, records
	}
	if split > 0 {
		add(0, split)
	}
	add(1, port)
	add(2, cage)
	if p.Node.IsSwitch() {
		add(3, 1) // ASIC
	} else {
		add(6, bus<<8) // PCI address
	}
	return mad.HierarchyTemplateNDR, records
}
