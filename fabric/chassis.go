package fabric

import (
	"slices"
	"strconv"

	"github.com/ibkit/ibkit/ib"
)

// A System is a chassis: several nodes behind a common front panel.
type System struct {
	Number int     // from 1: Voltaire's systems first, then by distance from the start
	GUID   ib.GUID // chassis GUID; most systems are grouped by this GUID
	Kind   string  // the model, for example "ISR9288"; empty if unknown
	Nodes  []*Node // spines, lines and routers by slot, then the others
}

func (s *System) add(n *Node) {
	n.System = s
	s.Nodes = append(s.Nodes, n)
}

// A SlotKind is the kind of board in a chassis slot.
type SlotKind uint8

// The slot kinds. SlotRouter is a router board, Voltaire's sRBD.
const (
	SlotNone SlotKind = iota
	SlotLine
	SlotSpine
	SlotRouter
)

// String returns "Line", "Spine" or "SRBD", the names that libibnetdisc
// prints, and "" for SlotNone.
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

// A Slot is a node's position in its chassis.
type Slot struct {
	Kind   SlotKind
	Number int // board's number as printed on the chassis
	Chip   int // switch chip number on the board, from 1
}

// String returns libibnetdisc's form, "Line 1 Chip 2", and "" for an unknown slot.
func (s Slot) String() string {
	if s.Kind == SlotNone {
		return ""
	}
	return s.Kind.String() + " " + strconv.Itoa(s.Number) + " Chip " + strconv.Itoa(s.Chip)
}

// groupSystems groups the nodes by chassis and finds their slots and their ports'
// external numbers. The rules are the same as in rdma-core's libibnetdisc/chassis.c
// with two exceptions: libibnetdisc rejects the whole fabric because a single board
// does not fit, here the board has no slot; and if two boards claim a slot, the board
// found first gets it, independently of the reply order.
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

// groupByGUID groups the nodes that share a chassis GUID, except Voltaire's. A
// single node does not form a system.
func (f *Fabric) groupByGUID(kinds map[*Node]string) {
	first := make(map[ib.GUID]*Node, len(f.Nodes))
	members := make(map[ib.GUID][]*Node) // of GUIDs that several nodes share
	for _, n := range f.Nodes {
		guid := chassisGUID(n)
		switch {
		case guid == 0 || n.Info.VendorID == vendorVoltaire:
		case first[guid] == nil:
			first[guid] = n
		case members[guid] == nil:
			members[guid] = []*Node{first[guid], n}
		default:
			members[guid] = append(members[guid], n)
		}
	}
	for _, n := range f.Nodes {
		guid := chassisGUID(n)
		if first[guid] != n || members[guid] == nil {
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
