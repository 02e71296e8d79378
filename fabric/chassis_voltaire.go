package fabric

import (
	"cmp"
	"slices"

	"github.com/ibkit/ibkit/mad"
)

// Voltaire's modular switches are built of line boards, which have the
// external ports, and spine boards, to which each line board is wired; some
// hold router boards too. No chip knows where it sits, but the wiring is
// fixed: the port of the spine that a line chip is connected to gives the slot
// of the line board, and the other way round. The tables are facts of the
// hardware, as rdma-core's libibnetdisc/chassis.c has them.

const vendorVoltaire = 0x8f1

// Places is a table by port number from 1: each digit, in base 36, is the slot,
// chip or external number that goes with the port; 0 and what is not there: none.
type places string

func (t places) at(port uint8) int {
	if port < 1 || int(port) > len(t) {
		return 0
	}
	if c := t[port-1]; c > '9' {
		return int(c-'a') + 10
	}
	return int(t[port-1] - '0')
}

// A spineBoard is a kind of spine board.
type spineBoard struct {
	chassis string
	ports   uint8 // those from 1 to ports lead to other boards

	lineSlot, lineChip places // of the line chip at the spine's port

	// Of the spine itself, by the line chip's port that leads to it.
	slot, chip places

	// routerChip numbers the router at the spine's port; nil: the chassis has
	// no routers.
	routerChip func(spine *Node, port uint8) int

	external [2]places // by chip, from 1; the number printed at the port
}

// A lineBoard is a kind of line board.
type lineBoard struct {
	ports    uint8     // those from 1 to ports lead to spines
	external [2]places // by chip, from 1; the number printed at the port
}

var (
	spineISR9096 = spineBoard{
		chassis: "ISR9096", ports: 36,
		lineSlot: "111111222222333333444444", lineChip: "111222111222111222111222",
		slot: "111222333444", chip: "111111111111",
		routerChip: routerByPort,
	}
	spineISR9288 = spineBoard{
		chassis: "ISR9288", ports: 36,
		lineSlot: "112233445566778899aabbcc", lineChip: "121212121212121212121212",
		slot: "111222333444", chip: "123123123123",
		routerChip: routerByGUID,
	}
	spineISR4700 = spineBoard{
		chassis: "ISR4700", ports: 36,
		lineSlot: "112233445566778899aabbccddeeffgghhii", lineChip: "111111111111111111111111111111111111",
		slot: "112233445566778899", chip: "111111111111111111",
	}
	spineISR4700X2 = spineBoard{ // double density: ports from 19 on are external 12X ports
		chassis: "ISR4700", ports: 18,
		lineSlot: "123456789abcdefghi", lineChip: "111111111111111111",
		slot: "112233445566778899", chip: "212121212121212121",
		external: [2]places{
			"000000000000000000" + "777888999aaabbbccc",
			"000000000000000000" + "111222333444555666",
		},
	}
	spineISR4200 = spineBoard{
		chassis: "ISR4200", ports: 36,
		lineSlot: "111122223333444455556666777788889999", lineChip: "111111111111111111111111111111111111",
		slot: "111100222233334444", chip: "111111111111111111",
	}

	spineBoards = map[uint16]*spineBoard{ // by device ID
		0x5a08: &spineISR9288,                        // sFB-12
		0x5a32: &spineISR9288,                        // sFB-12 DDR
		0x5a0b: &spineISR9096,                        // sFB-4
		0x5a33: &spineISR9096,                        // sFB-4 DDR
		0x5a37: withChassis(spineISR9288, "ISR2012"), // sFB-2012
		0x5a40: withChassis(spineISR9096, "ISR2004"), // sFB-2004
		0x5a5c: &spineISR4700,                        // sFB-4700
		0x5a5d: &spineISR4700X2,                      // sFB-4700X2
		0x5a60: &spineISR4200,                        // sFB-4200
	}

	lineSLB24 = lineBoard{ports: 12, external: [2]places{
		"000000000000" + "654ihg123def",
		"000000000000" + "cbaonm789jkl",
	}}
	lineSLB8 = lineBoard{ports: 12, external: [2]places{
		"000000000000" + "222666111555",
		"000000000000" + "444888333777",
	}}
	lineSLB2024 = lineBoard{ports: 12, external: [2]places{
		"000000000000" + "defghijklmno",
		"000000000000" + "123456789abc",
	}}
	lineSLB4018 = lineBoard{ports: 18, external: [2]places{
		"000000000000000000" + "123456789abcdefghi",
		"000000000000000000" + "123456789abcdefghi",
	}}

	lineBoards = map[uint16]*lineBoard{ // by device ID
		0x5a09: &lineSLB24,   // sLB-24
		0x5a34: &lineSLB24,   // sLB-24 DDR
		0x5a42: &lineSLB24,   // sRB-2004
		0x5a0d: &lineSLB8,    // sLB-8
		0x5a38: &lineSLB2024, // sLB-2024
		0x5a5b: &lineSLB4018, // sLB-4018
	}

	routerBoards = map[uint16]bool{
		0x5a00: true, // InfiniBand to Fibre Channel
		0x5a01: true, // InfiniBand to IP
	}
)

func withChassis(b spineBoard, chassis string) *spineBoard {
	b.chassis = chassis
	return &b
}

func routerByPort(_ *Node, port uint8) int {
	return places("321321321321321321321321").at(port)
}

// routerByGUID goes by the GUIDs of the three chips on a spine board, which
// follow one another; the third chip's routers are the first.
func routerByGUID(spine *Node, _ uint8) int {
	switch spine.GUID % 4 {
	case 1:
		return 3
	case 3:
		return 1
	}
	return 2
}

// spineBoardOf returns the kind of spine board that the node is on; nil: none.
func spineBoardOf(n *Node) *spineBoard { return spineBoards[n.Info.DeviceID] }

func lineBoardOf(n *Node) *lineBoard { return lineBoards[n.Info.DeviceID] }

// placeVoltaire finds the slots of Voltaire's chips and the external numbers of
// their ports.
func (f *Fabric) placeVoltaire() {
	for _, n := range f.Nodes {
		if n.Info.NodeType != mad.NodeTypeSwitch || n.Info.VendorID != vendorVoltaire {
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

// placeSpine finds the place of a spine chip, and of routers that it leads to.
func placeSpine(n *Node, b *spineBoard) {
	for _, p := range inner(n, b.ports) {
		switch peer := p.Peer; {
		case peer.Node.Info.NodeType != mad.NodeTypeSwitch:
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

// newSlot returns a slot that the tables gave, none where they had none.
func newSlot(kind SlotKind, number, chip int) Slot {
	if number == 0 || chip == 0 {
		return Slot{}
	}
	return Slot{kind, number, chip}
}

// inner returns the linked ports of n from 1 to last.
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

// groupVoltaire makes a system of each spine and what hangs together with it
// through the wiring inside the chassis.
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
		if n.System == nil && !taken[n.Slot] {
			taken[n.Slot] = true
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
	s.GUID = s.Nodes[0].GUID - 1 // as Voltaire's subnet manager counts
}

// bySlot orders the nodes of a system: spines, lines and routers, what has no
// slot.
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
