package lookup

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/umad"
)

// The host in these tests has a RoCE device on eth0 and its VLAN.
const (
	ownMAC  = "\x02\x00\x00\x00\x00\x02"
	peerMAC = "\x02\x00\x00\x00\x00\x07"
)

// gidTable writes a port's GID table, entries as "GID|type|netdev", into its own sysfs.
func gidTable(t *testing.T, entries ...string) string {
	t.Helper()
	const port = "class/infiniband/rxe0/ports/1/"
	files := map[string]string{
		"class/infiniband/rxe0/node_type":  "1: CA",
		"class/infiniband_mad/umad0/ibdev": "rxe0",
		"class/infiniband_mad/umad0/port":  "1",
		port + "link_layer":                "Ethernet",
		port + "state":                     "4: ACTIVE",
		port + "phys_state":                "5: LinkUp",
		port + "lid":                       "0x0",
		port + "lid_mask_count":            "0",
		port + "sm_lid":                    "0x0",
		port + "sm_sl":                     "0",
	}
	for i, entry := range entries {
		fields := strings.Split(entry, "|")
		number := strconv.Itoa(i)
		files[port+"gids/"+number] = netip.MustParseAddr(fields[0]).StringExpanded()
		files[port+"gid_attrs/types/"+number] = fields[1]
		files[port+"gid_attrs/ndevs/"+number] = fields[2]
	}
	return testenv.WriteTree(t, files)
}

// network is a fake kernel with routes and neighbours.
var network = map[string]*NextHop{
	"192.0.2.7":    {Netdev: "eth0", Source: netip.MustParseAddr("192.0.2.2"), LinkAddr: []byte(peerMAC)},
	"192.0.2.2":    {Netdev: "eth0", Source: netip.MustParseAddr("192.0.2.2"), LinkAddr: []byte(ownMAC), Local: true},
	"198.51.100.9": {Netdev: "eth0", Source: netip.MustParseAddr("192.0.2.2"), Gateway: netip.MustParseAddr("192.0.2.1"), LinkAddr: []byte(peerMAC)},
	"203.0.113.5":  {Netdev: "eth0.5", Source: netip.MustParseAddr("203.0.113.2"), LinkAddr: []byte(peerMAC)},
	"2001:db8::7":  {Netdev: "eth0", Source: netip.MustParseAddr("2001:db8::2"), LinkAddr: []byte(peerMAC)},
	"10.0.0.1":     {Netdev: "eth9", LinkAddr: []byte(peerMAC)},
}

// roce returns a resolver at the RoCE port, or by all RoCE ports.
func roce(t *testing.T, local umad.PortAttr) *Resolver {
	local.LinkLayer = Ethernet
	return New(nil, local, Options{
		Sysfs: gidTable(t,
			"fe80::ff:fe00:2|IB/RoCE v1|eth0",
			"fe80::ff:fe00:2|RoCE v2|eth0",
			"::ffff:192.0.2.2|IB/RoCE v1|eth0",
			"::ffff:192.0.2.2|RoCE v2|eth0",
			"2001:db8::2|RoCE v2|eth0",
			"::ffff:203.0.113.2|RoCE v2|eth0.5",
		),
		NextHop: func(_ context.Context, ip netip.Addr) (*NextHop, error) {
			if way := network[ip.String()]; way != nil {
				return way, nil
			}
			return nil, fmt.Errorf("find next hop to %v: %w", ip, ErrNoReply)
		},
		LookupHost: func(_ context.Context, name string) ([]netip.Addr, error) {
			if name != "peer" {
				return nil, errors.New("no such host")
			}
			return []netip.Addr{netip.MustParseAddr("192.0.2.99"), netip.MustParseAddr("192.0.2.7")}, nil
		},
	})
}

