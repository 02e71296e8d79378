package devinfo

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/testenv"
)

var program = cmdtest.Native(New)

func TestDevinfo_Hosts(t *testing.T) {
	program.RunOnHosts(t, "devinfo", "devinfo --wide", "devinfo --problems")
}

func TestDevinfo_JSON(t *testing.T) {
	for _, name := range testenv.Hosts(t) {
		t.Run(name, func(t *testing.T) {
			root := testenv.Host(t, name)
			_, out, _ := program.Run(t, map[string]string{"IBKIT_SYSFS": root}, "devinfo", "--json")
			var r devinfo.Result
			cmdtest.CheckDocument(t, "../../schema/devinfo.json", out, &r)
			cmdtest.Golden(t, name+".json", strings.ReplaceAll(out, root, "/sys"))
		})
	}
}

// A file that cannot be read is in the document, and on standard error.
func TestDevinfo_Unreadable(t *testing.T) {
	root := testenv.WriteTree(t, map[string]string{
		"class/infiniband/mlx5_0/node_type": "1: CA", "class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE", "class/infiniband/mlx5_0/ports/1/counters/symbol_error": "many",
	})
	for args, want := range map[string]string{"devinfo --json": `"partial": true`, "devinfo": "mlx5_0"} {
		code, out, err := program.Run(t, map[string]string{"IBKIT_SYSFS": root}, strings.Fields(args)...)
		if code != cmdutil.ExitPartial || !strings.HasPrefix(err, "ibkit devinfo mlx5_0: ") || !strings.Contains(out, want) {
			t.Errorf("%s: got exit code %d, error output %q and\n%s", args, code, err, out)
		}
	}
}

func TestDevinfo_NoDevices(t *testing.T) {
	env := map[string]string{"IBKIT_SYSFS": t.TempDir()}
	for _, test := range []struct {
		line, want string
		code       int
	}{
		{"devinfo", "no RDMA device", cmdutil.ExitFailed},
		{"devinfo nosuch", "no such device\nhint: list all devices: ibkit devinfo\n", cmdutil.ExitFailed},
		{"devinfo nosuch/1", "no such device\nhint: omit the port: nosuch\n", cmdutil.ExitFailed},
		{"devinfo --roce nosuch/1", "no such device\nhint: omit the port: nosuch\n", cmdutil.ExitFailed},
		{"devinfo --watch --json", "", cmdutil.ExitUsage},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, err := program.Run(t, env, strings.Fields(test.line)...)
			if code != test.code || out != "" || !strings.Contains(err, test.want) {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code %d and %q", code, out, err, test.code, test.want)
			}
		})
	}
}

// A RoCE port with a routable IPv6 address has no problem: the table shows the address, and
// the missing IPv4 address as information.
func TestDevinfo_IPv6(t *testing.T) {
	const port = "class/infiniband/bnxt_re0/ports/1/"
	env := map[string]string{"IBKIT_SYSFS": testenv.WriteTree(t, map[string]string{
		"class/infiniband/bnxt_re0/node_type": "1: CA", "class/infiniband_mad/umad0/ibdev": "bnxt_re0", "class/infiniband_mad/umad0/port": "1",
		port + "link_layer": "Ethernet", port + "state": "4: ACTIVE",
		port + "gids/0": "fe80:0000:0000:0000:0210:18ff:fe00:0001", port + "gid_attrs/types/0": "RoCE v2",
		port + "gids/1": "fd93:16d3:59b6:0000:0000:0000:0000:0001", port + "gid_attrs/types/1": "RoCE v2",
	})}
	for line, want := range map[string]string{
		"devinfo --problems": "no problems found\n",
		"devinfo":            "bnxt_re0/1: no RoCE v2 GID over IPv4, only over IPv6: index 1, fd93:16d3:59b6::1 (add an IPv4 address to the network device)\n",
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, env, strings.Fields(line)...)
			if code != cmdutil.ExitOK || err != "" || !strings.HasSuffix(out, want) {
				t.Errorf("got exit code %d, output\n%s%s\nwant exit code 0 and %s", code, out, err, want)
			}
			if cell := "  fd93:16d3:59b6::1  "; line == "devinfo" && !strings.Contains(out, cell) {
				t.Errorf("got\n%s\nwant the address %s", out, cell)
			}
		})
	}
}

// TestDevinfo_Simulated shows the local adapter of a simulated fabric, without a look at
// this host.
func TestDevinfo_Simulated(t *testing.T) {
	for _, test := range []struct {
		env        map[string]string
		line, want string
		code       int
	}{
		{nil, "devinfo --sim demo", "sim0    1     InfiniBand  Active  LinkUp    400 Gb/s  4X NDR", cmdutil.ExitOK},
		{map[string]string{"IBKIT_SIM": "demo"}, "devinfo sim0", "description            node01", cmdutil.ExitOK},
		{map[string]string{"IBKIT_SIM": "demo", "SIM_HOST": "node10"}, "devinfo --problems", "sim0/1: port is not active", cmdutil.ExitFindings},
		{map[string]string{"IBKIT_SIM": "demo"}, "devinfo --problems", "no problems found\n", cmdutil.ExitOK},
		{map[string]string{"IBKIT_SIM": "demo"}, "devinfo mlx5_0", "find device mlx5_0: no such device", cmdutil.ExitFailed},
		{map[string]string{"IBKIT_SIM": "demo"}, "devinfo --watch", "exclude IBKIT_SIM\nhint: unset IBKIT_SIM\n", cmdutil.ExitUsage},
		{nil, "devinfo --sim demo --uapi", "are mutually exclusive", cmdutil.ExitUsage},
		{nil, "devinfo --sim moon", `unknown fabric "moon"`, cmdutil.ExitUsage},
		{map[string]string{"IBKIT_SIM": "ibsim", "IBSIM_SOCKNAME": "no such server"}, "devinfo", "no server responds", cmdutil.ExitFailed},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, err := program.Run(t, test.env, strings.Fields(test.line)...)
			if code != test.code || !strings.Contains(out+err, test.want) || test.want == "" && out+err != "" {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code %d and %q", code, out, err, test.code, test.want)
			}
		})
	}
}

func TestPage_SMI(t *testing.T) {
	var out bytes.Buffer
	v := &view{out: render.NewOutput(&out)}
	d := &devinfo.Device{Name: "smi1", SMI: true, Parent: new("mlx5_0"), Ports: []*devinfo.Port{{Number: 1, Rate: new("800 Gb/sec (4X XDR)"), Effective: new(uint64(6005))}}}
	if err := v.page(d); err != nil {
		t.Fatal(err)
	}
	if err := v.out.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"smi1\n  subnet management      of mlx5_0 only\n", "rate                   800 Gb/sec (4X XDR), effective 600.5 Gb/sec\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got no %q in\n%s", want, &out)
		}
	}
}

func TestChangeText_SpeedChange(t *testing.T) {
	if got, want := changeText(devinfo.Change{Kind: devinfo.Other, Device: "mlx5_0", Event: "DEVICE_SPEED_CHANGE"}), "mlx5_0: DEVICE_SPEED_CHANGE"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
