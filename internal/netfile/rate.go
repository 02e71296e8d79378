package netfile

import (
	"cmp"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A Rate is a link's active width and speed. 0: unknown.
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
	if strings.HasPrefix(fields[2], unknownWidth) {
		width, speed, ok = unknownWidth, fields[2][len(unknownWidth):], true
	}
	r, known := RateOf(width, speed)
	return r, ok && known
}

// The texts for unknown widths and speeds.
const (
	unknownWidth = "??"
	unknownSpeed = "???"
)

// RateOf returns the rate with a width such as "4" and a speed such as "HDR", as
// ibnetdiscover prints them. It reports false for other texts.
func RateOf(width, speed string) (Rate, bool) {
	r := Rate{Width: WidthByName(width + "X"), Speed: SpeedByName(speed)}
	if speed == ib.FDR10.String() {
		r.Speed = ib.FDR10
	}
	return r, (r.Width != 0 || width == unknownWidth) && (r.Speed != 0 || speed == unknownSpeed)
}

// OrDefault returns the rate with 4X and SDR for an unknown width and speed.
func (r Rate) OrDefault() Rate {
	return Rate{cmp.Or(r.Width, ib.Width4X), cmp.Or(r.Speed, ib.SDR)}
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
