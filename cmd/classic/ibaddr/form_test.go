package ibaddr

import (
	"testing"

	"github.com/ibkit/ibkit/ib"
)

func TestInetNtop(t *testing.T) {
	for want, gid := range map[string]ib.GID{
		"fe80::10:1":     ib.MakeGID(0xfe80<<48, 0x100001),
		"::0.16.0.1":     ib.MakeGID(0, 0x100001),
		"::1":            ib.MakeGID(0, 1),
		"::1:10:1":       ib.MakeGID(0, 0x1_0010_0001),
		"::ffff:1.2.3.4": ib.MakeGID(0, 0xffff_0102_0304),
	} {
		t.Run(want, func(t *testing.T) {
			if got := inetNtop(gid); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
