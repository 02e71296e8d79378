package fabric

// Voltaire's modular switches consist of line boards, which have the external ports,
// and spine boards, which connect the line boards; some have router boards too. The
// chips do not report their slots, but the wiring is fixed: the spine port to which a
// line chip is connected determines the line board's slot, and vice versa. The tables
// describe the hardware (rdma-core, libibnetdisc/chassis.c).

const vendorVoltaire = 0x8f1

// A places is a table by port number from 1: each digit, in base 36, is the port's
// slot, chip or external number; 0 and missing digits are undefined.
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
	ports   uint8 // ports 1 to ports lead to other boards

	lineSlot, lineChip places // line chip's slot and chip at the spine's port

	slot, chip places // spine's slot and chip, by the line chip's port

	// routerChip returns the router number at the spine's port; nil if the chassis has
	// no routers.
	routerChip func(spine *Node, port uint8) int

	external [2]places // number printed at the port, by chip from 1
}

// A lineBoard is a kind of line board.
type lineBoard struct {
	ports    uint8     // ports 1 to ports lead to spines
	external [2]places // number printed at the port, by chip from 1
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

// routerByGUID uses the consecutive GUIDs of the three chips on a spine board;
// the routers of the third chip come first.
func routerByGUID(spine *Node, _ uint8) int {
	switch spine.GUID % 4 {
	case 1:
		return 3
	case 3:
		return 1
	}
	return 2
}

// spineBoardOf returns the node's spine board kind, nil for other nodes.
func spineBoardOf(n *Node) *spineBoard { return spineBoards[n.Info.DeviceID] }

func lineBoardOf(n *Node) *lineBoard { return lineBoards[n.Info.DeviceID] }
