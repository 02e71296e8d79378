package mad

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/ib"
)

// A LinkSpeed is a value in the original speed field group: 1 SDR, 2 DDR, 4 QDR, or a
// set of them. As an active speed, 0 stands for an extended speed.
type LinkSpeed uint8

// A LinkSpeedExt is a value in the group that was added with FDR: 1 FDR, 2 EDR, 4 HDR,
// 8 NDR, or a set of them. As an enabled speed, 30 stands for the empty set.
type LinkSpeedExt uint8

// A LinkSpeedExt2 is a value in the group that was added with XDR: 1 XDR.
type LinkSpeedExt2 uint8

// A MlnxLinkSpeed is a value in NVIDIA's ExtendedPortInfo: 1 FDR10.
type MlnxLinkSpeed uint8

// Speed converts s and drops undefined bits.
func (s LinkSpeed) Speed() ib.Speed { return ib.Speed(s) & (ib.SDR | ib.DDR | ib.QDR) }

// Speed converts s and drops undefined bits.
func (s LinkSpeedExt) Speed() ib.Speed {
	return ib.Speed(s) * ib.FDR & (ib.FDR | ib.EDR | ib.HDR | ib.NDR)
}

// Speed converts s and drops undefined bits.
func (s LinkSpeedExt2) Speed() ib.Speed { return ib.Speed(s) * ib.XDR & ib.XDR }

// Speed converts s and drops undefined bits.
func (s MlnxLinkSpeed) Speed() ib.Speed { return ib.Speed(s) * ib.FDR10 & ib.FDR10 }

// String returns the speed names, for example "SDR,DDR,QDR".
func (s LinkSpeed) String() string { return s.Speed().String() }

// String returns the speed names, for example "FDR,EDR".
func (s LinkSpeedExt) String() string { return s.Speed().String() }

// String returns the speed names.
func (s LinkSpeedExt2) String() string { return s.Speed().String() }

// String returns the speed names.
func (s MlnxLinkSpeed) String() string { return s.Speed().String() }

// speedGroup contains the style parameters for a speed field group.
type speedGroup struct {
	speed func(v uint64) ib.Speed
	bits  int    // defined bit count
	none  string // classic text for the active speed 0
}

var (
	speedGroup1 = speedGroup{func(v uint64) ib.Speed { return LinkSpeed(v).Speed() }, 3, "Extended speed"}
	speedGroup2 = speedGroup{func(v uint64) ib.Speed { return LinkSpeedExt(v).Speed() }, 4, "No Extended Speed"}
	speedGroup3 = speedGroup{func(v uint64) ib.Speed { return LinkSpeedExt2(v).Speed() }, 1, "No Extended Speed 2"}
)

// known reports whether v has no undefined bits.
func (g speedGroup) known(v uint64) bool { return v>>g.bits == 0 }

// active is the style for a group's active speed.
func (g speedGroup) active() *Style {
	single := func(v uint64) bool { return v != 0 && v&(v-1) == 0 && g.known(v) }
	return enum(
		func(v uint64) string {
			if !single(v) {
				return ""
			}
			return g.speed(v).String()
		},
		func(v uint64) string {
			switch {
			case v == 0:
				return g.none
			case !single(v):
				return undefined(v)
			}
			return g.speed(v).Classic()
		})
}

// set is the style for a group's supported or enabled speeds.
func (g speedGroup) set(dump func(v uint64) string) *Style {
	return mask(func(v uint64) []string { return g.speed(v).Names() }, dump)
}

// rates returns the classic texts for the defined speeds in v, and a remark on
// undefined bits.
func (g speedGroup) rates(v uint64) string {
	var s []string
	for bit := range g.bits {
		if one := v & (1 << bit); one != 0 {
			s = append(s, g.speed(one).Classic())
		}
	}
	if !g.known(v) {
		s = append(s, undefined(v))
	}
	return strings.Join(s, " or ")
}

func undefined(v uint64) string { return fmt.Sprintf("undefined (%d)", v) }

// dumpSpeeds adds a remark to sets without SDR, which the specification requires.
func dumpSpeeds(v uint64) string {
	switch {
	case v == 0:
		return undefined(v) + " (IBA extension)"
	case speedGroup1.known(v) && v&1 == 0:
		return speedGroup1.rates(v) + " (IBA extension)"
	}
	return speedGroup1.rates(v)
}

func dumpSpeedsExt(v uint64) string {
	if v == 0 {
		return "0"
	}
	return speedGroup2.rates(v)
}

func dumpSpeedsExtEnabled(v uint64) string {
	if LinkSpeedExt(v) == extDisabled {
		return "Extended link speeds disabled"
	}
	return dumpSpeedsExt(v)
}

// dumpSpeedsExt2 overwrites the defined speed with the remark on undefined bits,
// like the classic dump.
func dumpSpeedsExt2(v uint64) string {
	switch {
	case v == 0:
		return "0"
	case !speedGroup3.known(v):
		return " " + undefined(v)
	}
	return speedGroup3.rates(v)
}

var (
	asLinkSpeedActive     = speedGroup1.active()
	asLinkSpeeds          = speedGroup1.set(dumpSpeeds)
	asLinkSpeedExtActive  = speedGroup2.active()
	asLinkSpeedsExt       = speedGroup2.set(dumpSpeedsExt)
	asLinkSpeedExtEnabled = mask(
		func(v uint64) []string {
			if LinkSpeedExt(v) == extDisabled {
				return nil
			}
			return LinkSpeedExt(v).Speed().Names()
		}, dumpSpeedsExtEnabled)
	asLinkSpeedExt2Active = speedGroup3.active()
	asLinkSpeedsExt2      = speedGroup3.set(dumpSpeedsExt2)
	asMlnxLinkSpeed       = mask(
		func(v uint64) []string { return MlnxLinkSpeed(v).Speed().Names() },
		func(v uint64) string { return string(appendHex(nil, v, 8)) })
)
