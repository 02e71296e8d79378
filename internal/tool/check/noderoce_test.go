package check

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/ibkit/ibkit/internal/dcbnl"
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
	query := func(name string) (dcbnl.Bridging, error) {
		b := dcbnl.Bridging{Enabled: 8, DSCP: map[uint8]uint8{26: 3}, Peer: new(uint8(16)), ETS: &dcbnl.ETS{}, Buffers: &dcbnl.Buffers{}}
		if name == "eth2" {
			b.Trust = []string{"pcp"}
		}
		return b, nil
	}
	r, err := Node(t.Context(), NodeOptions{Root: root, Limits: DefaultLimits(), Bridging: query, Only: []string{"roce"}})
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
