package multicast

import (
	"errors"
	"net/netip"
	"testing"
)

func TestCheck(t *testing.T) {
	for group, ok := range map[string]bool{
		"::ffff:239.1.2.3": true, "ff05::77": true, "ff01:0:2:c985::": true,
		"::ffff:10.0.0.1": false, "fe80::1": false, "239.1.2.3": false,
	} {
		if err := Check(netip.MustParseAddr(group)); ok != (err == nil) || !ok && !errors.Is(err, ErrGroup) {
			t.Errorf("%s: got %v, want an error: %v", group, err, !ok)
		}
	}
}
