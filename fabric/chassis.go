package fabric

import (
	"slices"
	"strconv"

	"github.com/ibkit/ibkit/ib"
)

// A System is a chassis: several nodes behind one front panel.
type System struct {
	Number int     // counts from 1, Voltaire's first, each nearer to the start before those farther away
	GUID   ib.GUID // of the chassis; by it the nodes of most systems are grouped
	Kind   string  // the model, such as "ISR9288"; empty where it is not known
	Nodes  []*Node // spines, lines and routers by slot, then the others
}

func (s *System) add(n *Node) {
	n.System = s
	s.Nodes = append(s.Nodes, n)
}

// A SlotKind says what sort of board a chassis' slot holds.
type SlotKind uint8

// The kinds of slot. SlotRouter is a router board, Voltaire's sRBD.
const (
	SlotNone SlotKind = iota
	SlotLine
	SlotSpine
	SlotRouter
)

// String returns "Line", "Spine" or "SRBD", the names that libibnetdisc
// prints, and "" for none.
func (k SlotKind) String() string {
	switch k {
	case SlotLine:
		return "Line"
	case SlotSpine:
		return "Spine"
	case SlotRouter:
		return "SRBD"
	}
	return ""
}

// A Slot is the place of a node in its chassis.
type Slot struct {
	Kind   SlotKind
	Number int // of the board, as printed on the chassis
	Chip   int // of the several switch chips that a board may hold, from 1
}

// String returns "Line 1 Chip 2" as libibnetdisc prints it, and "" where the
// slot is not known.
func (s Slot) String() string {
	if s.Kind == SlotNone {
		return ""
	}
	return s.Kind.String() + " " + strconv.Itoa(s.Number) + " Chip " + strconv.Itoa(s.Chip)
}

// groupSystems finds out which nodes are built into one chassis and where in
// it they sit, and gives their ports the numbers printed on it. The rules are
// those of rdma-core's libibnetdisc/chassis.c, but one board that does not fit
// in has no slot here, where libibnetdisc gives up on the whole fabric; and of
// two boards that claim a slot, the one found first has it, which in
// libibnetdisc depends on the order of replies.
func (f *Fabric) groupSystems() {
	f.Systems = nil
	for _, n := range f.Nodes {
		n.System, n.Slot = nil, Slot{}
		for _, p := range n.Ports {
			if p != nil {
				p.External = 0
			}
		}
	}
	f.placeVoltaire()
	f.groupVoltaire()
	kinds := f.placeMellanox()
	f.groupByGUID(kinds)
	for _, n := range f.Nodes {
		if n.System == nil {
			n.Slot = Slot{}
		}
	}
}

// groupByGUID makes a system of all nodes, Voltaire's apart, that have a
// chassis GUID in common. A node alone is no system.
func (f *Fabric) groupByGUID(kinds map[*Node]string) {
	members := make(map[ib.GUID][]*Node)
	var guids []ib.GUID // in the order of the nodes
	for _, n := range f.Nodes {
		guid := chassisGUID(n)
		if guid == 0 || n.Info.VendorID == vendorVoltaire {
			continue
		}
		if members[guid] == nil {
			guids = append(guids, guid)
		}
		members[guid] = append(members[guid], n)
	}
	for _, guid := range guids {
		if len(members[guid]) < 2 {
			continue
		}
		s := f.newSystem(guid)
		taken := make(map[Slot]bool)
		for _, n := range members[guid] {
			if n.System != nil || taken[n.Slot] {
				continue
			}
			taken[n.Slot] = n.Slot.Kind != SlotNone
			s.add(n)
			if s.Kind == "" {
				s.Kind = kinds[n]
			}
		}
		slices.SortStableFunc(s.Nodes, bySlot)
	}
}

func (f *Fabric) newSystem(guid ib.GUID) *System {
	s := &System{Number: len(f.Systems) + 1, GUID: guid}
	f.Systems = append(f.Systems, s)
	return s
}
