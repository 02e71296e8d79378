package fabric

import (
	"cmp"
	"slices"
)

// placeVoltaire finds the slots for Voltaire's chips and their ports' external numbers.
func (f *Fabric) placeVoltaire() {
	for _, n := range f.Nodes {
		if !n.IsSwitch() || n.Info.VendorID != vendorVoltaire {
			continue
		}
		if spine := spineBoardOf(n); spine != nil {
			placeSpine(n, spine)
			numberPorts(n, spine.external)
		} else if line := lineBoardOf(n); line != nil {
			placeLine(n, line)
			numberPorts(n, line.external)
		} else if routerBoards[n.Info.DeviceID] {
			placeRouter(n)
		}
	}
}

// placeSpine finds the slots for a spine chip and the routers linked to it.
func placeSpine(n *Node, b *spineBoard) {
	for _, p := range inner(n, b.ports) {
		switch peer := p.Peer; {
		case !peer.Node.IsSwitch():
			placeRouter(peer.Node)
		case n.Slot.Kind == SlotNone:
			n.Slot = newSlot(SlotSpine, b.slot.at(peer.Number), b.chip.at(peer.Number))
		}
	}
}

func placeLine(n *Node, b *lineBoard) {
	for _, p := range inner(n, b.ports) {
		if spine := spineBoardOf(p.Peer.Node); spine != nil && n.Slot.Kind == SlotNone {
			n.Slot = newSlot(SlotLine, spine.lineSlot.at(p.Peer.Number), spine.lineChip.at(p.Peer.Number))
		}
	}
}

func placeRouter(n *Node) {
	for _, p := range inner(n, n.Info.NumPorts) {
		if spine := spineBoardOf(p.Peer.Node); spine != nil && spine.routerChip != nil && n.Slot.Kind == SlotNone {
			n.Slot = newSlot(SlotRouter, spine.lineSlot.at(p.Peer.Number), spine.routerChip(p.Peer.Node, p.Peer.Number))
		}
	}
}

// newSlot returns a slot from the tables, the zero Slot for undefined numbers.
func newSlot(kind SlotKind, number, chip int) Slot {
	if number == 0 || chip == 0 {
		return Slot{}
	}
	return Slot{kind, number, chip}
}

// inner returns n's linked ports from 1 to last.
func inner(n *Node, last uint8) []*Port {
	var linked []*Port
	for _, p := range n.Ports {
		if p != nil && p.Number >= 1 && p.Number <= last && p.Peer != nil {
			linked = append(linked, p)
		}
	}
	return linked
}

func numberPorts(n *Node, external [2]places) {
	if n.Slot.Chip < 1 || n.Slot.Chip > len(external) {
		return
	}
	for _, p := range n.Ports {
		if p != nil {
			p.External = external[n.Slot.Chip-1].at(p.Number)
		}
	}
}

// groupVoltaire groups each spine with the boards that the wiring inside the
// chassis connects.
func (f *Fabric) groupVoltaire() {
	for _, n := range f.Nodes {
		if n.Info.VendorID == vendorVoltaire && n.Slot.Kind == SlotSpine && n.System == nil {
			f.addVoltaire(n)
		}
	}
}

func (f *Fabric) addVoltaire(first *Node) {
	s := f.newSystem(0)
	s.Kind = spineBoardOf(first).chassis
	taken := make(map[Slot]bool)
	add := func(n *Node) {
		place := n.Slot
		if place.Kind == SlotRouter {
			place.Kind = SlotLine // router boards use line board slots
		}
		if n.System == nil && !taken[place] {
			taken[place] = true
			s.add(n)
		}
	}
	add(first)
	for i := 0; i < len(s.Nodes); i++ {
		switch n := s.Nodes[i]; n.Slot.Kind {
		case SlotSpine:
			for _, p := range inner(n, spineBoardOf(n).ports) {
				if kind := p.Peer.Node.Slot.Kind; kind == SlotLine || kind == SlotRouter {
					add(p.Peer.Node)
				}
			}
		case SlotLine:
			for _, p := range inner(n, lineBoardOf(n).ports) {
				if p.Peer.Node.Slot.Kind == SlotSpine {
					add(p.Peer.Node)
				}
			}
		}
	}
	slices.SortStableFunc(s.Nodes, bySlot)
	s.GUID = s.Nodes[0].GUID - 1 // the Voltaire subnet manager's numbering
}

// bySlot orders a system's nodes: spines, lines and routers, then nodes without a slot.
func bySlot(a, b *Node) int {
	rank := func(k SlotKind) int {
		switch k {
		case SlotSpine:
			return 0
		case SlotLine, SlotRouter:
			return 1
		}
		return 2
	}
	return cmp.Or(
		cmp.Compare(rank(a.Slot.Kind), rank(b.Slot.Kind)),
		cmp.Compare(a.Slot.Number, b.Slot.Number),
		cmp.Compare(a.Slot.Chip, b.Slot.Chip),
	)
}
