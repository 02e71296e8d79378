package verbs

import (
	"testing"

	"github.com/ibkit/ibkit/ib"
)

func TestPortAttr_Rate(t *testing.T) {
	for _, test := range []struct {
		width ib.LinkWidth
		speed ib.Speed
		want  string
	}{
		{ib.Width1X, ib.SDR, "2.5 Gb/sec (1X SDR)"},
		{ib.Width4X, ib.FDR10, "40 Gb/sec (4X FDR10)"},
		{ib.Width4X, ib.FDR, "56 Gb/sec (4X FDR)"},
		{ib.Width2X, ib.HDR, "100 Gb/sec (2X HDR)"},
		{ib.Width12X, ib.XDR, "2400 Gb/sec (12X XDR)"},
		{ib.Width4X, 0, ""},
		{ib.Width4X, ib.XDR << 1, ""},
		{0, ib.EDR, ""},
		{ib.Width1X | ib.Width4X, ib.EDR, ""},
	} {
		t.Run(test.want, func(t *testing.T) {
			a := PortAttr{ActiveWidth: test.width, ActiveSpeed: test.speed}
			if got := a.Rate(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
