package fabric

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// ReadLabels reads labels for ports with agents that report their positions
// (HierarchyInfo). A port without a valid response has no label; timeouts are added to
// Failures. It returns an error if ctx ends or the local port fails.
func (f *Fabric) ReadLabels(ctx context.Context, c *umad.Client) error {
	queried := false
	for _, n := range f.Nodes {
		for _, p := range n.Ports {
			if p == nil || p.IsManagement() || p.Info == nil && p.Peer == nil {
				continue
			}
			if caps := p.Caps(); caps != nil && caps.CapMask.Has(mad.CapHierarchyInfo) {
				queried = true
				f.readLabel(c, p, nil)
			}
		}
	}
	if !queried {
		return nil
	}
	err := c.Run(ctx)
	f.Stats = c.Stats()
	f.sortFailures()
	if err != nil {
		return fmt.Errorf("read labels of ports: %w", err)
	}
	return nil
}

// maxLabelBlocks limits a position's blocks. The templates have up to 16 records, 13 per
// block.
const maxLabelBlocks = 4

// readLabel requests the next block for a port's position.
func (f *Fabric) readLabel(c *umad.Client, p *Port, blocks []mad.HierarchyInfo) {
	number := p.Number
	if !p.Node.IsSwitch() {
		number = 0 // the port that receives the request
	}
	to, modifier := f.entry(p), mad.HierarchyModifier(number, uint8(len(blocks)))
	var block mad.HierarchyInfo
	c.SubmitGet(to, &block, func(err error) {
		switch {
		case err == nil:
			blocks = append(blocks, block)
			if len(blocks) <= int(blocks[0].MaxActive) && len(blocks) < maxLabelBlocks {
				f.readLabel(c, p, blocks)
				return
			}
			p.Label = portLabel(p.Node.Info.NodeType, blocks)
		case errors.Is(err, umad.ErrTimeout):
			f.Failures = append(f.Failures, Failure{
				Route: to.Route, LID: to.LID, NodeGUID: p.Node.GUID, Port: p.Number,
				Attr: mad.AttrHierarchyInfo, Modifier: modifier, Err: err,
			})
		}
	}, umad.Modifier(modifier))
}

// entry returns the target that reaches a node at a port: an adapter's agent knows only
// the port that receives a request.
func (f *Fabric) entry(p *Port) umad.Target {
	peer := p.Peer
	switch {
	case p.Node.Route.IsNone() && p.Node != f.Start:
		return umad.Target{LID: p.LID()} // the fabric is from records without routes
	case p.Node.IsSwitch() || p.Node == f.Start && p.Number == f.StartPort ||
		peer == nil || !peer.Node.IsSwitch():
		return umad.Target{LID: f.from, Route: p.Node.Route}
	}
	return umad.Target{LID: f.from, Route: peer.Node.Route.Append(peer.Number)}
}

// The port types in templates 4 and 5, and the chip names in template 4 (ibdm, Fabric.h in
// NVIDIA's SDK).
var (
	hierarchyTypes = map[uint32]string{1: "FNM1", 2: "FNM", 3: "sw", 4: "HCA", 5: "Access", 6: "GPU"}
	hierarchyChips = map[uint32]string{1: "A1", 2: "A2", 3: "A3", 4: "A4", 256: "A", 257: "B"}
)

// portLabel returns a port's label in ibdiagnet's form (ibdm, Fabric.h,
// PortHierarchyInfo::createLabel): chip/cage/port/split for an NDR switch port, such as
// 1/3/2, and swA3p2 for XDR. It returns "" for an unknown template, and for blocks that
// contradict the template.
func portLabel(kind mad.NodeType, blocks []mad.HierarchyInfo) string {
	values := map[uint8]uint32{}
	for _, b := range blocks {
		if b.TemplateGUID != blocks[0].TemplateGUID {
			return ""
		}
		for _, r := range b.Active() {
			if _, twice := values[r.Selector()]; twice {
				return ""
			}
			values[r.Selector()] = r.Value()
		}
	}
	if len(values) == 0 {
		return ""
	}
	switch blocks[0].TemplateGUID {
	case mad.HierarchyTemplateNDR:
		return labelNDR(kind, values)
	case mad.HierarchyTemplateXDR:
		return labelXDR(values)
	case mad.HierarchyTemplateXDRHost:
		return labelXDRHost(values)
	}
	return ""
}

// onlySelectors reports whether all records have one of a template's selectors.
func onlySelectors(values map[uint8]uint32, selectors ...uint8) bool {
	for s := range values {
		if !slices.Contains(selectors, s) {
			return false
		}
	}
	return true
}

// labelNDR returns a template 3 label.
func labelNDR(kind mad.NodeType, values map[uint8]uint32) string {
	const split, port, cage, chip, slot, pci = 0, 1, 2, 3, 4, 6
	number, hasPort := values[port]
	in, hasCage := values[cage]
	if !hasPort || !hasCage || !onlySelectors(values, 0, 1, 2, 3, 4, 5, 6) {
		return ""
	}
	place := ""
	switch {
	case kind == mad.NodeTypeSwitch:
		on, ok := values[chip]
		if !ok {
			return ""
		}
		place = strconv.FormatUint(uint64(on), 10)
	case kind == mad.NodeTypeCA:
		const physical, slotType, slotShift = 1, 0x3, 8
		if s, ok := values[slot]; ok && s&slotType == physical {
			place = fmt.Sprintf("Physical%d", s>>slotShift)
		} else if address, ok := values[pci]; ok && address != 0 {
			place = pciLabel(address)
		} else {
			return ""
		}
	default:
		return ""
	}
	label := fmt.Sprintf("%s/%d/%d", place, in, number)
	if s, ok := values[split]; ok {
		label += fmt.Sprintf("/%d", s)
	}
	return label
}

// labelXDR returns a template 4 label.
func labelXDR(values map[uint8]uint32) string {
	const kind, chip, ibPort, cage, port, split = 0, 1, 2, 3, 4, 5
	name := hierarchyTypes[values[kind]]
	if name == "" || !onlySelectors(values, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12) {
		return ""
	}
	if c, ok := values[chip]; ok {
		if hierarchyChips[c] == "" {
			return ""
		}
		name += hierarchyChips[c]
	}
	if v, ok := values[ibPort]; ok {
		name += fmt.Sprintf("P%d", v)
	}
	return name + cageLabel(values, cage, port, split)
}

// labelXDRHost returns a template 5 label.
func labelXDRHost(values map[uint8]uint32) string {
	const kind, ibPort, cage, port, split, pci, gpu = 0, 2, 3, 4, 5, 9, 6
	name := hierarchyTypes[values[kind]]
	if name == "" || !onlySelectors(values, 0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14, 15) {
		return ""
	}
	if values[kind] == gpu {
		return fmt.Sprintf("GPUP%d", values[ibPort])
	}
	label := "ib"
	if address, ok := values[pci]; ok {
		label += pciLabel(address)
	}
	return label + name + cageLabel(values, cage, port, split)
}

func cageLabel(values map[uint8]uint32, cage, port, split uint8) (label string) {
	for _, part := range []struct {
		prefix   string
		selector uint8
	}{{"", cage}, {"p", port}, {"s", split}} {
		if v, ok := values[part.selector]; ok {
			label += part.prefix + strconv.FormatUint(uint64(v), 10)
		}
	}
	return label
}

// pciLabel returns a 16-bit PCI address: bus, device and function.
func pciLabel(address uint32) string {
	return fmt.Sprintf("B%dD%dF%d", address>>8&0xff, address>>3&0x1f, address&0x7)
}
