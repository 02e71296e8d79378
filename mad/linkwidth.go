package mad

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/ib"
)

// dumpWidths returns a width set in classic dump form: in bit order, followed by a
// remark on undefined bits.
func dumpWidths(v uint64) string {
	var s []string
	for _, bit := range []ib.LinkWidth{ib.Width1X, ib.Width4X, ib.Width8X, ib.Width12X, ib.Width2X} {
		if ib.LinkWidth(v)&bit != 0 {
			s = append(s, bit.String())
		}
	}
	if v == 0 || !ib.LinkWidth(v).Defined() {
		s = append(s, fmt.Sprintf("undefined (%d)", v))
	}
	return strings.Join(s, " or ")
}

// standardWidths are the supported width sets that the specification allows; the
// classic dump adds a remark to others.
var standardWidths = map[ib.LinkWidth]bool{
	1: true, 3: true, 7: true, 11: true, 15: true, 17: true, 19: true, 23: true, 27: true, 31: true,
}

func widthNames(v uint64) []string { return ib.LinkWidth(v).Names() }

var (
	asLinkWidth = enum(
		func(v uint64) string {
			if !ib.LinkWidth(v).Single() {
				return ""
			}
			return ib.LinkWidth(v).String()
		},
		func(v uint64) string {
			if !ib.LinkWidth(v).Single() {
				return fmt.Sprintf("undefined (%d)", v)
			}
			return ib.LinkWidth(v).String()
		})
	asLinkWidthEnabled   = mask(widthNames, dumpWidths)
	asLinkWidthSupported = mask(widthNames, func(v uint64) string {
		s := dumpWidths(v)
		if w := ib.LinkWidth(v); w.Defined() && !standardWidths[w] {
			s += " (IBA extension)"
		}
		return s
	})
)
