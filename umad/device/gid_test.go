package device

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/umad"
)

// rocePorts returns an InfiniBand port and two RoCE ports, the first in the loopback
// device's network.
func rocePorts(t *testing.T) []LocalPort {
	const rxe0, rxe1 = "class/infiniband/rxe0/ports/1/", "class/infiniband/rxe1/ports/1/"
	h := Host{Sysfs: testenv.WriteTree(t, map[string]string{
		rxe0 + "link_layer":        "Ethernet",
		rxe1 + "link_layer":        "Ethernet",
		rxe0 + "gids/0":            "fe80::1",
		rxe0 + "gid_attrs/types/0": "IB/RoCE v1",
		rxe0 + "gid_attrs/ndevs/0": "eth0",
		rxe0 + "gids/1":            "fe80::1",
		rxe0 + "gid_attrs/types/1": "RoCE v2",
		rxe0 + "gid_attrs/ndevs/1": "eth0",
		rxe0 + "gids/2":            "::ffff:127.0.0.1",
		rxe0 + "gid_attrs/types/2": "RoCE v2",
		rxe0 + "gid_attrs/ndevs/2": "eth0",
		rxe1 + "gids/0":            "fe80::2",
		rxe1 + "gid_attrs/types/0": "RoCE v2",
		rxe1 + "gid_attrs/ndevs/0": "eth1",
	})}
	port := func(name, layer string) LocalPort {
		return LocalPort{Attr: umad.PortAttr{Device: name, Number: 1, LinkLayer: layer}, host: h}
	}
	return []LocalPort{port("mlx5_0", infiniBand), port("rxe0", ethernet), port("rxe1", ethernet)}
}

func TestPathTo(t *testing.T) {
	all := rocePorts(t)
	tests := []struct {
		to       string
		ports    []LocalPort
		device   string
		index    uint8
		embedded bool
		err      string
	}{
		{to: "127.0.0.1", ports: all, device: "rxe0", index: 2, embedded: true},
		{to: "::ffff:127.0.0.1", ports: all, device: "rxe0", index: 2, embedded: true},
		{to: "fe80::9%eth1", ports: all, device: "rxe1"},
		{to: "fe80::9%eth0", ports: all, device: "rxe0", index: 1},
		{to: "fe80::9", ports: all[:2], device: "rxe0", index: 1},
		{to: "fe80::9", ports: all, err: "several ports lead there"},
		{to: "fe80::9%eth2", ports: all, err: ErrNoRoCE.Error()},
		{to: "127.0.0.1", ports: all[2:], err: "the host sends from 127.0.0.1"},
		{to: "127.0.0.1", err: ErrNoRoCE.Error()},
		{to: "ff02::1", ports: all, err: "not the address of a port"},
		{to: "::", ports: all, err: "not the address of a port"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s from %d ports", tt.to, len(tt.ports)), func(t *testing.T) {
			got, err := PathTo(tt.ports, netip.MustParseAddr(tt.to))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			to := ib.GIDFrom(netip.MustParseAddr(tt.to).WithZone(""))
			if got.From.Attr.Device != tt.device || got.GRH.SGIDIndex != tt.index || got.Embedded != tt.embedded || got.GRH.DGID != to {
				t.Errorf("got %+v, want GID %d of %s, embedded %t", got, tt.index, tt.device, tt.embedded)
			}
		})
	}
}

// TestPathTo_upperDevice has a network device above another RDMA device's network device,
// with its own RDMA device: both devices have its GIDs.
func TestPathTo_upperDevice(t *testing.T) {
	const lower, upper = "class/infiniband/lower/ports/1/", "class/infiniband/upper/ports/1/"
	h := Host{Sysfs: testenv.WriteTree(t, map[string]string{
		lower + "link_layer":        "Ethernet",
		upper + "link_layer":        "Ethernet",
		lower + "gids/0":            "fe80::1",
		lower + "gid_attrs/types/0": "RoCE v2",
		lower + "gid_attrs/ndevs/0": "eth0",
		lower + "gids/1":            "::ffff:127.0.0.1",
		lower + "gid_attrs/types/1": "RoCE v2",
		lower + "gid_attrs/ndevs/1": "eth0.7",
		upper + "gids/0":            "::ffff:127.0.0.1",
		upper + "gid_attrs/types/0": "RoCE v2",
		upper + "gid_attrs/ndevs/0": "eth0.7",
	})}
	port := func(name string) LocalPort {
		return LocalPort{Attr: umad.PortAttr{Device: name, Number: 1, LinkLayer: ethernet}, host: h}
	}
	for want, ports := range map[string][][]LocalPort{
		"upper": {{port("lower"), port("upper")}, {port("upper"), port("lower")}}, "lower": {{port("lower")}},
	} {
		t.Run(want, func(t *testing.T) {
			for _, p := range ports {
				if got, err := PathTo(p, netip.MustParseAddr("127.0.0.1")); err != nil || got.From.Attr.Device != want {
					t.Errorf("got %+v, %v, want a path from %s", got, err, want)
				}
			}
		})
	}
}

func TestPathTo_Ambiguous(t *testing.T) {
	_, err := PathTo(rocePorts(t), netip.MustParseAddr("fe80::9"))
	var several *AmbiguousError
	if !errors.As(err, &several) || several.To != netip.MustParseAddr("fe80::9") {
		t.Errorf("got error %v, want %T with the address", err, several)
	}
}
