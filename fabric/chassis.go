package fabric

import "strconv"

// A System is a chassis: several nodes behind one front panel.
type System struct {
	Number int    // counts from 1 in the order in which the systems were found
	GUID   uint64 // of the chassis; by it the nodes of most systems are grouped
	Kind   string // the model, such as "ISR9288"; empty where it is not known
	Nodes  []*Node
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
