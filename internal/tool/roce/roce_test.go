package roce

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/dcbnl"
	"github.com/ibkit/ibkit/internal/ethtool"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/report"
)

// tuned is a host with an adapter of NVIDIA's out-of-tree driver: traffic class 106 has DSCP
// 26 and priority 3, with flow control, congestion notifications, a buffer and a queue.
var tuned = map[string]string{
	"class/infiniband/mlx5_0/tc/1/traffic_class":                     "Global tclass=106",
	"kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos":          "106",
	"kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode":         "RoCE v2",
	"kernel/debug/mlx5/0000:81:00.0/cc_params/rp_ai_rate":            "5",
	"kernel/debug/mlx5/0000:81:00.0/cc_params/np_cnp_dscp":           "48",
	"class/net/eth1/qos/trust":                                       "dscp",
	"class/net/eth1/ecn/roce_np/enable/3":                            "1",
	"class/net/eth1/ecn/roce_np/enable/4":                            "0",
	"class/net/eth1/ecn/roce_rp/enable/3":                            "1",
	"class/net/eth1/ecn/roce_rp/enable/4":                            "0",
	"class/net/eth1/ecn/roce_rp/rpg_max_rate":                        "0",
	"class/net/eth2/device/driver -> ../../../drivers/pci/mlx5_core": "",
	"class/net/eth4/device/driver -> ../../../drivers/pci/ice":       "",
	"class/net/eth5/device/driver -> ../../../drivers/pci/i40e":      "",
	"class/net/eth6/device/driver -> ../../../drivers/pci/bnxt_en":   "",
}

// lossless returns settings with flow control on priority 3.
func lossless() dcbnl.Bridging {
	return dcbnl.Bridging{
		Classes: 8, Enabled: 8, DSCP: map[uint8]uint8{26: 3, 48: 6},
		ETS:     &dcbnl.ETS{Share: [8]uint8{0: 50, 3: 50}, Algorithm: [8]dcbnl.Algorithm{0: dcbnl.Shared, 3: dcbnl.Shared}, Class: [8]uint8{3: 3}},
		Buffers: &dcbnl.Buffers{Buffer: [8]uint8{3: 1}, Size: [8]uint32{128 << 10, 64 << 10}, Total: 256 << 10},
		DCBX:    new(dcbnl.ByHost | dcbnl.IEEE),
	}
}

// read reads a port of a host with changed files.
func read(t *testing.T, netdev string, changes map[string]string, bridging func(string) (dcbnl.Bridging, error)) (*PortSettings, []error) {
	t.Helper()
	files := maps.Clone(tuned)
	for name, text := range changes {
		if files[name] = text; text == removed {
			delete(files, name)
		}
	}
	h := Host{Sysfs: testenv.WriteTree(t, files), Bridging: bridging, Pause: func(string) (*ethtool.Pause, error) { return &ethtool.Pause{Receive: true}, nil }}
	port := &devinfo.Port{Number: 1, State: new(ib.PortActive), LinkLayer: new("Ethernet"), Netdev: &netdev}
	h.Optional = func(device, port uint32) (map[string]bool, error) {
		return map[string]bool{"cc_rx_ce_pkts": device == 7 && port == 1}, nil
	}
	d := &devinfo.Device{Name: "mlx5_0", Index: new(uint32(7)), PCI: &devinfo.PCI{Address: "0000:81:00.0"}, Ports: []*devinfo.Port{port}}
	return h.Port(d, port)
}

const removed = "-"

func TestPort(t *testing.T) {
	s, problems := read(t, "eth1", nil, func(string) (dcbnl.Bridging, error) { return lossless(), nil })
	if got, want := s.Optional, (map[string]bool{"cc_rx_ce_pkts": true}); !maps.Equal(got, want) {
		t.Errorf("got optional counters %v, want %v", got, want)
	}
	if len(problems) > 0 || s.Restricted {
		t.Errorf("got problems %v, restricted %v, want neither", problems, s.Restricted)
	}
	if want := (map[string]string{"rp_ai_rate": "5", "np_cnp_dscp": "48", "rp_max_rate": "0"}); !maps.Equal(s.Parameters, want) {
		t.Errorf("got parameters %v, want %v", s.Parameters, want)
	}
	const line = "traffic class 106 (%s) → DSCP 26 → priority 3 → PFC on → ECN np+rp → buffer 1 (64 KiB) → queue 3 (ets 50 %%)"
	want := "eth1: PFC on priority 3, 0 pauses sent, 0 received; DSCP 26; trust dscp; DCBX host ieee; ECN np 3, rp 3; " +
		fmt.Sprintf(line, "verbs") + "; " + fmt.Sprintf(line, "rdma_cm")
	if got := s.Links[0].String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if m := s.Mismatches(); m != nil {
		t.Errorf("got mismatches %+v, want none", m)
	}
}

