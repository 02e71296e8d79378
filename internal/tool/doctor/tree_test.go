package doctor

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

// status is an unprivileged process's /proc/self/status.
const status = "Name:\tibkit\nPPid:\t41\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t27 1000\n" +
	"CapEff:\t0000000000000000\nCpus_allowed_list:\t0-31"

const limits = `Limit                     Soft Limit           Hard Limit           Units
Max open files            %s                  524288               files
Max locked memory         %s            unlimited            bytes`

// healthy is a host without problems, with an InfiniBand and a RoCE adapter. Checks
// that need a running kernel are unknown.
var healthy = func() map[string]string {
	files := map[string]string{
		"proc/self/status":               status,
		"proc/self/uid_map":              "         0          0 4294967295",
		"proc/self/limits":               fmt.Sprintf(limits, "1024", "unlimited"),
		"proc/self/cgroup":               "0::/user.slice/session.scope",
		"proc/meminfo":                   "MemTotal: 1 kB\nHugePages_Total: 8\nHugePages_Free: 8\nHugepagesize: 2048 kB",
		"proc/sys/kernel/hostname":       "node1.example.com",
		"proc/sys/kernel/osrelease":      "6.1.0-18-amd64",
		"proc/sys/kernel/numa_balancing": "0",
		"proc/net/route": "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n" +
			"eth1\t" + hostOrder(10, 0, 0, 0) + "\t00000000\t0001\t0\t0\t0\t" + hostOrder(255, 255, 255, 0) + "\t0\t0\t0",
		"lib/modules/6.1.0-18-amd64/modules.dep": "kernel/drivers/infiniband/core/ib_umad.ko: kernel/drivers/infiniband/core/ib_core.ko\n" +
			"kernel/drivers/infiniband/core/ib_uverbs.ko:\nkernel/drivers/infiniband/core/rdma_ucm.ko:\nkernel/drivers/infiniband/hw/mlx5/mlx5_ib.ko:",
		"etc/passwd": "root:x:0:0:root:/root:/bin/bash\nalice:x:1000:1000::/home/alice:/bin/bash",
		"etc/group":  "root:x:0:\nsudo:x:27:alice\nalice:x:1000:",

		"sys/module/ib_core/parameters/netns_mode":                          "Y",
		"sys/module/mlx5_ib/refcnt":                                         "0",
		"sys/class/misc/rdma_cm/dev":                                        "10:59",
		"sys/class/net/eth1/mtu":                                            "9000",
		"sys/class/net/eth1/flags":                                          "0x1003",
		"sys/class/infiniband_mad/abi_version":                              "5",
		"sys/class/infiniband_verbs/abi_version":                            "6",
		"sys/devices/system/node/node0/cpulist":                             "0-15",
		"sys/devices/system/node/node1/cpulist":                             "16-31",
		"sys/devices/system/cpu/cpufreq/policy0/scaling_governor":           "performance",
		"sys/devices/system/cpu/cpufreq/policy1/scaling_governor":           "performance",
		"sys/devices/system/clocksource/clocksource0/current_clocksource":   "tsc",
		"sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm",
		"dev/infiniband/rdma_cm":                                            "",
	}
	for _, m := range []string{"ib_uverbs", "ib_umad", "rdma_cm", "rdma_ucm"} {
		files["sys/module/"+m+"/refcnt"] = "0"
	}
	gpuBelow(files, "pci0000:40/0000:40:01.0/", "0000:41:00.0")
	adapter(files, "mlx5_0", 0, "InfiniBand")
	adapter(files, "mlx5_1", 1, "Ethernet")
	const gids = "sys/class/infiniband/mlx5_1/ports/1/"
	files[gids+"gids/3"] = "0000:0000:0000:0000:0000:ffff:0a00:0002"
	files[gids+"gid_attrs/types/3"] = "RoCE v2"
	files[gids+"gid_attrs/ndevs/3"] = "eth1"
	return files
}()

// gpuBelow adds a GPU below a root port.
func gpuBelow(files map[string]string, port, address string) {
	for dir, class := range map[string]string{port: "0x060400", port + address + "/": "0x030200"} {
		at := "sys/devices/" + dir
		maps.Copy(files, map[string]string{
			at + "class": class, at + "vendor": "0x10de", at + "numa_node": "0", at + "current_link_width": "8", at + "max_link_width": "16",
			"sys/bus/pci/devices/" + filepath.Base(dir) + " -> ../../../devices/" + strings.TrimSuffix(dir, "/"): "",
		})
	}
	files["sys/devices/"+port+address+"/max_link_width"] = "8"
}

// hostOrder formats an address like /proc/net/route.
func hostOrder(a, b, c, d byte) string {
	return fmt.Sprintf("%08X", binary.NativeEndian.Uint32([]byte{a, b, c, d}))
}