func TestEthernet(t *testing.T) {
	const onLink = "fe80::ff:fe00:7 RoCE v2 from 1 derived, "
	for address, want := range map[string]string{
		"192.0.2.7":        "192.0.2.7 eth0: " + onLink + "::ffff:192.0.2.7 RoCE v2 from 3 one way",
		"peer":             "192.0.2.7 eth0: " + onLink + "::ffff:192.0.2.7 RoCE v2 from 3 one way",
		"::ffff:192.0.2.7": "192.0.2.7 eth0: " + onLink + "::ffff:192.0.2.7 RoCE v2 from 3 one way",
		"192.0.2.2":        "192.0.2.2 eth0 local: fe80::ff:fe00:2 RoCE v2 from 1 derived, ::ffff:192.0.2.2 RoCE v2 from 3 one way",
		"198.51.100.9":     "198.51.100.9 eth0 by 192.0.2.1: ::ffff:198.51.100.9 RoCE v2 from 3 one way",
		"203.0.113.5":      "203.0.113.5 eth0.5: ::ffff:203.0.113.5 RoCE v2 from 5 one way, fe80::ff:fe00:7  from -1 derived",
		"2001:db8::7":      "2001:db8::7 eth0: " + onLink + "2001:db8::7 RoCE v2 from 4",
		"fe80::ff:fe00:7":  "invalid IP eth0: fe80::ff:fe00:7 RoCE v2 from 1",
		"fe80::ff:fe00:2":  "invalid IP eth0 local: fe80::ff:fe00:2 RoCE v2 from 1",
		"route:0": "invalid IP eth0 local: fe80::ff:fe00:2 RoCE v1 from 0, fe80::ff:fe00:2 RoCE v2 from 1, ::ffff:192.0.2.2 RoCE v1 from 2, " +
			"::ffff:192.0.2.2 RoCE v2 from 3 one way, 2001:db8::2 RoCE v2 from 4, ::ffff:203.0.113.2 RoCE v2 from 5 one way",
	} {
		t.Run(address, func(t *testing.T) {
			a, err := Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			for _, local := range []umad.PortAttr{{Device: "rxe0", Number: 1}, {}} {
				r := roce(t, local)
				ports, err := r.Find(t.Context(), a)
				if err != nil || len(ports) != 1 {
					t.Errorf("%s: %v, %v", address, ports, err)
					continue
				}
				if got := hostText(ports[0].Host); got != want {
					t.Errorf("%s:\n%s, want\n%s", address, got, want)
				}
				if err := r.Describe(t.Context(), ports); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func hostText(h *Host) string {
	s := fmt.Sprintf("%v %s", h.IP, h.Netdev)
	if h.Local {
		s += " local"
	}
	if h.Gateway.IsValid() {
		s += " by " + h.Gateway.String()
	}
	var ways []string
	for _, w := range h.Paths {
		way := fmt.Sprintf("%v %s from %d", w.GID, w.Type, w.SGIDIndex)
		if w.Derived {
			way += " derived"
		}
		if w.OneWay {
			way += " one way"
		}
		ways = append(ways, way)
	}
	return s + ": " + strings.Join(ways, ", ")
}

func TestEthernetErrors(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.1":    "packets leave by eth9, on which no selected RoCE port",
		"192.0.2.99":  ErrNoReply.Error(),
		"name:nobody": "no such host",
		"7":           "no LIDs, GUIDs and directed routes",
		"0x12345678":  "no LIDs, GUIDs and directed routes",
		"0,1":         "no LIDs, GUIDs and directed routes",
	} {
		t.Run(address, func(t *testing.T) {
			a, err := Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := roce(t, umad.PortAttr{}).Find(t.Context(), a); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", address, err)
			}
		})
	}
}

// A link-layer address and the GID derived from it are distinguished.
func TestLinkLocal(t *testing.T) {
	ip, ok := linkLocal([]byte(peerMAC))
	if mac, back := macOf(ip); !ok || !back || string(mac) != peerMAC {
		t.Errorf("%v, %v", ip, mac)
	}
	if _, ok := macOf(netip.MustParseAddr("fe80::1")); ok {
		t.Error("fe80::1 is by no link-layer address")
	}
	if _, ok := linkLocal(make([]byte, 20)); ok {
		t.Error("InfiniBand's addresses make no GID")
	}
}
