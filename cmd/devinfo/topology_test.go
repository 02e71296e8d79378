package devinfo

import (
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/gpu"
)

// Paths of PCI functions: two GPUs and mlx5_0 below a switch, GPU2 and mlx5_1 on root ports
// of another NUMA node.
const (
	switchPort = "pci0000:00/0000:00:01.0/0000:01:00.0/"
	gpu0       = switchPort + "0000:02:00.0/0000:03:00.0"
	gpu1       = switchPort + "0000:02:01.0/0000:04:00.0"
	mlx0       = switchPort + "0000:02:02.0/0000:05:00.0"
	gpu2       = "pci0000:80/0000:80:01.0/0000:81:00.0"
	mlx1       = "pci0000:80/0000:80:03.0/0000:82:00.0"
)

// gpuHost returns the files of the host. acs is the ACS control byte of GPU0's downstream port.
func gpuHost(acs byte) map[string]string {
	files := map[string]string{}
	add := func(dir, class, vendor, node string, config []byte) {
		at := "devices/" + dir + "/"
		maps.Copy(files, map[string]string{
			at + "class": class, at + "vendor": vendor, at + "device": "0x2330", at + "numa_node": node, at + "config": string(config),
			at + "current_link_width": "16", at + "max_link_width": "16", at + "current_link_speed": "32.0 GT/s PCIe", at + "max_link_speed": "32.0 GT/s PCIe",
		})
		files["bus/pci/devices/"+path.Base(dir)+" -> ../../../devices/"+dir] = ""
	}
	port := func(dir, node string, kind, acs byte) {
		add(dir, "0x060400", "0x1000", node, express(kind, acs))
	}
	port("pci0000:00/0000:00:01.0", "0", 4, 0)
	port("pci0000:00/0000:00:01.0/0000:01:00.0", "0", 5, 0)
	port(path.Dir(gpu0), "0", 6, acs)
	port(path.Dir(gpu1), "0", 6, 0)
	port(path.Dir(mlx0), "0", 6, 0)
	port(path.Dir(gpu2), "1", 4, 0)
	port(path.Dir(mlx1), "1", 4, 0)
	for dir, node := range map[string]string{gpu0: "0", gpu1: "0", gpu2: "1"} {
		add(dir, "0x030200", "0x10de", node, express(0, 0))
	}
	for name, dir := range map[string]string{"mlx5_0": mlx0, "mlx5_1": mlx1} {
		add(dir, "0x020700", "0x15b3", map[string]string{mlx0: "0", mlx1: "1"}[dir], express(0, 0))
		class := "class/infiniband/" + name + "/"
		files[class+"node_type"] = "1: CA"
		files[class+"ports/1/state"] = "4: ACTIVE"
		files[class+"device -> ../../../devices/"+dir] = ""
	}
	files["devices/"+gpu0+"/resource"] = "0x0000380000000000 0x0000381fffffffff 0x000000000014220c"
	files["devices/"+gpu0+"/aer_dev_correctable"] = "RxErr 0\nTOTAL_ERR_COR 3"
	files["devices/"+gpu1+"/current_link_speed"] = "2.5 GT/s PCIe" // idle
	files["devices/"+mlx1+"/current_link_width"] = "8"
	return files
}

// express returns the configuration space of a function with a PCI Express capability of a
// type, and with an ACS capability.
func express(kind, acs byte) []byte {
	b := make([]byte, 4095) // the file's end adds a byte
	b[0x06], b[0x34] = 0x10, 0x40
	copy(b[0x40:], []byte{0x10, 0, kind << 4, 0, 2, 0, 0, 0, 0x30, 0x29})
	copy(b[0x100:], []byte{0x0d, 0, 1, 0, 0, 0, acs})
	return b
}

func TestTopology(t *testing.T) {
	env := map[string]string{"IBKIT_SYSFS": testenv.WriteTree(t, gpuHost(0x1d))}
	code, out, stderr := program.Run(t, env, "devinfo", "--topology")
	if code != cmdutil.ExitOK || stderr != "" {
		t.Errorf("got exit code %d, error output %q", code, stderr)
	}
	cmdtest.Golden(t, "topology.golden", out)
	_, out, _ = program.Run(t, env, "devinfo", "--topology", "--json")
	var topology gpu.Topology
	cmdtest.CheckDocument(t, "../../schema/devinfo-topology.json", out, &topology)
	var got []string
	for _, f := range topology.Findings {
		got = append(got, string(f.Kind)+" "+f.Subject)
	}
	if want := "gpu-distance GPU2, acs-redirect GPU0, pcie-slow mlx5_1"; strings.Join(got, ", ") != want {
		t.Errorf("got findings %v, want %s", got, want)
	}
}

func TestTopology_codes(t *testing.T) {
	healthy := gpuHost(0)
	healthy["devices/"+mlx1+"/current_link_width"] = "16"
	for name := range healthy {
		if strings.Contains(name, path.Dir(gpu2)) || strings.Contains(name, path.Base(gpu2)) {
			delete(healthy, name)
		}
	}
	restricted := maps.Clone(healthy)
	for name := range restricted {
		if path.Base(name) == "config" {
			restricted[name] = string(make([]byte, 63))
		}
	}
	for _, test := range []struct {
		name  string
		files map[string]string
		line  string
		code  int
		want  string
	}{
		{"faults", gpuHost(0x1d), "--problems", cmdutil.ExitFindings, "GPU0: ACS at 0000:02:00.0 sends transfers between GPU0 and mlx5_0 through the CPU"},
		{"healthy", healthy, "--problems", cmdutil.ExitOK, "no problems found"},
		{"not root", restricted, "", cmdutil.ExitOK, "MaxPayload, MaxReadReq, ATS and ACS are readable for root only"},
		{"no GPU", map[string]string{"class/infiniband/abi_version": "1"}, "", cmdutil.ExitFailed, "this host has no GPU"},
		{"unreadable", map[string]string{"bus/pci/devices/0000:00:01.0/class": "x"}, "--json", cmdutil.ExitPartial, "is not an unsigned 24-bit number"},
		{"device", healthy, "mlx5_0", cmdutil.ExitUsage, "--topology shows all devices"},
		{"drawing", gpuHost(0x1d), "--svg", cmdutil.ExitOK, "GPU1  0000:04:00.0  x16/x16 2.5 GT/s PCIe  PIX to mlx5_0</text>"},
		{"drawing of problems", healthy, "--svg --problems", cmdutil.ExitUsage, "mutually exclusive"},
		{"no window", healthy, "--window 0s", cmdutil.ExitUsage, "invalid --window 0s"},
		{"simulated", healthy, "--sim demo", cmdutil.ExitUsage, "mutually exclusive"},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := map[string]string{"IBKIT_SYSFS": testenv.WriteTree(t, test.files)}
			code, out, stderr := program.Run(t, env, append([]string{"devinfo", "--topology"}, strings.Fields(test.line)...)...)
			if code != test.code || !strings.Contains(out+stderr, test.want) {
				t.Errorf("got exit code %d, output\n%s%s\nwant exit code %d and %q", code, out, stderr, test.code, test.want)
			}
		})
	}
}