// adapter adds an adapter with a single port.
func adapter(files map[string]string, name string, number int, layer string) {
	address := fmt.Sprintf("0000:%d0:00.0", number+1)
	pci := "sys/devices/" + address + "/"
	maps.Copy(files, map[string]string{
		pci + "class":                                     "0x020700",
		pci + "vendor":                                    "0x15b3",
		pci + "numa_node":                                 "0",
		pci + "local_cpulist":                             "0-15",
		pci + "current_link_width":                        "16",
		pci + "max_link_width":                            "16",
		pci + "current_link_speed":                        "16.0 GT/s PCIe",
		pci + "max_link_speed":                            "16.0 GT/s PCIe",
		pci + "iommu_group/type":                          "identity",
		pci + "infiniband/" + name + "/node_type":         "1: CA",
		pci + "driver -> ../../bus/pci/drivers/mlx5_core": "",
		"sys/bus/pci/devices/" + address + " -> ../../../devices/" + address: "",
	})
	dir := "sys/class/infiniband/" + name + "/"
	maps.Copy(files, map[string]string{
		dir + "device -> ../../../devices/" + address: "",
		dir + "node_type":          "1: CA",
		dir + "fw_ver":             "20.31.1014",
		dir + "board_id":           "MT_0000000222",
		dir + "node_desc":          "node1 " + name,
		dir + "ports/1/pkeys/0":    "0x7fff",
		dir + "ports/1/pkeys/1":    "0x8001",
		dir + "ports/1/state":      "4: ACTIVE",
		dir + "ports/1/phys_state": "5: LinkUp",
		dir + "ports/1/rate":       "200 Gb/sec (4X HDR)",
		dir + "ports/1/link_layer": layer,
		dir + "ports/1/lid":        "0x5",
		dir + "ports/1/sm_lid":     "0x1",
	})
	for i, node := range []string{"uverbs", "umad", "issm"} {
		class := []string{"infiniband_verbs", "infiniband_mad", "infiniband_mad"}[i]
		node = fmt.Sprintf("%s%d", node, number)
		maps.Copy(files, map[string]string{
			"sys/class/" + class + "/" + node + "/ibdev": name,
			"sys/class/" + class + "/" + node + "/port":  "1",
			"sys/class/" + class + "/" + node + "/dev":   fmt.Sprintf("231:%d", 192*(1-min(i, 1))+64*max(i-1, 0)+number),
			"dev/infiniband/" + node:                     "",
		})
	}
}

// A change maps file names to new contents, or to removed.
type change map[string]string

const removed = "-"

// healthyHost writes the healthy host's files and returns their root.
func healthyHost(t *testing.T) string {
	t.Helper()
	root := testenv.WriteTree(t, healthy)
	setModes(t, root, nil)
	return root
}

// setModes sets device node modes; the default is 0666.
func setModes(t *testing.T, root string, modes map[string]os.FileMode) {
	t.Helper()
	nodes, err := filepath.Glob(filepath.Join(root, "dev/infiniband/*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range nodes {
		mode, isSet := modes[filepath.Base(path)]
		if !isSet {
			mode = 0o666
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
}

// apply makes a change that lasts until the test's end.
func apply(t *testing.T, root string, c change) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	stash := t.TempDir()
	for name, text := range c {
		name, target, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(root, name)
		if _, err := os.Lstat(path); err == nil {
			aside := filepath.Join(stash, strings.ReplaceAll(name, "/", "_"))
			must(os.Rename(path, aside))
			t.Cleanup(func() { must(os.Rename(aside, path)) })
		} else if text == removed {
			t.Fatalf("%s does not exist", path)
		}
		if text == removed {
			continue
		}
		first := path // topmost new directory or file
		for dir := filepath.Dir(path); !exists(dir); dir = filepath.Dir(dir) {
			first = dir
		}
		must(os.MkdirAll(filepath.Dir(path), 0o755))
		t.Cleanup(func() { must(os.RemoveAll(first)) })
		if isLink {
			must(os.Symlink(target, path))
		} else {
			must(os.WriteFile(path, []byte(text+"\n"), 0o644))
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// problems runs a check and returns its problems and fixes, one per line.
func problems(t *testing.T, root, check string) string {
	t.Helper()
	r, err := Run(t.Context(), Options{Root: root, Only: []string{check}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Items) == 0 {
		t.Error("got no items")
	}
	for _, i := range r.Items {
		isPlain := i.Why == "" && len(i.Fix)+len(i.Persist) == 0 && i.Hint == ""
		isExplained := i.Why != "" && (len(i.Fix) > 0 || i.Hint != "")
		switch i.Verdict {
		case OK, Skipped:
			if !isPlain {
				t.Errorf("got an explanation without a problem: %+v", i)
			}
		case Note, Warning, Error:
			if !isExplained {
				t.Errorf("got a problem without an explanation: %+v", i)
			}
		}
		if i.Found == "" {
			t.Errorf("got no result: %+v", i)
		}
	}
	return strings.TrimSpace(strings.ReplaceAll(format(r.Items), root, ""))
}

// format formats the items that are problems.
func format(items []Item) string {
	var s strings.Builder
	for _, i := range items {
		if i.Verdict == OK || i.Verdict == Skipped {
			continue
		}
		fmt.Fprintln(&s, strings.TrimSpace(fmt.Sprintf("%s %s", i.Verdict, i.Subject))+": "+i.Found)
		for _, c := range i.Fix {
			fmt.Fprintln(&s, "$ "+c)
		}
		for _, c := range i.Persist {
			fmt.Fprintln(&s, "# "+c)
		}
	}
	return s.String()
}
