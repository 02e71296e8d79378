package device

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/testenv"
)

// rocePorts returns a sysfs with two devices: one in the network of the loopback
// device, and one elsewhere.
func rocePorts(t *testing.T) (sysfs.FS, []Candidate) {
	const rxe0, rxe1 = "class/infiniband/rxe0/ports/1/", "class/infiniband/rxe1/ports/1/"
	fs := sysfs.FS(testenv.WriteTree(t, map[string]string{
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
	}))
	port := func(name string) Candidate {
		return Candidate{Device: sysfs.Device{Name: name}, Port: sysfs.Port{Device: name, Number: 1, LinkLayer: "Ethernet"}}
	}
	return fs, []Candidate{{Port: sysfs.Port{LinkLayer: "InfiniBand"}}, port("rxe0"), port("rxe1")}
}

func TestPathTo(t *testing.T) {
	fs, all := rocePorts(t)
	for _, test := range []struct {
		to         string
		candidates []Candidate
		device     string
		index      uint8
		embedded   bool
		err        string
	}{
		{to: "127.0.0.1", candidates: all, device: "rxe0", index: 2, embedded: true},
		{to: "::ffff:127.0.0.1", candidates: all, device: "rxe0", index: 2, embedded: true},
		{to: "fe80::9%eth1", candidates: all, device: "rxe1"},
		{to: "fe80::9%eth0", candidates: all, device: "rxe0", index: 1},
		{to: "fe80::9", candidates: all[:2], device: "rxe0", index: 1},
		{to: "fe80::9", candidates: all, err: "several ports lead there"},
		{to: "fe80::9%eth2", candidates: all, err: ErrNoRoCE.Error()},
		{to: "127.0.0.1", candidates: all[2:], err: "the host sends from 127.0.0.1"},
		{to: "ff02::1", candidates: all, err: "not the address of a port"},
		{to: "::", candidates: all, err: "not the address of a port"},
	} {
		got, err := PathTo(fs, test.candidates, netip.MustParseAddr(test.to))
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: error %v", test.to, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.to, err)
			continue
		}
		to := netip.MustParseAddr(test.to).WithZone("").As16()
		if got.From.Device.Name != test.device || got.GRH.SGIDIndex != test.index || got.Embedded != test.embedded || got.GRH.DGID != to {
			t.Errorf("%s: %+v", test.to, got)
		}
	}
	if _, err := PathTo(fs, nil, netip.MustParseAddr("127.0.0.1")); !errors.Is(err, ErrNoRoCE) {
		t.Errorf("without a port: %v", err)
	}
}
