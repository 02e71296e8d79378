package devinfo

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
)

func TestGUIDFindings(t *testing.T) {
	const zero, valid = ib.GUID(0), ib.GUID(0x2c90300a01b20)
	for _, test := range []struct {
		name         string
		nodeType     string
		node, system ib.GUID
		gid0         string
		change       func(*Port)
		want         string // one finding per line, without hints
	}{
		{"valid", "CA", valid, valid, "fe80::2:c903:a0:1b21", nil, ""},
		{"node and system", "CA", zero, zero, "fe80::2:c903:a0:1b21", nil, "error: zero-guid a: node GUID and system image GUID are 0"},
		{"node", "CA", zero, valid, "fe80::2:c903:a0:1b21", nil, "error: zero-guid a: node GUID is 0"},
		{"system", "CA", valid, zero, "fe80::2:c903:a0:1b21", nil, "info: zero-guid a: system image GUID is 0: the device counts as a system of its own"},
		{"port", "CA", valid, valid, "fe80::", nil, "error: zero-guid a/1: port GUID is 0: GID 0 is fe80::"},
		{"empty GID table", "CA", valid, valid, "::", nil, "error: zero-guid a/1: port GUID is 0: GID 0 is ::"},
		{"empty GID table, no link", "CA", valid, valid, "::", func(p *Port) { p.State = new(ib.PortDown) }, ""},
		{"IPv6 address of a RoCE port", "CA", valid, valid, "2001:db8::", func(p *Port) { p.LinkLayer = new("Ethernet") }, ""},
		{"iWARP", "RNIC", valid, valid, "b496:91ad:1::", nil, ""},
		{"EFA", "unspecified", zero, zero, "fe80::4ff:51ff:fe00:1", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			gid := netip.MustParseAddr(test.gid0)
			p := &Port{Number: 1, State: new(ib.PortActive), LinkLayer: new("InfiniBand"), GID0: &gid}
			if test.change != nil {
				test.change(p)
			}
			d := &Device{Name: "a", NodeType: &test.nodeType, NodeGUID: &test.node, SysImageGUID: &test.system, Ports: []*Port{p}}
			var got []string
			for _, f := range d.guidFindings() {
				got = append(got, f.String())
				if f.Hint == "" {
					t.Errorf("%v: got no hint", f)
				}
			}
			if text := strings.Join(got, "\n"); text != test.want {
				t.Errorf("got  %s\nwant %s", text, test.want)
			}
		})
	}
}
