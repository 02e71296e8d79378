package devinfo

import (
	"fmt"
	"net/netip"
	"testing"
)

// healthy is a device that nothing is wrong with; change makes it another.
func healthy(name string, change func(*Device, *Port)) *Device {
	p := &Port{
		Number: 1, State: new(uint8(4)), PhysState: new(uint8(5)), LinkLayer: new("Ethernet"),
		MTU: new(4096), MaxMTU: new(4096), Netdev: new("eth0"), NetdevMTU: new(9000), UMAD: new("umad0"),
		GIDs: []GID{{GID: netip.MustParseAddr("::ffff:10.0.0.1"), Type: new("RoCE v2")}},
	}
	d := &Device{
		Name: name, NodeType: new(uint8(1)), Firmware: new("20.31.1014"), BoardID: new("MT_0000000222"),
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
	for _, test := range []struct {
		name    string
		devices []*Device
		want    string
	}{
		{"nothing", one(nil), "[]"},
		{"nothing on InfiniBand", one(func(_ *Device, p *Port) { infiniBand(p) }), "[]"},
		{"no cable", one(func(_ *Device, p *Port) { p.State, p.PhysState = new(uint8(1)), new(uint8(2)) }),
			"[{a 1 port-down port is not active look at the cable and the other end}]"},
		{"network device is down", one(func(_ *Device, p *Port) { p.State, p.PhysState = new(uint8(1)), new(uint8(3)) }),
			"[{a 1 port-down port is not active ip link set eth0 up}]"},
		{"no subnet manager", one(func(_ *Device, p *Port) { infiniBand(p); p.State = new(uint8(2)) }),
			"[{a 1 port-down port is not active the link is up: is a subnet manager running?}]"},
		{"MTU", one(func(_ *Device, p *Port) { p.MTU = new(1024) }),
			"[{a 1 mtu-low MTU is 1024, eth0 with 9000 allows 4096 set the MTU of the network device again}]"},
		{"MTU of a network device that has no more", one(func(_ *Device, p *Port) { p.MTU, p.NetdevMTU = new(1024), new(1500) }), "[]"},
		{"no IPv4", one(func(_ *Device, p *Port) { p.GIDs = []GID{{GID: netip.MustParseAddr("fe80::1"), Type: new("RoCE v2")}} }),
			"[{a 1 no-ipv4-gid no GID of RoCE v2 over IPv4 give the network device an IPv4 address}]"},
		{"no IPv4 with iWARP", one(func(d *Device, p *Port) { d.NodeType, p.GIDs = new(uint8(4)), []GID{} }), "[]"},
		{"slot", one(func(d *Device, _ *Port) { d.PCI.Width, d.PCI.Speed = new(8), new("8.0 GT/s PCIe") }),
			"[{a 0 pcie-slow PCIe link at 0000:3b:00.0 runs at x8 instead of x16, 8.0 GT/s PCIe instead of 16.0 GT/s PCIe " +
				"look at the slot and the BIOS: can the slot do more?}]"},
		{"slot that does not tell", one(func(d *Device, _ *Port) { d.PCI.Width, d.PCI.Speed = new(0), new("Unknown") }), "[]"},
		{"firmware", []*Device{healthy("a", nil), healthy("b", func(d *Device, _ *Port) { d.Firmware = new("20.28.1002") })},
			"[{a 0 firmware-differs firmware 20.31.1014, and another one on a card of the same board MT_0000000222 give like cards the same firmware}" +
				" {b 0 firmware-differs firmware 20.28.1002, and another one on a card of the same board MT_0000000222 give like cards the same firmware}]"},
		{"firmware of unlike cards", []*Device{healthy("a", nil), healthy("b", func(d *Device, _ *Port) { d.Firmware, d.BoardID = new("1"), new("other") })}, "[]"},
		{"no umad", one(func(_ *Device, p *Port) { p.UMAD = nil }),
			"[{ 0 no-umad no port has a device node for management datagrams modprobe ib_umad}]"},
	} {
		if got := fmt.Sprint(findings(test.devices, Options{})); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
}
