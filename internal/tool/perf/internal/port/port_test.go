package port

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

func entry(index uint32, gid string, kind verbs.GIDType) verbs.GIDEntry {
	return verbs.GIDEntry{Index: index, GID: netip.AddrFrom16(netip.MustParseAddr(gid).As16()), Type: kind, Port: 1}
}

func ethernet(name string, gids ...verbs.GIDEntry) *Port {
	return &Port{Device: name, Number: 1, Attr: verbs.PortAttr{LinkLayer: ib.LinkLayerEthernet}, GIDs: gids}
}

func infiniBandPort(name string, gid string) *Port {
	return &Port{Device: name, Number: 1, Attr: verbs.PortAttr{LinkLayer: ib.LinkLayerInfiniBand}, GIDs: []verbs.GIDEntry{entry(0, gid, verbs.GIDTypeIB)}}
}

func gid(text string, kind verbs.GIDType) GID {
	return GID{netip.AddrFrom16(netip.MustParseAddr(text).As16()), kind}
}

const v1, v2 = verbs.GIDTypeRoCEv1, verbs.GIDTypeRoCEv2

// hostPorts returns the ports on a host with two devices.
func hostPorts() []*Port {
	return []*Port{
		ethernet("a", entry(0, "fe80::1", v1), entry(1, "fe80::1", v2), entry(2, "10.0.0.1", v1), entry(3, "10.0.0.1", v2), entry(4, "2001:db8::1", v2)),
		ethernet("b", entry(0, "fe80::2", v2), entry(1, "192.168.1.1", v2), entry(2, "2001:db8:1::1", v2)),
	}
}

// source is the host's routing table.
func source(to netip.Addr) netip.Addr {
	switch {
	case netip.MustParsePrefix("192.168.0.0/16").Contains(to.Unmap()):
		return netip.MustParseAddr("192.168.1.1")
	case to == netip.MustParseAddr("2001:db8::9"):
		return netip.MustParseAddr("2001:db8::1")
	}
	return netip.Addr{}
}

func TestSelector_Choose(t *testing.T) {
	all := []GID{
		gid("fe80::9", v1), gid("fe80::9", v2), gid("10.9.9.9", v1), gid("10.9.9.9", v2), gid("192.168.7.7", v2), gid("2001:db8::9", v2), gid("2001:db8:1::9", v2),
	}
	for _, c := range []struct {
		name          string
		local, remote string // control connection's ends
		gids          []GID
		index         int
		device        string
		want          uint8
		wantRemote    string // "": not checked
	}{
		{"route", "", "", []GID{gid("10.9.9.9", v2), gid("192.168.7.7", v2)}, -1, "b", 1, "192.168.7.7"},
		{"route of IPv6 before address without route", "", "", []GID{gid("10.9.9.9", v2), gid("2001:db8::9", v2)}, -1, "a", 4, ""},
		{"IPv4 without route", "", "", []GID{gid("fe80::9", v2), gid("10.9.9.9", v2)}, -1, "a", 3, ""},
		{"v1 only", "", "", []GID{gid("fe80::9", v1)}, -1, "a", 0, ""},
		{"link-local", "", "", []GID{gid("fe80::9", v2)}, -1, "a", 1, ""},
		{"requested index", "", "", []GID{gid("10.9.9.9", v1), gid("192.168.7.7", v2)}, 2, "a", 2, ""},
		{"named address of first rail", "10.0.0.1", "10.9.9.9", all, -1, "a", 3, "10.9.9.9"},
		{"named address of second rail", "192.168.1.1", "192.168.7.7", all, -1, "b", 1, "192.168.7.7"},
		{"named address against the route", "10.0.0.1", "192.168.7.7", all, -1, "a", 3, "192.168.7.7"},
		{"named IPv6 address", "2001:db8::1", "2001:db8::9", all, -1, "a", 4, "2001:db8::9"},
		{"named IPv6 address of second rail", "2001:db8:1::1", "2001:db8:1::9", all, -1, "b", 2, "2001:db8:1::9"},
		{"named link-local address", "fe80::2%eth1", "fe80::9%eth1", all, -1, "b", 0, "fe80::9"},
		{"named address of a management network", "172.16.0.1", "172.16.0.9", all, -1, "b", 1, "192.168.7.7"},
		{"loopback", "127.0.0.1", "127.0.0.1", all, -1, "b", 1, ""},
		{"requested index against named address", "10.0.0.1", "10.9.9.9", all, 1, "b", 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Selector{Index: c.index, Source: source}
			if c.local != "" {
				s.Local, s.Remote = netip.MustParseAddr(c.local), netip.MustParseAddr(c.remote)
			}
			got, err := s.Choose(hostPorts(), Remote{GIDs: c.gids})
			if err != nil {
				t.Fatal(err)
			}
			if got.Port.Device != c.device || got.Index != c.want || got.Why == "" {
				t.Errorf("got GID %d of %s (%s), want GID %d of %s", got.Index, got.Port.Device, got.Why, c.want, c.device)
			}
			if c.wantRemote != "" && got.Remote.Addr.Unmap().String() != c.wantRemote {
				t.Errorf("got remote GID %v, want %s", got.Remote.Addr, c.wantRemote)
			}
		})
	}
	for name, remote := range map[string][]GID{"no GID": nil, "other kinds of GID": {gid("2001:db8::9", v1)}} {
		t.Run(name, func(t *testing.T) {
			if got, err := (Selector{Index: -1, Source: source}).Choose(hostPorts(), Remote{GIDs: remote}); !errors.Is(err, ErrNoGID) {
				t.Errorf("got %+v, %v, want %v", got, err, ErrNoGID)
			}
		})
	}
}

