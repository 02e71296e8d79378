package fabric_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

func TestHostNameOf(t *testing.T) {
	for name, want := range map[string]struct{ host, device string }{
		"node1 mlx5_0":                {"node1", "mlx5_0"},
		"node1 HCA-2":                 {"node1", "HCA-2"},
		"node1":                       {"node1", ""},
		"node1.example.org ibp11s0f0": {"node1.example.org", "ibp11s0f0"},
		"MT4129 mlx5_0":               {"MT4129", "mlx5_0"},
		"intel7 hfi1_0":               {"intel7", "hfi1_0"},
		"quantum mlx5_0":              {"quantum", "mlx5_0"},
		"localhost7 mlx5_0":           {"localhost7", "mlx5_0"},
		"Intel Infiniband HCA node3":  {"node3", ""},
		"node1 mlx5_0 in rack 7":      {"node1", ""},
		"":                            {},
		"   ":                         {},
		"MT4129 ConnectX7   Mellanox Technologies": {},
		"MT4123 ConnectX6   Mellanox Technologies": {},
		"MT25408 ConnectX Mellanox Technologies":   {},
		"MT25408 ConnectX":                         {},
		"MT41686 BlueField-2":                      {},
		"MT4129":                                   {},
		"Infiniscale-IV Mellanox Technologies":     {},
		"SwitchIB Mellanox Technologies":           {},
		"Quantum Mellanox Technologies":            {},
		"Mellanox Technologies Aggregation Node":   {},
		"Voltaire HCA410-4EX":                      {},
		"QLogic kernel_SMA":                        {},
		"Intel Infiniband HCA":                     {},
		"Intel Infiniband HCA localhost":           {},
		"localhost mlx5_0":                         {},
		"localhost.localdomain HCA-1":              {},
		"Localhost":                                {},
		"(none) mlx5_0":                            {},
		`it "is" quoted`:                           {"it", ""},
		"rack1/node3 HCA-1":                        {"rack1/node3", "HCA-1"},
		"mlx5_0":                                   {},
		"HCA-1":                                    {},
	} {
		t.Run(name, func(t *testing.T) {
			got := fabric.HostNameOf(name)
			if got.Host != want.host || got.Device != want.device || (got.Problem == "") != (want.host != "") {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// Two cards in a host differ by their device; a description that two systems share does not
// identify a host, unless a name map assigns it.
func TestHostNames(t *testing.T) {
	const ca = mad.NodeTypeCA
	node := func(guid, system ib.GUID, kind mad.NodeType, desc string) *fabric.Node {
		return fabric.NewNode(mad.NodeInfo{NodeGUID: guid, SystemGUID: system, NodeType: kind, NumPorts: 1}, mad.NewNodeDescription(desc))
	}
	f := &fabric.Fabric{Nodes: []*fabric.Node{
		node(1, 1, ca, "n1 mlx5_0"), node(2, 2, ca, "n1 mlx5_1"),
		node(3, 3, ca, "n2 mlx5_0"), node(4, 3, ca, "n2 mlx5_0"), // one card
		node(5, 5, ca, "n3 mlx5_0"), node(6, 6, ca, "n3 mlx5_0"),
		node(7, 0, ca, "n4"), node(8, 0, ca, "n4"),
		node(9, 9, ca, "MT4129 ConnectX7   Mellanox Technologies"), node(10, 10, ca, "MT4129 ConnectX7   Mellanox Technologies"),
		node(11, 11, ca, "Mellanox Technologies Aggregation Node"),
		node(12, 12, mad.NodeTypeSwitch, "leaf1"),
		node(13, 13, ca, "100%s %d"),
	}}
	names, err := fabric.ReadNameMap(strings.NewReader("0x9 n9\n0xa n9\n"), "names")
	if err != nil {
		t.Fatal(err)
	}
	hosts := fabric.HostNames(f, names)
	for i, want := range []string{"n1", "n1", "n2", "n2", "", "", "", "", "n9", "n9", "-", "-", ""} {
		got, known := hosts[f.Nodes[i]]
		if want == "-" == known || known && (got.Host != want || (got.Problem == "") != (want != "")) {
			t.Errorf("%s: got %+v, want %q", f.Nodes[i].Desc.Clean(), got, want)
		}
	}
}
