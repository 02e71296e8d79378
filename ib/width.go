package ib

import (
	"fmt"
	"strconv"
	"strings"
)

// A LinkWidth is a link's width, or a width set: a bit per width
// (PortInfo:LinkWidthActive, -Supported and -Enabled; the kernel's enum
// ib_port_width). The bits are not in width order: compare Lanes.
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

// widths holds the widths by lane count.
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

// LinkWidths returns all widths, from the narrowest to the widest.
func LinkWidths() []LinkWidth {
	all := make([]LinkWidth, len(widths))
	for i, d := range widths {
		all[i] = d.width
	}
	return all
}

// Lanes returns the lane count at the widest width in w, 0 if w
// has no defined width.
func (w LinkWidth) Lanes() int {
	lanes := 0
	for _, d := range widths {
		if w&d.width != 0 {
			lanes = d.lanes
		}
	}
	return lanes
}

// Max returns the widest width in w, 0 if w has no defined width.
func (w LinkWidth) Max() LinkWidth {
	var widest LinkWidth
	for _, d := range widths {
		if w&d.width != 0 {
			widest = d.width
		}
	}
	return widest
}

// Has reports whether w contains all widths in other.
func (w LinkWidth) Has(other LinkWidth) bool { return w&other == other }

// Single reports whether w is a single defined width.
func (w LinkWidth) Single() bool { return w != 0 && w&(w-1) == 0 && w.Defined() }

// Defined reports whether w contains defined widths only.
func (w LinkWidth) Defined() bool { return w&^widthsDefined == 0 }

// Names returns the names of the defined widths in w, the narrowest first.
func (w LinkWidth) Names() []string {
	var s []string
	for _, d := range widths {
		if w&d.width != 0 {
			s = append(s, d.name)
		}
	}
	return s
}

// String returns "4X" for a single width and "1X or 4X" for several, the
// narrowest first. For the empty set and for undefined bits it returns
// "undefined (32)".
func (w LinkWidth) String() string {
	for i := range widths {
		if w == widths[i].width { // the only case for a link that is up: without allocation
			return widths[i].name
		}
	}
	if w == 0 || !w.Defined() {
		return fmt.Sprintf("undefined (%d)", uint8(w))
	}
	return strings.Join(w.Names(), " or ")
}

// MarshalText returns the [LinkWidth.String] text. The error is always nil.
func (w LinkWidth) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText parses the text that [LinkWidth.String] returns.
func (w *LinkWidth) UnmarshalText(text []byte) error {
	var set LinkWidth
	for name := range strings.SplitSeq(string(text), " or ") {
		one := widthOf(name)
		if one == 0 {
			number := strings.TrimSuffix(strings.TrimPrefix(string(text), "undefined ("), ")")
			v, err := strconv.ParseUint(number, 10, 8)
			if set = LinkWidth(v); err != nil || set.String() != string(text) {
				return unknown("link width", text)
			}
			break
		}
		set |= one
	}
	*w = set
	return nil
}

// widthOf returns the width with the given name, 0 for an unknown name.
func widthOf(name string) LinkWidth {
	for _, d := range widths {
		if strings.EqualFold(d.name, name) {
			return d.width
		}
	}
	return 0
}