// TestSelector_upperDevice has a network device above another RDMA device's network
// device, such as a VLAN, with its own RDMA device: both devices have its GIDs.
func TestSelector_upperDevice(t *testing.T) {
	of := func(e verbs.GIDEntry, ifindex uint32) verbs.GIDEntry {
		e.Ifindex = ifindex
		return e
	}
	lower := ethernet("lower", of(entry(0, "fe80::1", v2), 2), of(entry(1, "10.0.0.1", v2), 2), of(entry(2, "fe80::2", v2), 3), of(entry(3, "10.2.0.1", v2), 3))
	upper := ethernet("upper", of(entry(0, "fe80::2", v2), 3), of(entry(1, "10.2.0.1", v2), 3))
	for _, c := range []struct{ local, remote, device string }{
		{"10.2.0.1", "10.2.0.9", "upper"}, {"10.0.0.1", "10.0.0.9", "lower"}, {"fe80::2", "fe80::9", "upper"},
	} {
		t.Run(c.local, func(t *testing.T) {
			for _, ports := range [][]*Port{{lower, upper}, {upper, lower}} {
				s := Selector{Index: -1, Source: source, Local: netip.MustParseAddr(c.local), Remote: netip.MustParseAddr(c.remote)}
				got, err := s.ChooseByAddress(ports)
				if err != nil || got.Port.Device != c.device {
					t.Errorf("got %+v, %v, want a port of %s", got, err, c.device)
				}
			}
			// Without its own device, the address is reached by the lower device.
			s := Selector{Index: -1, Source: source, Local: netip.MustParseAddr(c.local), Remote: netip.MustParseAddr(c.remote)}
			if got, err := s.ChooseByAddress([]*Port{lower}); err != nil || got.Local.Addr.Unmap().String() != c.local {
				t.Errorf("got %+v, %v, want GID %s", got, err, c.local)
			}
		})
	}
}

// TestCheckIndex checks that some port must have a GID with an index.
func TestCheckIndex(t *testing.T) {
	for _, c := range []struct {
		name  string
		ports []*Port
		index int
		want  bool
	}{
		{"any", hostPorts(), -1, true}, {"second port has none", hostPorts(), 4, true}, {"none", hostPorts(), 5, false},
		{"InfiniBand", []*Port{infiniBandPort("i", "fe80::11")}, 0, true},
		{"InfiniBand has none", append(hostPorts(), infiniBandPort("i", "fe80::11")), 5, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := CheckIndex(c.ports, c.index); (err == nil) != c.want {
				t.Errorf("got %v, want success %v", err, c.want)
			}
		})
	}
}

