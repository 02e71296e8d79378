package verbs

import (
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"
)

// The headers are from RoCE v2 and InfiniBand. The first header follows bytes that
// look like IPv6.
func TestDecodeGRH(t *testing.T) {
	const (
		ipv4 = "4502 0054 1234 4000 4011 1461 0a00 0001 0a00 0002"
		from = "fe80 0000 0000 0000 0000 0000 0000 0001 "
		to   = "fe80 0000 0000 0000 0000 0000 0000 0002"
	)
	for name, c := range map[string]struct {
		grh      string
		want     Path
		from, to string
		err      string
	}{
		"IPv4":      {strings.Repeat("00", 20) + ipv4, Path{TrafficClass: 2}, "::ffff:10.0.0.1", "::ffff:10.0.0.2", ""},
		"undefined": {"60" + strings.Repeat("00", 19) + ipv4, Path{TrafficClass: 2}, "::ffff:10.0.0.1", "::ffff:10.0.0.2", ""},
		"IPv6":      {"6ab1 2345 0010 11ff " + from + to, Path{TrafficClass: 0xab, FlowLabel: 0x12345}, "fe80::1", "fe80::2", ""},
		"neither":   {strings.Repeat("00", 40), Path{}, "", "", "version: got 0, want 6"},
		"short":     {"60", Path{}, "", "", "got 1 bytes, want 40"},
	} {
		t.Run(name, func(t *testing.T) {
			grh := must(hex.DecodeString(strings.ReplaceAll(c.grh, " ", "")))(t)
			var p Path
			from, to, err := decodeGRH(&p, grh)
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Errorf("got error %v, want %s", err, c.err)
				}
				return
			}
			if err != nil || p != c.want || from != netip.MustParseAddr(c.from) || to != netip.MustParseAddr(c.to) {
				t.Errorf("got %+v, %v, %v, %v, want %+v, %s, %s", p, from, to, err, c.want, c.from, c.to)
			}
		})
	}
}
