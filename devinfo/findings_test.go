package devinfo

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/ibkit/ibkit/ib"
)

// healthy returns a device without problems, modified by change.
func healthy(name string, change func(*Device, *Port)) *Device {
	p := &Port{
		Number: 1, State: new(ib.PortActive), PhysState: new(ib.PhysLinkUp), LinkLayer: new("Ethernet"),
		MTU: new(4096), MaxMTU: new(4096), Netdev: new("eth0"), NetdevMTU: new(9000), UMAD: new("umad0"),
		GIDs: []GID{{GID: netip.MustParseAddr("::ffff:10.0.0.1"), Type: new("RoCE v2")}},
	}
	d := &Device{
		Name: name, NodeType: new("CA"), Firmware: new("20.31.1014"), BoardID: new("MT_0000000222"),
		PCI: &PCI{
			Address: "0000:3b:00.0", Width: new(16), MaxWidth: new(16),
			Speed: new("16.0 GT/s PCIe"), MaxSpeed: new("16.0 GT/s PCIe"),
		},
		Ports: []*Port{p},
	}
	if change != nil {
		change(d, p)
	}
	return d
}

func TestFindings(t *testing.T) {
	one := func(change func(*Device, *Port)) []*Device { return []*Device{healthy("a", change)} }
	infiniBand := func(p *Port) { p.LinkLayer, p.Netdev, p.GIDs = new("InfiniBand"), nil, nil }
	gids := func(addrs ...string) []GID {
		var all []GID
		for i, addr := range addrs {
			all = append(all, GID{Index: uint32(i), GID: netip.MustParseAddr(addr), Type: new("RoCE v2")})
		}
		return all
	}
	for _, test := range []struct {
		name    string
		devices []*Device
		want    string
	}{
		{"healthy RoCE", one(nil), ""},
		{"healthy InfiniBand", one(func(_ *Device, p *Port) { infiniBand(p) }), ""},
		{"no cable", one(func(_ *Device, p *Port) { p.State, p.PhysState = new(ib.PortDown), new(ib.PhysPolling) }),
			"warning: port-down a/1: port is not active (check the cable and the peer port)\n"},
		{"network device down", one(func(_ *Device, p *Port) { p.State, p.PhysState = new(ib.PortDown), new(ib.PhysDisabled) }),
			"warning: port-down a/1: port is not active (ip link set eth0 up)\n"},
		{"no subnet manager", one(func(_ *Device, p *Port) { infiniBand(p); p.State = new(ib.PortInit) }),
			"warning: port-down a/1: port is not active (the link is up; check that a subnet manager is running)\n"},
		{"InfiniBand disabled, IPoIB", one(func(_ *Device, p *Port) {
			infiniBand(p)
			p.State, p.PhysState, p.Netdev = new(ib.PortDown), new(ib.PhysDisabled), new("ib0")
		}), "warning: port-down a/1: port is not active (check the cable and the peer port)\n"},
		{"low MTU", one(func(_ *Device, p *Port) { p.MTU = new(1024) }),
			"warning: mtu-low a/1: MTU is 1024, although the MTU 9000 of eth0 permits 4096 (set the MTU of the network device again)\n"},
		{"low MTU of the network device", one(func(_ *Device, p *Port) { p.MTU, p.NetdevMTU = new(1024), new(1500) }), ""},
		{"no IPv4 address", one(func(_ *Device, p *Port) { p.GIDs = []GID{{GID: netip.MustParseAddr("fe80::1"), Type: new("RoCE v2")}} }),
			"warning: no-ipv4-gid a/1: no RoCE v2 GID over IPv4 (add an IPv4 address to the network device)\n"},
		{"IPv6 address", one(func(_ *Device, p *Port) { p.GIDs = gids("fe80::1", "fd93::1") }),
			"info: no-ipv4-gid a/1: no RoCE v2 GID over IPv4, only over IPv6: index 1, fd93::1 (add an IPv4 address to the network device)\n"},
		{"RoCE v1 only", one(func(_ *Device, p *Port) { p.GIDs[0].Type = new("RoCE v1") }),
			"warning: no-ipv4-gid a/1: no RoCE v2 GID over IPv4 (add an IPv4 address to the network device)\n"},
		{"no GID", one(func(_ *Device, p *Port) { p.GIDs = nil }),
			"error: no-ipv4-gid a/1: no GID (add an IPv4 address to the network device)\n"},
		{"no IPv4 address, iWARP", one(func(d *Device, p *Port) { d.NodeType, p.GIDs = new("RNIC"), []GID{} }), ""},
		{"slow slot", one(func(d *Device, _ *Port) { d.PCI.Width, d.PCI.Speed = new(8), new("8.0 GT/s PCIe") }),
			"warning: pcie-slow a: PCIe link at 0000:3b:00.0 runs at x8 of x16, 8.0 of 16.0 GT/s " +
				"(reseat the adapter, or use a slot with more lanes or a newer PCIe generation)\n"},
		{"unknown slot", one(func(d *Device, _ *Port) { d.PCI.Width, d.PCI.Speed = new(0), new("Unknown") }), ""},
		{"different firmware", []*Device{healthy("a", nil), healthy("b", func(d *Device, _ *Port) { d.Firmware = new("20.28.1002") })},
			"warning: firmware-differs a: firmware 20.31.1014 differs from that of another adapter with board ID MT_0000000222 (install the same firmware on adapters of the same model)\n" +
				"warning: firmware-differs b: firmware 20.28.1002 differs from that of another adapter with board ID MT_0000000222 (install the same firmware on adapters of the same model)\n"},
		{"different boards", []*Device{healthy("a", nil), healthy("b", func(d *Device, _ *Port) { d.Firmware, d.BoardID = new("1"), new("other") })}, ""},
		{"no umad", one(func(_ *Device, p *Port) { p.UMAD = nil }),
			"warning: no-umad: no device node for management datagrams (modprobe ib_umad)\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			for _, f := range findings(test.devices, Options{}) {
				got += fmt.Sprintf("%v (%s)\n", f, f.Hint)
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