func TestMismatches(t *testing.T) {
	const (
		cm    = "kernel/config/rdma_cm/mlx5_0/ports/1/"
		tc    = "class/infiniband/mlx5_0/tc/1/traffic_class"
		trust = "class/net/eth1/qos/trust"
	)
	for _, test := range []struct {
		name     string
		files    map[string]string
		change   func(*dcbnl.Bridging)
		want     string // "severity kind" of each
		found    string
		repair   string
		netdev   string
		bridging func(string) (dcbnl.Bridging, error)
	}{
		{name: "traffic class without flow control", files: map[string]string{tc: "Global tclass=96", cm + "default_roce_tos": "96"},
			want: "warning roce-priority, warning roce-priority", found: "traffic class 96 (verbs) → DSCP 24 → priority 0 → PFC off",
			repair: "dcb app replace dev eth1 dscp-prio 24:3"},
		{name: "rdma_cm only", files: map[string]string{tc: removed, cm + "default_roce_tos": "192"},
			want: "warning roce-priority", found: "traffic class 192 (rdma_cm) → DSCP 48 → priority 6 → PFC off", repair: "dcb app replace dev eth1 dscp-prio 48:3"},
		{name: "no traffic class", files: map[string]string{tc: removed, cm + "default_roce_tos": removed, cm + "default_roce_mode": removed},
			want: "info roce-priority", found: "programs that set no traffic class use priority 0, without flow control",
			repair: "mkdir -p /sys/kernel/config/rdma_cm/mlx5_0\necho 106 >/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos"},
		{name: "two traffic classes", files: map[string]string{cm + "default_roce_tos": "104", tc: "Global tclass=120"},
			change: func(b *dcbnl.Bridging) { b.DSCP[30] = 3 },
			want:   "warning roce-class", found: "the port has traffic class 120 (DSCP 30), rdma_cm has 104 (DSCP 26)",
			repair: "mkdir -p /sys/kernel/config/rdma_cm/mlx5_0\necho 120 >/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos"},
		{name: "trust of a file", files: map[string]string{trust: "pcp"},
			want: "warning roce-trust", found: "takes the priority from the VLAN tag", repair: "echo dscp >/sys/class/net/eth1/qos/trust"},
		{name: "trust of the kernel", files: map[string]string{trust: removed}, change: func(b *dcbnl.Bridging) { b.Trust = []string{"pcp", "dscp"} },
			want: "warning roce-trust", found: "takes the priority from the VLAN tag", repair: "dcb apptrust set dev eth1 order dscp"},
		{name: "RoCE v1", files: map[string]string{cm + "default_roce_mode": "IB/RoCE v1"},
			want: "warning roce-version", found: "rdma_cm connects with IB/RoCE v1", repair: "echo 'RoCE v2' >/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode"},
		{name: "half of ECN", files: map[string]string{"class/net/eth1/ecn/roce_rp/enable/3": "0"},
			want: "warning roce-ecn", found: "(ECN) are off as sender for priority 3", repair: "echo 1 >/sys/class/net/eth1/ecn/roce_rp/enable/3"},
		{name: "delayed notifications", files: map[string]string{"kernel/debug/mlx5/0000:81:00.0/cc_params/np_cnp_dscp": "26"},
			want: "info roce-ecn", found: "congestion notifications have DSCP 26, priority 3, with flow control"},
		{name: "shared buffer", change: func(b *dcbnl.Bridging) { b.Buffers.Buffer = [8]uint8{} },
			want: "warning roce-buffer", found: "priority 3 has buffer 0 together with priority 0 1 2 4 5 6 7, without flow control",
			repair: "dcb buffer set dev eth1 prio-buffer 3:1 buffer-size 0:65536 1:65536"},
		{name: "no buffer", change: func(b *dcbnl.Bridging) { b.Buffers.Size[1] = 0 },
			want: "warning roce-buffer", found: "priority 3 has buffer 1, with 0 bytes", repair: "dcb buffer set dev eth1 buffer-size 1:131072"},
		{name: "shared queue", change: func(b *dcbnl.Bridging) { b.ETS.Class = [8]uint8{} },
			want: "warning roce-queue", found: "priority 3 has queue 0 together with priority 0 1 2 4 5 6 7", repair: "dcb ets set dev eth1 prio-tc 3:1"},
		{name: "no share", change: func(b *dcbnl.Bridging) { b.ETS.Share[3] = 0 },
			want: "warning roce-queue", found: "priority 3 has queue 3, with 0 % of the bandwidth"},
		{name: "peer", change: func(b *dcbnl.Bridging) { b.Peer = new(uint8(16)) },
			want: "warning roce-peer", found: "PFC is on for priority 3, at the peer for priority 4", repair: "dcb pfc set dev eth1 prio-pfc all:off 4:on"},
		{name: "no flow control", change: func(b *dcbnl.Bridging) { b.Enabled = 0 },
			want: "info lossless", found: "PFC is off, pauses of all priorities are on", repair: "dcb pfc set dev eth1 prio-pfc 3:on"},
		{name: "no flow control, by the firmware of ice", netdev: "eth4", change: func(b *dcbnl.Bridging) { b.Enabled, b.DCBX = 0, new(dcbnl.ByFirmware|dcbnl.IEEE) },
			want: "info roce-dcbx, info lossless", found: "eth4: the firmware of the adapter has the DCB settings (DCBX lld-managed ieee)",
			repair: "ethtool --set-priv-flags eth4 fw-lldp-agent off\ndcb pfc set dev eth4 prio-pfc 3:on"},
		{name: "other DSCP, by the firmware of i40e", netdev: "eth5", change: func(b *dcbnl.Bridging) { b.DSCP, b.DCBX = nil, new(dcbnl.ByFirmware|dcbnl.CEE) },
			want: "info roce-dcbx, info lossless", repair: "ethtool --set-priv-flags eth5 disable-fw-lldp on\ndcb app add dev eth5 dscp-prio 26:3"},
		{name: "no flow control, LLDP agent of bnxt", netdev: "eth6", change: func(b *dcbnl.Bridging) { b.Enabled, b.DCBX, b.ETS = 0, new(dcbnl.IEEE), nil },
			want: "info roce-dcbx, info lossless", found: "eth6: the firmware of the adapter has the DCB settings (DCBX ieee)",
			repair: "dcb ets set dev eth6 tc-tsa 0:ets 1:ets tc-bw 0:50 1:50 prio-tc all:0 3:1\ndcb pfc set dev eth6 prio-pfc 3:on"},
		{name: "no flow control, bnxt with queues", netdev: "eth6", change: func(b *dcbnl.Bridging) { b.Enabled = 0 },
			want: "info lossless", repair: "dcb pfc set dev eth6 prio-pfc 3:on"},
		{name: "settings that fit, by the firmware", netdev: "eth4", change: func(b *dcbnl.Bridging) { b.DCBX = new(dcbnl.ByFirmware | dcbnl.IEEE) }},
		{name: "all priorities", change: func(b *dcbnl.Bridging) { b.Enabled = 0xff }, want: "info lossless", found: "PFC on priority 0 1 2 3 4 5 6 7"},
		{name: "mlx5 without DSCP", netdev: "eth2", change: func(b *dcbnl.Bridging) { b.DSCP = nil },
			want: "info lossless", found: "eth2: PFC on priority 3, 0 pauses sent, 0 received; no DSCP is mapped to it", repair: "dcb app add dev eth2 dscp-prio 26:3"},
		{name: "values beyond the tables", change: func(b *dcbnl.Bridging) { b.ETS.Class[3], b.Buffers.Buffer[3] = 9, 200 }},
		{name: "unsupported", bridging: func(string) (dcbnl.Bridging, error) { return dcbnl.Bridging{}, dcbnl.ErrNone }},
		{name: "bond", netdev: "bond0.5", files: map[string]string{
			"class/net/bond0.5/lower_bond0/x": "", "class/net/bond0/lower_eth1/x": "", "class/net/bond0/lower_eth2/x": "", "class/net/bond0/lower_bond0.5/x": "",
			"class/net/eth2/qos/trust": "dscp", "class/net/eth2/ecn/roce_np/enable/3": "1", "class/net/eth2/ecn/roce_rp/enable/3": "1",
		}, bridging: func(netdev string) (dcbnl.Bridging, error) {
			b := lossless()
			if netdev == "eth2" {
				b.DSCP[30] = 3
			}
			return b, nil
		}, want: "warning roce-bond", found: "eth1 and eth2 of the bond differ in DSCP"},
	} {
		t.Run(test.name, func(t *testing.T) {
			query := func(string) (dcbnl.Bridging, error) {
				b := lossless()
				if test.change != nil {
					test.change(&b)
				}
				return b, nil
			}
			if test.bridging != nil {
				query = test.bridging
			}
			netdev := "eth1"
			if test.netdev != "" {
				netdev = test.netdev
			}
			s, _ := read(t, netdev, test.files, query)
			var kinds, found, repair []string
			for _, m := range s.Mismatches() {
				kinds = append(kinds, fmt.Sprintf("%s %s", m.Severity, m.Kind))
				found, repair = append(found, m.Found), append(repair, m.Fix...)
				if m.Why == "" || len(m.Fix) == 0 && m.Hint == "" {
					t.Errorf("got %+v, want an effect and a repair", m)
				}
			}
			if got := strings.Join(kinds, ", "); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if got := strings.Join(found, "\n"); !strings.Contains(got, test.found) {
				t.Errorf("got %s, want %s", got, test.found)
			}
			if got := strings.Join(repair, "\n"); !strings.HasPrefix(got, test.repair) {
				t.Errorf("got repair\n%s\nwant\n%s", got, test.repair)
			}
		})
	}
}