// TestSelector_ChooseWith checks that one side can use only the GIDs that the other
// side chose.
func TestSelector_ChooseWith(t *testing.T) {
	s := Selector{Index: -1, Source: source}
	got, err := s.ChooseWith(hostPorts(), gid("10.0.0.1", v1), gid("10.9.9.9", v1))
	if err != nil || got.Port.Device != "a" || got.Index != 2 {
		t.Errorf("got %+v, %v, want GID 2 of a", got, err)
	}
	if got, err := s.ChooseWith(hostPorts(), gid("10.0.0.2", v2), gid("10.9.9.9", v2)); !errors.Is(err, ErrNoGID) {
		t.Errorf("GID of another host: got %+v, %v, want %v", got, err, ErrNoGID)
	}
}

// TestSelector_lookups checks that each route is looked up once.
func TestSelector_lookups(t *testing.T) {
	lookups := 0
	s := Selector{Index: -1, Source: func(netip.Addr) netip.Addr { lookups++; return netip.Addr{} }}
	if _, err := s.Choose(hostPorts(), Remote{GIDs: []GID{gid("10.9.9.9", v2)}}); err != nil || lookups != 1 {
		t.Errorf("got %d lookups, error %v, want 1", lookups, err)
	}
}

// TestSelector_ChooseByAddress is for peers with only a known address.
func TestSelector_ChooseByAddress(t *testing.T) {
	for _, c := range []struct {
		name, local, remote string
		device              string
		want                uint8
	}{
		{"route", "172.16.0.1", "192.168.7.7", "b", 1},
		{"named address of first rail", "10.0.0.1", "10.0.0.9", "a", 3},
		{"named address of second rail", "192.168.1.1", "192.168.7.7", "b", 1},
		{"named IPv6 address", "2001:db8:1::1", "2001:db8:1::9", "b", 2},
		{"address without route", "127.0.0.1", "127.0.0.1", "a", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Selector{Index: -1, Source: source, Local: netip.MustParseAddr(c.local), Remote: netip.MustParseAddr(c.remote)}
			got, err := s.ChooseByAddress(hostPorts())
			if err != nil || got.Port.Device != c.device || got.Index != c.want {
				t.Errorf("got %+v, %v, want GID %d of %s", got, err, c.want, c.device)
			}
		})
	}
}

// TestSelector_infiniBand checks that an IPoIB device's address selects the port below
// it.
func TestSelector_infiniBand(t *testing.T) {
	const first, second = "fe80::11", "fe80::22"
	ports := append(hostPorts(), infiniBandPort("i", first), infiniBandPort("j", second))
	addr := netip.MustParseAddr
	hardware := func(gid string) []byte {
		b := addr(gid).As16()
		return append([]byte{0, 0, 0, 1}, b[:]...)
	}
	list := func() ([]Interface, error) {
		return []Interface{
			{Hardware: []byte{1, 2, 3, 4, 5, 6}, Addrs: []netip.Addr{addr("10.0.0.1")}},
			{Hardware: hardware(first), Addrs: []netip.Addr{addr("10.7.0.1")}},
			{Hardware: hardware(second), Addrs: []netip.Addr{addr("10.8.0.1"), addr("fe80::33")}},
		}, nil
	}
	for _, c := range []struct {
		name, local string
		gids        []GID
		want        string
	}{
		{"first port", "10.7.0.1", []GID{gid("10.9.9.9", v2)}, "i"},
		{"second port", "10.8.0.1", nil, "j"},
		{"second port by IPv6", "fe80::33%ib1", nil, "j"},
		{"Ethernet", "10.0.0.1", []GID{gid("10.9.9.9", v2)}, "a"},
		{"peer without GIDs", "172.16.0.1", nil, "i"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Selector{Index: -1, Source: source, Local: addr(c.local), Interfaces: list}
			got, err := s.Choose(ports, Remote{GIDs: c.gids})
			if err != nil || got.Port.Device != c.want {
				t.Errorf("got %+v, %v, want a port of %s", got, err, c.want)
			}
		})
	}
}

