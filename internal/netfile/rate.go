package netfile

import (
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Rate is a link's active width and speed.
type Rate struct {
	Width ib.LinkWidth
	Speed ib.Speed
}

// parseRate parses "lid 4 4xHDR". It reports false if the text has another form.
func parseRate(text string) (Rate, bool) {
	fields := strings.Fields(text)
	if len(fields) < 3 || fields[0] != "lid" {
		return Rate{}, false
	}
	width, speed, ok := strings.Cut(fields[2], "x")
	if strings.HasPrefix(fields[2], "??") {
		width, speed, ok = "??", fields[2][2:], true
	}
	r := Rate{Width: WidthByName(width + "X"), Speed: SpeedByName(speed)}
	if speed == ib.FDR10.String() {
		r.Speed = ib.FDR10
	}
	if width == "??" {
		r.Width = ib.Width4X
	}
	if speed == "???" {
		r.Speed = ib.SDR
	}
	return r, ok && r.Width != 0 && r.Speed != 0
}

// enable enables the widths and speeds for a link that runs at r, as ibsim does: 4X and 12X
// include narrower widths, a speed includes all slower speeds.
func (r Rate) enable(a *Ability) {
	switch r.Width {
	case ib.Width12X:
		a.Width = ib.Width1X | ib.Width4X | ib.Width12X
	case ib.Width4X:
		a.Width = ib.Width1X | ib.Width4X
	default:
		a.Width = r.Width
	}
	up := (r.Speed<<1 - 1) &^ ib.FDR10 // all slower speeds
	a.Speed = mad.LinkSpeed(up & (ib.SDR | ib.DDR | ib.QDR))
	if r.Speed > ib.QDR && r.Speed != ib.FDR10 {
		a.Ext = mad.LinkSpeedExt(up / ib.FDR & MaxExtSpeeds)
	}
	if r.Speed > ib.QDR {
		a.FDR10 = true
	}
}

// SpeedByName returns the speed with a name such as "HDR", without FDR10, or 0.
func SpeedByName(name string) ib.Speed {
	for s := ib.SDR; s <= ib.XDR; s <<= 1 {
		if s != ib.FDR10 && strings.EqualFold(s.String(), name) {
			return s
		}
	}
	return 0
}

// WidthByName returns the width with a name such as "4X", or 0.
func WidthByName(name string) ib.LinkWidth {
	for _, w := range []ib.LinkWidth{ib.Width1X, ib.Width2X, ib.Width4X, ib.Width8X, ib.Width12X} {
		if strings.EqualFold(w.String(), name) {
			return w
		}
	}
	return 0
}