// A VLAN tag has the priority if the adapter trusts it.
func TestMarking_VLAN(t *testing.T) {
	s, _ := read(t, "eth1", map[string]string{"class/net/eth1/uevent": "DEVTYPE=vlan\nINTERFACE=eth1", "class/net/eth1/qos/trust": "pcp"},
		func(string) (dcbnl.Bridging, error) { return lossless(), nil })
	if m := s.Mismatches(); m != nil {
		t.Errorf("got mismatches %+v, want none", m)
	}
	if got, want := s.Links[0].Markings[0].String(), "traffic class 106 (verbs) → DSCP 26 → priority of the VLAN tag"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A port with a failed query has no markings with a priority, and the overview is partial.
func TestRead_Failure(t *testing.T) {
	h := Host{Sysfs: testenv.WriteTree(t, tuned), Bridging: func(string) (dcbnl.Bridging, error) { return dcbnl.Bridging{}, errors.New("no reply") }}
	port := &devinfo.Port{Number: 1, State: new(ib.PortActive), LinkLayer: new("Ethernet"), Netdev: new("eth1")}
	ib := &devinfo.Port{Number: 2, LinkLayer: new("InfiniBand")}
	o := h.Read([]*devinfo.Device{
		{Name: "mlx5_0", Ports: []*devinfo.Port{port, ib}},
		{Name: "iw0", NodeType: new("RNIC"), Ports: []*devinfo.Port{{Number: 1, LinkLayer: new("Ethernet")}}},
	})
	if len(o.Ports) != 1 || len(o.Findings) > 0 || !o.Partial || len(o.Failures) != 1 || o.Failures[0].Subject != "mlx5_0/1" {
		t.Errorf("got %+v, want one port with a failure", o)
	}
}

func TestFinding(t *testing.T) {
	m := Mismatch{Kind: report.RoCEPeer, Severity: report.Warning, Port: &PortSettings{Device: "mlx5_0", Number: 1}, Found: "found", Fix: []string{"a", "b"}, Hint: "advice"}
	if f := m.Finding(); f.Hint != "a; b; advice" || f.Subject != "mlx5_0/1" || *f.Port != 1 || f.Detail != "found" {
		t.Errorf("got %+v", f)
	}
}
