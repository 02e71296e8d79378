package doctor

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/dcbnl"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
)

func TestLossless(t *testing.T) {
	root := testenv.WriteTree(t, map[string]string{
		"sys/class/net/bond0.5/lower_bond0/x":                       "",
		"sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos": "106",
		"sys/class/net/bond0/lower_eth1/x":                          "",
		"sys/class/net/bond0/lower_eth2/x":                          "",
		"sys/class/net/eth3/ecn/roce_np/enable/3":                   "1",
		"sys/class/net/eth3/ecn/roce_np/enable/4":                   "0",
		"sys/class/net/eth3/ecn/roce_rp/enable/3":                   "1",
		"sys/class/net/eth3/ecn/roce_rp/enable/4":                   "1",
		"sys/class/net/eth3/ecn/roce_rp/max_rate":                   "0",
	})
	on := func(enabled uint8) (dcbnl.Bridging, error) {
		return dcbnl.Bridging{Classes: 8, Enabled: enabled, Requests: [8]uint64{3: 2}, Indications: [8]uint64{3: 1, 4: 4}, DSCP: map[uint8]uint8{26: 3, 30: 3, 48: 6}}, nil
	}
	for _, test := range []struct {
		name, netdev string
		pfc          func(string) (dcbnl.Bridging, error)
		counts       map[string]uint64
		verdicts     string
		found        string
	}{
		{"one priority", "eth1", func(string) (dcbnl.Bridging, error) { return on(8) }, nil, "ok", "eth1: PFC on priority 3, 2 pauses sent, 5 received; DSCP 26 30"},
		{"priority without DSCP", "eth1", func(string) (dcbnl.Bridging, error) { return on(1 << 4) }, nil, "note", "eth1: PFC on priority 4, 2 pauses sent, 5 received; no DSCP is mapped to it"},
		{"all priorities", "eth1", func(string) (dcbnl.Bridging, error) { return on(0xff) }, nil, "note", "eth1: PFC on priority 0 1 2 3 4 5 6 7,"},
		{"no priority", "eth1", func(string) (dcbnl.Bridging, error) { return on(0) }, nil, "note", "eth1: PFC is off"},
		{"unsupported", "eth1", func(string) (dcbnl.Bridging, error) { return dcbnl.Bridging{}, dcbnl.ErrNone }, nil, "ok", "eth1: PFC not supported by the driver"},
		{"forbidden", "eth1", func(string) (dcbnl.Bridging, error) { return dcbnl.Bridging{}, unix.EPERM }, nil, "unknown", "operation not permitted"},
		{"failure", "eth1", func(string) (dcbnl.Bridging, error) { return dcbnl.Bridging{}, errors.New("no answer") }, nil, "unknown", "no answer"},
		{"another host", "eth1", nil, nil, "unknown", "flow control of eth1: requires the running kernel"},
		{"VLAN on a bond", "bond0.5", func(netdev string) (dcbnl.Bridging, error) {
			if !slices.Contains([]string{"eth1", "eth2"}, netdev) {
				t.Errorf("got a query for %s, want eth1 or eth2", netdev)
			}
			return on(map[string]uint8{"eth1": 8}[netdev])
		}, nil, "ok note warning", "eth1: PFC on priority 3"},
		{"ECN", "eth3", func(string) (dcbnl.Bridging, error) { return on(8) }, map[string]uint64{"np_cnp_sent": 7, "rp_cnp_handled": 0},
			"ok", "; ECN np 3, rp 3 4; traffic class 106 (rdma_cm) → DSCP 26 → priority 3 → PFC on → ECN np+rp; 7 congestion notifications sent"},
	} {
		t.Run(test.name, func(t *testing.T) {
			port := &devinfo.Port{Number: 1, State: new(ib.PortActive), LinkLayer: new("Ethernet"), Netdev: &test.netdev, HWCounts: test.counts}
			h := &host{queries: roce.Host{Sysfs: filepath.Join(root, "sys"), Bridging: test.pfc}, devices: &devinfo.Result{Devices: []*devinfo.Device{{Name: "mlx5_0", Ports: []*devinfo.Port{port}}}}}
			var verdicts, found []string
			for _, i := range checkLossless(t.Context(), h) {
				verdicts, found = append(verdicts, string(i.Verdict)), append(found, i.Found)
			}
			if strings.Join(verdicts, " ") != test.verdicts || !strings.Contains(strings.Join(found, "\n"), test.found) {
				t.Errorf("got %q, %q, want %s, %q", verdicts, found, test.verdicts, test.found)
			}
		})
	}
}

// TestMTU sets port MTUs directly, because sysfs does not contain them.
func TestMTU(t *testing.T) {
	for _, test := range []struct {
		name    string
		layer   string
		mtu     int
		netdev  int
		verdict Verdict
		fix     string
	}{
		{"InfiniBand", "InfiniBand", 4096, 0, OK, ""},
		{"InfiniBand, low", "InfiniBand", 2048, 0, Note, ""},
		{"RoCE", "Ethernet", 4096, 9000, OK, ""},
		{"RoCE, limited by the network device", "Ethernet", 1024, 1500, Note, "ip link set eth1 mtu 4200"},
		{"RoCE, below the network device", "Ethernet", 1024, 9000, Warning, "ip link set eth1 mtu 1500\nip link set eth1 mtu 9000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			port := &devinfo.Port{Number: 1, State: new(ib.PortActive), LinkLayer: &test.layer, MTU: &test.mtu, MaxMTU: new(4096)}
			r := &devinfo.Result{Devices: []*devinfo.Device{{Name: "mlx5_0", Ports: []*devinfo.Port{port}}}}
			if test.netdev != 0 {
				port.Netdev, port.NetdevMTU = new("eth1"), &test.netdev
			}
			if test.verdict == Warning {
				r.Add(report.New(report.LowMTU, "mlx5_0/1", "low"))
			}
			items := checkMTU(t.Context(), &host{devices: r})
			if len(items) != 1 || items[0].Verdict != test.verdict || strings.Join(items[0].Fix, "\n") != test.fix {
				t.Errorf("got %+v, want one item: %s, fix %q", items, test.verdict, test.fix)
			}
		})
	}
}
