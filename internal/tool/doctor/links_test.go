package doctor

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/sim"
)

func TestCheckLink(t *testing.T) {
	for _, test := range []struct {
		name, node string
		change     func(*sim.Port)
		verdict    Verdict
		found      string
	}{
		{"full speed", "node05", nil, OK, "4X NDR"},
		{"slow", "node07", nil, Warning, "HDR, but both ends have NDR enabled (to leaf2[5])"},
		{"not active", "node10", nil, OK, "4X NDR"},
		{"errors at the peer", "node14", nil, Warning, "4X HDR; leaf4[4]: PortXmitDiscards 1822, packets waited too long at the head of a queue"},
		{"uneven", "node05", func(p *sim.Port) { p.Enable(ib.Width1X, ib.NDR) }, Warning, "1X NDR enabled, 4X NDR at the peer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, err := sim.Build("demo")
				if err != nil {
					t.Fatal(err)
				}
				if test.change != nil {
					place, err := f.Place(test.node)
					if err != nil {
						t.Fatal(err)
					}
					test.change(place)
				}
				port, err := f.Open(test.node)
				if err != nil {
					t.Fatal(err)
				}
				h := &host{timeout: time.Second}
				if i := h.checkLink(t.Context(), port); i.Verdict != test.verdict || !strings.HasPrefix(i.Found, test.found) {
					t.Errorf("got %+v, want %s, %s", i, test.verdict, test.found)
				}
			})
		})
	}
}