// TestSelector_globalInfiniBand checks that both sides use GIDs on InfiniBand if the user
// selects a GID, or if a port needs GIDs.
func TestSelector_globalInfiniBand(t *testing.T) {
	none := func() ([]Interface, error) { return nil, nil }
	for _, c := range []struct {
		name                     string
		clientNeeds, serverNeeds bool
		index                    int  // that the client's user selects
		sent, used, accepted     bool // GIDs in the request and by the server; a perftest peer is accepted
	}{
		{"LIDs", false, false, -1, false, false, true},
		{"requested", false, false, 0, true, true, true},
		{"no such GID", false, false, 3, false, false, false},
		{"virtual functions", true, true, -1, true, true, true},
		{"virtual function of the client", true, false, -1, true, true, true},
		{"virtual function of the server", false, true, -1, false, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, server := infiniBandPort("i", "fe80::11"), infiniBandPort("j", "fe80::22")
			client.Attr.GRHRequired, server.Attr.GRHRequired = c.clientNeeds, c.serverNeeds
			s := Selector{Index: c.index, Interfaces: none, Source: source}
			gids := GIDsOf([]*Port{client}, c.index)
			if (len(gids) > 0) != c.sent {
				t.Errorf("got GIDs %v, want some: %t", gids, c.sent)
			}
			remote := Remote{gids, client.AppendGIDs(nil, c.index)}
			// The client selects by index, the server does not.
			got, err := Selector{Index: -1, Interfaces: none, Source: source}.Choose([]*Port{server}, remote)
			if err != nil || got.Port != server || got.Local.Addr.IsValid() != c.used {
				t.Fatalf("server: got %+v, error %v, want GIDs: %t", got, err, c.used)
			}
			if c.used {
				back, err := s.ChooseWith([]*Port{client}, got.Remote, got.Local)
				if err != nil || back.Local != remote.InfiniBand[0] || back.Remote.Addr != server.GIDs[0].GID {
					t.Errorf("client: got %+v, error %v", back, err)
				}
			}
			// A perftest program as a peer: its GID follows with its key.
			alone, err := s.ChooseByAddress([]*Port{client})
			if (err == nil) != c.accepted || err == nil && alone.Local.Addr.IsValid() != c.sent {
				t.Errorf("by address: got %+v, error %v, want GIDs: %t", alone, err, c.sent)
			}
		})
	}
	// AWS's adapters have GIDs without Ethernet or InfiniBand.
	aws := infiniBandPort("e", "fe80::33")
	aws.Attr.LinkLayer = ib.LinkLayerUnspecified
	peer := GID{netip.MustParseAddr("fe80::44"), verbs.GIDTypeIB}
	got, err := Selector{Index: -1, Interfaces: none, Source: source}.Choose([]*Port{aws}, Remote{[]GID{peer}, []GID{peer}})
	if err != nil || got.Local.Addr != aws.GIDs[0].GID || got.Remote != peer {
		t.Errorf("AWS: got %+v, error %v, want the GIDs", got, err)
	}
	// The server needs a GID, but the client did not send its own.
	server := infiniBandPort("j", "fe80::22")
	server.Attr.GRHRequired = true
	if got, err := (Selector{Index: -1, Interfaces: none}).Choose([]*Port{server}, Remote{}); !errors.Is(err, ErrNoGID) {
		t.Errorf("no GID of the client: got %+v, error %v, want %v", got, err, ErrNoGID)
	}
}

func TestFind_number(t *testing.T) {
	for count, want := range map[uint8]string{1: "use port 3 of rxe0: the device has one port", 2: "use port 3 of rxe0: the device has 2 ports"} {
		t.Run(want, func(t *testing.T) {
			p := &Port{Device: "rxe0", Number: 3, Limits: verbs.DeviceAttr{PhysPortCount: count}}
			if err := p.find(); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
