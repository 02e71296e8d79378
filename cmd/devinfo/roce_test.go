package devinfo

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/roce"
)

// roceHost has a RoCE port on a bond, and an InfiniBand port.
var roceHost = map[string]string{
	"class/infiniband/mlx5_0/node_type":                      "1: CA",
	"class/infiniband/mlx5_0/ports/1/state":                  "4: ACTIVE",
	"class/infiniband/mlx5_0/ports/1/link_layer":             "Ethernet",
	"class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0":      "bond0",
	"class/infiniband/mlx5_0/ports/1/gid_attrs/types/0":      "RoCE v2",
	"class/infiniband/mlx5_0/ports/1/gids/0":                 "0000:0000:0000:0000:0000:ffff:0a00:0002",
	"class/infiniband/mlx5_0/tc/1/traffic_class":             "Global tclass=106",
	"class/infiniband/mlx5_1/node_type":                      "1: CA",
	"class/infiniband/mlx5_1/ports/1/link_layer":             "InfiniBand",
	"kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos":  "96",
	"kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_mode": "IB/RoCE v1",
	"class/net/bond0/lower_eth1/x":                           "",
	"class/net/bond0/lower_eth2/x":                           "",
	"class/net/eth1/qos/trust":                               "dscp",
	"class/net/eth1/ecn/roce_np/enable/3":                    "1",
	"class/net/eth1/ecn/roce_np/cnp_dscp":                    "48",
	"class/net/eth1/ecn/roce_rp/enable/3":                    "0",
}

func TestRoCE(t *testing.T) {
	env := map[string]string{"IBKIT_SYSFS": testenv.WriteTree(t, roceHost)}
	code, out, stderr := program.Run(t, env, "devinfo", "--roce")
	cmdtest.Golden(t, "roce.golden", out)
	if code != cmdutil.ExitOK || stderr != "" {
		t.Errorf("got exit code %d, error output %q, want 0 and none", code, stderr)
	}
	code, out, _ = program.Run(t, env, "devinfo", "--roce", "--problems")
	if want := "echo 106 >/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos"; code != cmdutil.ExitFindings || !strings.Contains(out, want) {
		t.Errorf("--problems: got exit code %d, want 3 and %q\n%s", code, want, out)
	}
	_, out, _ = program.Run(t, env, "devinfo", "--roce", "--json")
	var o roce.Overview
	cmdtest.CheckDocument(t, "../../schema/devinfo-roce.json", out, &o)
}

// LLDP frames come from the running kernel's network devices.
func TestRoCE_Window(t *testing.T) {
	env := map[string]string{"IBKIT_SYSFS": testenv.WriteTree(t, roceHost)}
	code, out, stderr := program.Run(t, env, "devinfo", "--roce", "--window", "1ms")
	if want := "LLDP frames come from the running kernel"; code != cmdutil.ExitPartial || !strings.Contains(out, "LLDP peer              -") || !strings.Contains(stderr, want) {
		t.Errorf("got exit code %d, error output %q, want %d and %s\n%s", code, stderr, cmdutil.ExitPartial, want, out)
	}
}

func TestRoCE_NoPort(t *testing.T) {
	env := map[string]string{"IBKIT_SYSFS": testenv.WriteTree(t, map[string]string{"class/infiniband/mlx5_1/ports/1/link_layer": "InfiniBand"})}
	code, out, stderr := program.Run(t, env, "devinfo", "--roce")
	if code != cmdutil.ExitFailed || out != "" || !strings.Contains(stderr, "this host has no RoCE port") {
		t.Errorf("got exit code %d, output %q, error output %q, want 1 and an error", code, out, stderr)
	}
}
