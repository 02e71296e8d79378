package fabric

import (
	"strconv"
	"strings"
)

const (
	vendorMellanox = 0x2c9
	deviceIS4      = 0xbd36 // InfiniScale IV
)

// The highest slot numbers.
const (
	maxMellanoxLine  = 36
	maxMellanoxSpine = 18

	// Ports 1 to mellanoxLinePorts have the same number on the chassis.
	mellanoxLinePorts = 18
)

// placeMellanox finds the InfiniScale IV chips' slots, which their node descriptions
// contain, and their ports' external numbers. It returns the chassis models.
func (f *Fabric) placeMellanox() map[*Node]string {
	kinds := make(map[*Node]string)
	for _, n := range f.Nodes {
		if !n.IsSwitch() || n.Info.VendorID != vendorMellanox || n.Info.DeviceID != deviceIS4 {
			continue
		}
		kind, slot, ok := parseMellanoxDescription(n.Desc.Clean())
		if !ok {
			continue
		}
		kinds[n], n.Slot = kind, slot
		if slot.Kind != SlotLine {
			continue
		}
		for _, p := range n.Ports {
			if p != nil && p.Number <= mellanoxLinePorts {
				p.External = int(p.Number)
			}
		}
	}
	return kinds
}

// parseMellanoxDescription parses "MF0;host:model/slot[:board]/Uchip" with a slot from
// L01 to L36 or S01 to S18.
func parseMellanoxDescription(s string) (kind string, slot Slot, ok bool) {
	s, ok = strings.CutPrefix(s, "MF0;")
	if !ok {
		return "", Slot{}, false
	}
	_, s, hasHost := strings.Cut(s, ":")
	kind, s, hasKind := strings.Cut(s, "/")
	board, s, hasBoard := strings.Cut(s, "/")
	chip, hasChip := strings.CutPrefix(s, "U")
	board, _, _ = strings.Cut(board, ":")
	if !hasHost || !hasKind || !hasBoard || !hasChip || board == "" {
		return "", Slot{}, false
	}
	limit := maxMellanoxLine
	switch board[0] {
	case 'L':
		slot.Kind = SlotLine
	case 'S':
		slot.Kind, limit = SlotSpine, maxMellanoxSpine
	default:
		return "", Slot{}, false
	}
	var err error
	if slot.Number, err = strconv.Atoi(board[1:]); err != nil || slot.Number < 1 || slot.Number > limit {
		return "", Slot{}, false
	}
	if slot.Chip, err = strconv.Atoi(chip); err != nil || slot.Chip < 1 {
		return "", Slot{}, false
	}
	return kind, slot, true
}
