package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/internal/dcbnl"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
)

// TestNode_RoCE checks a host with a mismatch of each kind.
func TestNode_RoCE(t *testing.T) {
	root := host(t, "mlx5-roce", nil)
	devices, err := Devices(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	d := devices.Devices[0]
	netdev := *d.Ports[0].Netdev
	lower, err := filepath.Glob(filepath.Join(root, "sys/class/net", netdev, "lower_*"))
	if err != nil || len(lower) > 0 {
		t.Fatalf("got network devices %v below %s, error %v, want none", lower, netdev, err)
	}
	cm := "../kernel/config/rdma_cm/" + d.Name + "/ports/1/"
	change(t, root, map[string]string{
		"infiniband/" + d.Name + "/tc/1/traffic_class": "Global tclass=96",
		cm + "default_roce_tos":                        "104",
		cm + "default_roce_mode":                       "IB/RoCE v1",
		"net/" + netdev + "/lower_eth1/ifindex":        "7",
		"net/" + netdev + "/lower_eth2/ifindex":        "8",
		"net/eth1/ecn/roce_np/enable/3":                "1",
		"net/eth1/ecn/roce_rp/enable/3":                "0",
	})
	device := filepath.Join(root, "sys/class/net/eth2/device")
	if err := os.MkdirAll(device, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../../../bus/pci/drivers/ice", filepath.Join(device, "driver")); err != nil {
		t.Fatal(err)
	}
	query := func(name string) (dcbnl.Bridging, error) {
		b := dcbnl.Bridging{Enabled: 8, DSCP: map[uint8]uint8{26: 3}, Peer: new(uint8(16)), ETS: &dcbnl.ETS{}, Buffers: &dcbnl.Buffers{}}
		if name == "eth2" {
			b.Trust, b.DCBX = []string{"pcp"}, new(dcbnl.ByFirmware|dcbnl.IEEE)
		}
		return b, nil
	}
	r, err := Node(t.Context(), NodeOptions{Root: root, Limits: DefaultLimits(), RoCE: roce.Host{Bridging: query}, Only: []string{"roce"}})
	if err != nil {
		t.Fatal(err)
	}
	kinds := report.KindsOf(r.Findings)
	for _, k := range roceKinds {
		if !slices.Contains(kinds, k) {
			t.Errorf("got no %s, want one\n%+v", k, r.Findings)
		}
	}
	for _, f := range r.Findings {
		if f.Severity != report.Warning || f.Hint == "" {
			t.Errorf("got %+v, want a warning with a next step", f)
		}
	}
}

// The settings of another host are not known.
func TestNode_RoCEElsewhere(t *testing.T) {
	r, err := Node(t.Context(), NodeOptions{Root: host(t, "mlx5-roce", nil), Limits: DefaultLimits(), Only: []string{"roce"}})
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(r.Stages, func(s Stage) bool { return s.Name == "roce" }); i < 0 || r.Stages[i].Status != Skipped || len(r.Findings) > 0 {
		t.Errorf("got findings %+v, want the stage skipped", r.Findings)
	}
}

// The ports of EFA have no network device and no settings, but their counters are judged.
func TestNode_EFA(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := host(t, "efa", nil)
		write := func(n string) {
			change(t, root, map[string]string{"infiniband/rdmap0s6/ports/1/hw_counters/unresponsive_remote_events": n, "infiniband/rdmap0s6/hw_counters/reg_mr_err": n})
		}
		write("7")
		time.AfterFunc(5*time.Second, func() { write("8") })
		r, err := Node(t.Context(), NodeOptions{Root: root, Limits: DefaultLimits(), Window: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := report.KindsOf(r.Findings), []report.Kind{report.FailedRequests, report.SRDUnresponsive}; !slices.Equal(got, want) {
			t.Errorf("got %+v, want %s", r.Findings, want)
		}
	})
}

// TestNode_Traffic judges counters that increase between two readings.
func TestNode_Traffic(t *testing.T) {
	type counts = map[string]uint64
	for _, test := range []struct {
		kind       report.Kind
		files      counts // increases of hw_counters
		statistics counts // increases
	}{
		{report.RoCELoss, counts{"packet_seq_err": 9}, nil},
		{report.RoCEOutOfOrder, counts{"out_of_sequence": 9, "duplicate_request": 9}, nil},
		{report.RoCEBlackHole, counts{"local_ack_timeout_err": 9}, nil},
		{report.RoCENotReady, counts{"out_of_buffer": 9}, nil},
		{report.RoCEPauseStorm, nil, counts{"rx_prio3_pause_duration": 5e6}},
		{report.RoCEIdlePauses, nil, counts{"rx_prio3_pause": 1000}},
		{report.RoCEPauses, nil, counts{"rx_prio3_pause": 1000, "tx_packets_phy": 1e6}},
		{report.RoCENotices, counts{"rp_cnp_handled": 1e6}, counts{"tx_vport_rdma_unicast_packets": 1e6}},
		{"", nil, counts{"tx_packets_phy": 1e6}},
	} {
		t.Run(string(test.kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				root := host(t, "mlx5-roce", nil)
				write := func(values counts) {
					files := map[string]string{}
					for _, name := range []string{"packet_seq_err", "out_of_sequence", "duplicate_request", "local_ack_timeout_err", "out_of_buffer", "rp_cnp_handled"} {
						files["infiniband/mlx5_bond_0/ports/1/hw_counters/"+name] = fmt.Sprint(7 + values[name])
					}
					change(t, root, files)
				}
				write(nil)
				time.AfterFunc(5*time.Second, func() { write(test.files) })
				began := time.Now()
				statistics := func(string) (map[string]uint64, error) {
					all := counts{"tx_packets_phy": 5, "rx_prio3_pause": 7, "rx_prio3_pause_duration": 8, "tx_vport_rdma_unicast_packets": 9}
					for name, n := range test.statistics {
						if time.Since(began) > 0 {
							all[name] += n
						}
					}
					return all, nil
				}
				r, err := Node(t.Context(), NodeOptions{
					Root: root, Limits: DefaultLimits(), Window: 10 * time.Second, RoCE: roce.Host{Statistics: statistics}, Only: []string{"traffic"},
				})
				if err != nil {
					t.Fatal(err)
				}
				kinds := report.KindsOf(r.Findings)
				if want := slices.DeleteFunc([]report.Kind{test.kind}, func(k report.Kind) bool { return k == "" }); !slices.Equal(kinds, want) {
					t.Errorf("got %+v, want %s", r.Findings, want)
				}
			})
		})
	}
}
