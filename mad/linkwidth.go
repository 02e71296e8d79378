package mad

import (
	"fmt"
	"strings"
)

// A LinkWidth is a width of a link, or a set of them: one bit each, in the
// order in which the specification came to define them, so compare Lanes and
// not the values (PortInfo's LinkWidthActive, -Supported and -Enabled).
type LinkWidth uint8

// The widths.
const (
	Width1X  LinkWidth = 1 << 0
	Width4X  LinkWidth = 1 << 1
	Width8X  LinkWidth = 1 << 2
	Width12X LinkWidth = 1 << 3
	Width2X  LinkWidth = 1 << 4

	widthsDefined = Width1X | Width4X | Width8X | Width12X | Width2X
)

// widths has the widths by their number of lanes.
var widths = []struct {
	width LinkWidth
	lanes int
	name  string
}{
	{Width1X, 1, "1X"},
	{Width2X, 2, "2X"},
	{Width4X, 4, "4X"},
	{Width8X, 8, "8X"},
	{Width12X, 12, "12X"},
}

// Lanes returns the number of lanes of the widest width in w, 0 if there is
// none.
func (w LinkWidth) Lanes() int {
	lanes := 0
	for _, d := range widths {
		if w&d.width != 0 {
			lanes = d.lanes
		}
	}
	return lanes
}

// Max returns the widest width in w, 0 if there is none.
func (w LinkWidth) Max() LinkWidth {
	var widest LinkWidth
	for _, d := range widths {
		if w&d.width != 0 {
			widest = d.width
		}
	}
	return widest
}

// Has reports whether all of width is in w.
func (w LinkWidth) Has(width LinkWidth) bool { return w&width == width }

// String returns "4X" for one width and "1X or 4X" for several, the narrowest
// first. For none and for undefined bits it returns "undefined (32)".
func (w LinkWidth) String() string {
	if w == 0 || w&^widthsDefined != 0 {
		return fmt.Sprintf("undefined (%d)", uint8(w))
	}
	return strings.Join(w.names(), " or ")
}

func (w LinkWidth) names() []string {
	var s []string
	for _, d := range widths {
		if w&d.width != 0 {
			s = append(s, d.name)
		}
	}
	return s
}

func (w LinkWidth) single() bool { return w != 0 && w&(w-1) == 0 && w&^widthsDefined == 0 }

// dumpWidths writes a set of widths as the classic dump does: in the order of
// the bits, and defined ones before a remark on undefined ones.
func dumpWidths(v uint64) string {
	var s []string
	for _, bit := range []LinkWidth{Width1X, Width4X, Width8X, Width12X, Width2X} {
		if LinkWidth(v)&bit != 0 {
			s = append(s, bit.String())
		}
	}
	if v == 0 || LinkWidth(v)&^widthsDefined != 0 {
		s = append(s, fmt.Sprintf("undefined (%d)", v))
	}
	return strings.Join(s, " or ")
}

// standardWidths are the sets of widths that the specification allows a port
// to support; the classic dump remarks on others.
var standardWidths = map[LinkWidth]bool{
	1: true, 3: true, 7: true, 11: true, 15: true, 17: true, 19: true, 23: true, 27: true, 31: true,
}

func widthNames(v uint64) []string { return LinkWidth(v).names() }

var (
	asLinkWidth = enum(
		func(v uint64) string {
			if !LinkWidth(v).single() {
				return ""
			}
			return LinkWidth(v).String()
		},
		func(v uint64) string {
			if !LinkWidth(v).single() {
				return fmt.Sprintf("undefined (%d)", v)
			}
			return LinkWidth(v).String()
		})
	asLinkWidthEnabled   = mask(widthNames, dumpWidths)
	asLinkWidthSupported = mask(widthNames, func(v uint64) string {
		s := dumpWidths(v)
		if w := LinkWidth(v); w&^widthsDefined == 0 && !standardWidths[w] {
			s += " (IBA extension)"
		}
		return s
	})
)
