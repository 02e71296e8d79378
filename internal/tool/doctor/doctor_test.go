package doctor

import (
	"fmt"
	"strings"
	"testing"
)

// TestChecks changes a healthy host's properties, each alone. A case without a change is
// the result for the healthy host.
func TestChecks(t *testing.T) {
	const (
		pci   = "sys/devices/0000:10:00.0/"
		gpu   = "sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/"
		port0 = "sys/class/infiniband/mlx5_0/ports/1/"
		port1 = "sys/class/infiniband/mlx5_1/ports/1/"
	)
	root := healthyHost(t)
	ipoib := func(flags string) change {
		const ib0 = "sys/class/net/ib0/"
		return change{ib0 + "type": "32", ib0 + "dev_port": "0", ib0 + "flags": flags, ib0 + "device -> ../../../devices/0000:10:00.0": ""}
	}
	for _, test := range []struct {
		name   string // check, optionally followed by ": " and the change
		change change
		want   string
	}{
		{name: "modules"},
		{name: "modules: not loaded", change: change{"sys/module/ib_umad": removed, "sys/class/infiniband_mad": removed}, want: `
error ib_umad: not loaded
$ modprobe ib_umad
# echo ib_umad >>/etc/modules-load.d/rdma.conf`},
		{name: "modules: built in", change: change{"sys/module/ib_umad": removed}},
		{name: "modules: in a container", change: change{"sys/module/ib_umad": removed, "sys/class/infiniband_mad": removed, ".dockerenv": ""}, want: `
error ib_umad: not loaded`},
		{name: "modules: not installed", change: change{
			"sys/module/ib_umad": removed, "sys/class/infiniband_mad": removed,
			"lib/modules/6.1.0-18-amd64/modules.dep": "kernel/crypto/crc32c.ko:",
		}, want: `
error ib_umad: not loaded, and not installed for this kernel`},
		{name: "modules: RDMA driver of an adapter", change: change{"sys/module/mlx5_ib": removed, pci + "infiniband": removed}, want: `
error 0000:10:00.0: no RDMA device: mlx5_core is loaded, mlx5_ib is not
$ modprobe mlx5_ib
# echo mlx5_ib >>/etc/modules-load.d/rdma.conf`},
		{name: "modules: GPU without peermem", change: change{"sys/module/nvidia/refcnt": "1", "lib/modules": removed}, want: `
note nvidia_peermem: not loaded
$ modprobe nvidia_peermem
# echo nvidia_peermem >>/etc/modules-load.d/rdma.conf`},
		{name: "modules: GPU with peermem", change: change{"sys/module/nvidia/refcnt": "1", "sys/module/nvidia_peermem/refcnt": "1"}},
		{name: "modules: adapter with RDMA disabled", change: change{pci + "infiniband": removed}, want: `
note 0000:10:00.0: no RDMA device, although mlx5_core and mlx5_ib are loaded`},
		{name: "modules: adapter without driver", change: change{pci + "driver": removed, pci + "infiniband": removed,
			"lib/modules/6.1.0-18-amd64/modules.dep": "mlx5/mlx5_core.ko:"}, want: `
error 0000:10:00.0: NVIDIA adapter without a driver
$ modprobe mlx5_core
# echo mlx5_core >>/etc/modules-load.d/rdma.conf`},

		{name: "modules: unreadable", change: change{"sys/module": removed}, want: `
unknown: stat /sys/module: no such file or directory`},

		{name: "devices"},
		{name: "devices: unreadable", change: change{"sys/class": removed}, want: `
unknown: stat /sys/class: no such file or directory`},
		{name: "devices: iWARP", change: change{
			"sys/class/infiniband/mlx5_0/node_type": "4: RNIC", pci + "driver -> ../../bus/pci/drivers/ice": "",
		}, want: `
note mlx5_0: iWARP, although the adapter has RoCE
$ devlink dev param set pci/0000:10:00.0 name enable_roce value true cmode runtime`},
		{name: "devices: iWARP of Intel's own driver", change: change{
			"sys/class/infiniband/mlx5_0/node_type": "4: RNIC", pci + "driver -> ../../bus/pci/drivers/ice": "", "sys/module/irdma/parameters/roce_ena": "0",
		}, want: `
note mlx5_0: iWARP, although the adapter has RoCE
$ modprobe -r irdma
$ modprobe irdma roce_ena=1
# echo 'options irdma roce_ena=1' >/etc/modprobe.d/irdma.conf`},
		{name: "devices: different firmware", change: change{"sys/class/infiniband/mlx5_0/fw_ver": "20.28.1002"}, want: `
note mlx5_0: firmware 20.28.1002 differs from that of another adapter with board ID MT_0000000222
note mlx5_1: firmware 20.31.1014 differs from that of another adapter with board ID MT_0000000222`},
		{name: "devices: GUID 0", change: change{"sys/class/infiniband/mlx5_0/node_guid": "0000:0000:0000:0000"}, want: `
error mlx5_0: node GUID is 0`},
		{name: "devices: port GUID 0", change: change{port0 + "gids/0": "fe80:0000:0000:0000:0000:0000:0000:0000"}, want: `
error mlx5_0/1: port GUID is 0: GID 0 is fe80::`},
		{name: "devices: none", change: change{"sys/class/infiniband": removed, "sys/class/infiniband_verbs": removed, "sys/class/infiniband_mad": removed}, want: `
error: no RDMA device`},
		{name: "devices: none, Ethernet port", change: change{
			"sys/class/infiniband": removed, "sys/class/infiniband_verbs": removed, "sys/class/infiniband_mad": removed,
			"sys/class/net/eth0/operstate": "up", "sys/class/net/eth0/device/vendor": "0x8086",
		}, want: `
error: no RDMA device
$ ibkit link add rxe0 --type rxe --netdev eth0 --yes`},
		{name: "devices: invalid file", change: change{port0 + "lid": "many"}, want: `
unknown mlx5_0: read /sys/class/infiniband/mlx5_0/ports/1/lid: "many" is not an unsigned 16-bit number`},

		{name: "netns"},
		{name: "netns: exclusive", change: change{"sys/module/ib_core/parameters/netns_mode": "N"}},
		{name: "netns: exclusive, no device", change: change{
			"sys/module/ib_core/parameters/netns_mode": "N", "sys/class/infiniband": removed, "sys/class/infiniband_verbs": removed,
		}, want: `
warning: exclusive mode, and no device in this network namespace`},
		{name: "netns: network device elsewhere", change: change{"sys/class/net/eth1": removed}, want: `
error mlx5_1/1: eth1 is in another network namespace`},

		{name: "nodes"},
		{name: "nodes: missing", change: change{"dev/infiniband/uverbs0": removed, "dev/infiniband/issm1": removed}, want: `
error /dev/infiniband/uverbs0: missing
$ mkdir -p /dev/infiniband
$ mknod -m 0666 /dev/infiniband/uverbs0 c 231 192
note /dev/infiniband/issm1: missing
$ mkdir -p /dev/infiniband
$ mknod -m 0600 /dev/infiniband/issm1 c 231 65`},
		{name: "nodes: missing in a container", change: change{"dev/infiniband/uverbs0": removed, "run/.containerenv": ""}, want: `
error /dev/infiniband/uverbs0: missing`},

		{name: "nodes: invalid names", change: change{"sys/class/infiniband_verbs/uverbs0;reboot/dev": "231:1", "sys/class/infiniband_mad/umad/dev": "1"}},

		{name: "memlock"},
		{name: "memlock: low", change: change{"proc/self/limits": fmt.Sprintf(limits, "1024", "8388608")}, want: `
error: locked memory is limited to 8 MiB
$ prlimit --pid $$ --memlock=unlimited:unlimited
# echo '* - memlock unlimited' >>/etc/security/limits.d/rdma.conf`},
		{name: "memlock: root", change: change{
			"proc/self/limits": fmt.Sprintf(limits, "1024", "65536"), "proc/self/status": "Uid:\t0 0 0 0\nCapEff: 000001ffffffffff",
		}},
		{name: "memlock: root of a user namespace", change: change{
			"proc/self/limits": fmt.Sprintf(limits, "1024", "65536"), "proc/self/status": "Uid:\t0 0 0 0\nCapEff: 000001ffffffffff",
			"proc/self/uid_map": "0 1000 1",
		}, want: `
error: locked memory is limited to 64 KiB
$ prlimit --pid $$ --memlock=unlimited:unlimited
# echo 'root - memlock unlimited' >>/etc/security/limits.d/rdma.conf`},
		{name: "memlock: high", change: change{"proc/self/limits": fmt.Sprintf(limits, "1024", "137438953472")}, want: `
note: locked memory is limited to 128 GiB
$ prlimit --pid $$ --memlock=unlimited:unlimited
# echo '* - memlock unlimited' >>/etc/security/limits.d/rdma.conf`},
		{name: "memlock: in a container", change: change{"proc/self/limits": fmt.Sprintf(limits, "1024", "65536"), "proc/1/environ": "HOME=/\x00container=lxc\x00"}, want: `
error: locked memory is limited to 64 KiB`},
		{name: "memlock: unreadable", change: change{"proc/self/limits": removed}, want: `
unknown: open /proc/self/limits: no such file or directory`},
		{name: "memlock: invalid", change: change{"proc/self/limits": "Max locked memory  much  more  bytes"}, want: `
unknown: read /proc/self/limits: Max locked memory: "much" is not a number or "unlimited"`},

		{name: "nofile"},
		{name: "nofile: low in the parent process", change: change{"proc/41/limits": fmt.Sprintf(limits, "256", "unlimited")}, want: `
warning: open files are limited to 256
$ prlimit --pid $$ --nofile=65536:65536
# echo '* - nofile 65536' >>/etc/security/limits.d/rdma.conf`},

		{name: "cgroup"},
		{name: "cgroup: limit of the parent", change: change{
			"sys/fs/cgroup/user.slice/rdma.max":               "mlx5_0 hca_handle=2 hca_object=max\nmlx5_1 hca_handle=max hca_object=max",
			"sys/fs/cgroup/user.slice/session.scope/rdma.max": "mlx5_0 hca_handle=max hca_object=max",
		}, want: `
note mlx5_0: hca_handle is limited to 2
$ echo 'mlx5_0 hca_handle=max' >/sys/fs/cgroup/user.slice/rdma.max`},
		{name: "cgroup: limit reached, version 1", change: change{
			"proc/self/cgroup":                      "12:cpu:/x\n11:rdma:/job 1/../job 1\n",
			"sys/fs/cgroup/rdma/job 1/rdma.max":     "mlx5_0 hca_handle=max hca_object=2000",
			"sys/fs/cgroup/rdma/job 1/rdma.current": "mlx5_0 hca_handle=1 hca_object=2000",
		}, want: `
error mlx5_0: hca_object is limited to 2000, 2000 in use
$ echo 'mlx5_0 hca_object=max' >'/sys/fs/cgroup/rdma/job 1/rdma.max'`},

		{name: "ports"},
		{name: "ports: one without a cable", change: change{port0 + "state": "1: DOWN", port0 + "phys_state": "2: Polling"}, want: `
warning mlx5_0/1: Down/Polling`},
		{name: "ports: all without a cable", change: change{
			port0 + "state": "1: DOWN", port0 + "phys_state": "2: Polling", port1 + "state": "1: DOWN", port1 + "phys_state": "2: Polling",
		}, want: `
error mlx5_0/1: Down/Polling
error mlx5_1/1: Down/Polling`},
		{name: "ports: no subnet manager", change: change{port0 + "state": "2: INIT"}, want: `
error mlx5_0/1: Initialize/LinkUp`},
		{name: "ports: disabled", change: change{port0 + "state": "1: DOWN", port0 + "phys_state": "3: Disabled"}, want: `
error mlx5_0/1: Down/Disabled
$ ibkit port -C mlx5_0 -P 1 route:0 1 enable`},
		{name: "ports: network device down", change: change{
			port1 + "state": "1: DOWN", port1 + "phys_state": "3: Disabled", "sys/class/net/eth1/flags": "0x1002",
		}, want: `
error mlx5_1/1: Down/Disabled, eth1 is down
$ ip link set eth1 up`},
		{name: "ports: IPoIB", change: ipoib("0x1003")},
		{name: "ports: IPoIB down", change: ipoib("0x1002"), want: `
note mlx5_0/1: Active/LinkUp, 200 Gb/sec (4X HDR), ib0 is down
$ ip link set ib0 up`},
		{name: "ports: unknown state", change: change{port0 + "state": removed}, want: `
unknown mlx5_0/1: the kernel does not report the port state`},

		{name: "sm", want: `
unknown mlx5_0/1: requires the running kernel of the host`},
		{name: "sm: none", change: change{port0 + "sm_lid": "0x0"}, want: `
error mlx5_0/1: no subnet manager has configured the port`},
		{name: "sm: none, opensm installed", change: change{port0 + "sm_lid": "0x0", "usr/sbin/opensm": ""}, want: `
error mlx5_0/1: no subnet manager has configured the port
$ opensm -B`},
		{name: "sm: none, opensm service installed", change: change{port0 + "sm_lid": "0x0", "usr/sbin/opensm": "", "run/systemd/system/x": ""}, want: `
error mlx5_0/1: no subnet manager has configured the port
$ systemctl restart opensm
# systemctl enable opensm`},
		{name: "sm: no link", change: change{port0 + "phys_state": "2: Polling"}, want: `
error: no active InfiniBand port`},
		{name: "sm: no InfiniBand", change: change{port0 + "link_layer": "Ethernet"}},
		{name: "sm: no device", change: change{"sys/class/infiniband": removed, "sys/class/infiniband_verbs": removed, "sys/class/infiniband_mad": removed}, want: `
error: no RDMA device`},

		{name: "links", want: `
unknown mlx5_0/1: requires the running kernel of the host`},

		{name: "pkeys"},
		{name: "pkeys: limited", change: change{port0 + "pkeys/1": "0x0001"}, want: `
note mlx5_0/1: limited member of 0x7fff 0x0001, full member of no partition`},

		{name: "names"},
		{name: "names: different", change: change{"sys/class/infiniband/mlx5_0/node_desc": "MT4123 ConnectX6   Mellanox Technologies"}, want: `
note mlx5_0: node description "MT4123 ConnectX6   Mellanox Technologies" does not contain the host name node1
$ echo 'node1 mlx5_0' >/sys/class/infiniband/mlx5_0/node_desc
# systemctl enable --now rdma-ndd`},

		{name: "names: host without a name", change: change{"proc/sys/kernel/hostname": "(none)"}},

		{name: "gids"},
		{name: "gids: RoCE v1 only", change: change{port1 + "gid_attrs/types/3": "IB/RoCE v1"}, want: `
warning mlx5_1/1: no RoCE v2 GID over IPv4
$ ip address add ADDRESS/PREFIX dev eth1`},
		{name: "gids: IPv6 only", change: change{port1 + "gids/3": "2001:0db8:0000:0000:0000:0000:0000:0007"}, want: `
note mlx5_1/1: no RoCE v2 GID over IPv4, only over IPv6: index 3, 2001:db8::7
$ ip address add ADDRESS/PREFIX dev eth1`},
		{name: "gids: IPv6 link-local only", change: change{port1 + "gids/3": "fe80:0000:0000:0000:0000:0000:0000:0007"}, want: `
warning mlx5_1/1: no RoCE v2 GID over IPv4
$ ip address add ADDRESS/PREFIX dev eth1`},
		{name: "gids: none", change: change{port1 + "gids": removed}, want: `
error mlx5_1/1: no GID`},

		{name: "routes"},
		{name: "routes: none", change: change{"proc/net/route": "Iface"}, want: `
warning mlx5_1/1: no route through eth1 to the subnet of 10.0.0.2
$ ip route add SUBNET/PREFIX dev eth1 src 10.0.0.2`},
		{name: "routes: unreadable", change: change{"proc/net/route": removed}, want: `
unknown: open /proc/net/route: no such file or directory`},
		{name: "routes: two devices in one subnet", change: twoRails, want: `
warning eth1 eth2: in one subnet (10.0.0.0/24), each answers ARP for the others' addresses
$ sysctl -w net.ipv4.conf.all.arp_announce=2
# echo 'net.ipv4.conf.all.arp_announce = 2' >>/etc/sysctl.d/60-rdma.conf`},

		{name: "mtu", want: `
unknown mlx5_0/1: the device could not be queried
unknown mlx5_1/1: the device could not be queried`},

		{name: "pcie"},
		{name: "pcie: narrow", change: change{pci + "current_link_width": "8"}, want: `
warning mlx5_0: PCIe link at 0000:10:00.0 runs at x8 of x16`},
		{name: "pcie: virtual function", change: change{pci + "current_link_width": "0", pci + "current_link_speed": "Unknown"}},
		{name: "pcie: unknown", change: change{pci + "current_link_speed": removed}, want: `
unknown mlx5_0: the kernel does not report the PCIe link at 0000:10:00.0`},

		{name: "gpus"},
		{name: "gpus: restricted", change: change{gpu + "config": strings.Repeat("\x00", 63)}, want: `
unknown: access control (ACS) of PCIe bridges is readable for root only`},
		{name: "gpus: narrow", change: change{gpu + "max_link_width": "16"}, want: `
warning GPU0: PCIe link from 0000:40:01.0 to 0000:41:00.0 runs at x8 of x16`},
		{name: "gpus: none", change: change{gpu + "class": "0x010802"}},

		{name: "iommu"},
		{name: "iommu: translated", change: change{pci + "iommu_group/type": "DMA-FQ", "usr/sbin/update-grub": ""}, want: `
note mlx5_0: the IOMMU translates addresses (DMA-FQ)
$ sed -i 's/^GRUB_CMDLINE_LINUX="/&iommu=pt /' /etc/default/grub
$ update-grub`},
		{name: "iommu: translated, strict", change: change{pci + "iommu_group/type": "DMA", "usr/sbin/grubby": ""}, want: `
warning mlx5_0: the IOMMU translates addresses (DMA)
$ grubby --update-kernel=ALL --args=iommu=pt`},
		{name: "iommu: none", change: change{pci + "iommu_group": removed}},

		{name: "numa"},
		{name: "numa: unknown node", change: change{pci + "numa_node": "-1"}, want: `
note mlx5_0: the firmware does not report its NUMA node (of 2)`},
		{name: "numa: distant CPUs", change: change{"proc/self/status": strings.Replace(status, "0-31", "16-31", 1)}, want: `
note mlx5_0: node 0 of 2, CPUs 0-15, but this shell may only use CPUs 16-31
$ taskset -pc 0-15 $$
note mlx5_1: node 0 of 2, CPUs 0-15, but this shell may only use CPUs 16-31
$ taskset -pc 0-15 $$`},
		{name: "numa: balancing", change: change{"proc/sys/kernel/numa_balancing": "1"}, want: `
note numa_balancing: on: the kernel moves memory between NUMA nodes
$ sysctl -w kernel.numa_balancing=0
# echo 'kernel.numa_balancing = 0' >>/etc/sysctl.d/60-rdma.conf`},

		{name: "governor"},
		{name: "governor: slow", change: change{"sys/devices/system/cpu/cpufreq/policy1/scaling_governor": "schedutil"}, want: `
warning schedutil: used by 1 of 2 CPU frequency policies
$ for f in /sys/devices/system/cpu/cpufreq/policy*/scaling_governor; do echo performance >$f; done`},
		{name: "governor: selected by the processor", change: change{
			"sys/devices/system/cpu/cpufreq/policy1/scaling_governor":              "powersave",
			"sys/devices/system/cpu/cpufreq/policy1/energy_performance_preference": "performance",
		}},
		{name: "governor: none", change: change{"sys/devices/system/cpu/cpufreq": removed}},

		{name: "clock"},
		{name: "clock: slow", change: change{"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"}, want: `
warning: hpet is a slow clock source
$ echo tsc >/sys/devices/system/clocksource/clocksource0/current_clocksource`},
		{name: "clock: slow, no alternative", change: change{
			"sys/devices/system/clocksource/clocksource0/current_clocksource":   "acpi_pm",
			"sys/devices/system/clocksource/clocksource0/available_clocksource": "acpi_pm",
		}, want: `
warning: acpi_pm is a slow clock source`},

		{name: "hugepages"},
		{name: "hugepages: none", change: change{"proc/meminfo": "MemTotal: 131072000 kB\nHugePages_Total: 0\nHugePages_Free: 0\nHugepagesize: 2048 kB"}, want: `
note: no huge pages are reserved
$ sysctl -w vm.nr_hugepages=512
# echo 'vm.nr_hugepages = 512' >>/etc/sysctl.d/60-rdma.conf`},
		{name: "hugepages: none free", change: change{"proc/meminfo": "MemTotal: 1024000 kB\nHugePages_Total: 8\nHugePages_Free: 0\nHugepagesize: 2048 kB"}, want: `
note: 8 of 2 MiB reserved, 0 free
$ sysctl -w vm.nr_hugepages=70
# echo 'vm.nr_hugepages = 70' >>/etc/sysctl.d/60-rdma.conf`},
		{name: "hugepages: 1 GiB pages", change: change{"proc/meminfo": "MemTotal: 131072000 kB\nHugePages_Total: 0\nHugePages_Free: 0\nHugepagesize: 1048576 kB"}, want: `
note: no huge pages are reserved
$ sysctl -w vm.nr_hugepages=1
# echo 'vm.nr_hugepages = 1' >>/etc/sysctl.d/60-rdma.conf`},
		{name: "hugepages: unsupported", change: change{"proc/meminfo": "MemTotal: 1 kB"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			check, _, _ := strings.Cut(test.name, ":")
			apply(t, root, test.change)
			got := problems(t, root, check)
			if want := strings.TrimSpace(test.want); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// twoRails adds a second RoCE adapter, in the first adapter's subnet.
var twoRails = func() change {
	c := change{}
	adapter(c, "mlx5_2", 2, "Ethernet")
	const port = "sys/class/infiniband/mlx5_2/ports/1/"
	c[port+"gids/0"] = "0000:0000:0000:0000:0000:ffff:0a00:0003"
	c[port+"gid_attrs/types/0"] = "RoCE v2"
	c[port+"gid_attrs/ndevs/0"] = "eth2"
	c["proc/net/route"] = healthy["proc/net/route"] + "\n" +
		strings.Replace(strings.SplitAfter(healthy["proc/net/route"], "\n")[1], "eth1", "eth2", 1)
	c["proc/sys/net/ipv4/conf/all/arp_ignore"] = "1"
	c["proc/sys/net/ipv4/conf/eth1/arp_announce"] = "2"
	return c
}()

// TestPrerequisite checks that a check without the devices or ports that it needs is
// skipped if another check reports their absence, and reports it otherwise.
func TestPrerequisite(t *testing.T) {
	const (
		port0 = "sys/class/infiniband/mlx5_0/ports/1/"
		port1 = "sys/class/infiniband/mlx5_1/ports/1/"
	)
	noDevice := change{"sys/class/infiniband": removed, "sys/class/infiniband_verbs": removed, "sys/class/infiniband_mad": removed}
	down := change{port0 + "state": "1: DOWN", port0 + "phys_state": "2: Polling", port1 + "state": "1: DOWN", port1 + "phys_state": "2: Polling"}
	noGID := change{port1 + "gid_attrs/types/3": "IB/RoCE v1"}
	root := healthyHost(t)
	for _, test := range []struct {
		name   string
		change change
		only   string
		want   string // the last check's verdict and result
	}{
		{"no device", noDevice, "sm", "error: no RDMA device"},
		{"no device, devices checked", noDevice, "devices sm", "skipped: no RDMA device"},
		{"no device, already reported", noDevice, "ports sm", "skipped: no RDMA device"},
		{"no device, nodes", noDevice, "nodes", "error: no RDMA device"},
		{"no InfiniBand link", down, "sm", "error: no active InfiniBand port"},
		{"no InfiniBand link, ports checked", down, "ports links", "skipped: no active InfiniBand port"},
		{"no RoCE link", down, "gids", "error: no active RoCE port"},
		{"no RoCE link, ports checked", down, "ports lossless", "skipped: no active RoCE port"},
		{"no link", down, "mtu", "error: no active port"},
		{"no InfiniBand", change{port0 + "link_layer": "Ethernet"}, "sm", "skipped: no InfiniBand port"},
		{"no RoCE", change{port1 + "link_layer": "InfiniBand"}, "gids", "skipped: no RoCE port"},
		{"no RoCE GID", noGID, "routes", "warning: no RoCE v2 GID over IPv4"},
		{"IPv6 only", change{port1 + "gids/3": "2001:0db8:0000:0000:0000:0000:0000:0007"}, "routes", "note: no RoCE v2 GID over IPv4"},
		{"no RoCE GID, GIDs checked", noGID, "gids routes", "skipped: no RoCE v2 GID over IPv4"},
	} {
		t.Run(test.name, func(t *testing.T) {
			apply(t, root, test.change)
			r, err := Run(t.Context(), Options{Root: root, Only: strings.Fields(test.only)})
			if err != nil {
				t.Fatal(err)
			}
			last := r.Items[len(r.Items)-1]
			if got := fmt.Sprintf("%s: %s", last.Verdict, last.Found); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestOnlyAndSkip(t *testing.T) {
	run := func(o Options) string {
		o.Root = t.TempDir()
		r, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, i := range r.Items {
			if len(names) == 0 || names[len(names)-1] != i.Check {
				names = append(names, i.Check)
			}
		}
		return strings.Join(names, " ")
	}
	var names []string
	for _, c := range Checks() {
		names = append(names, c.Name)
	}
	if got, want := run(Options{}), strings.Join(names, " "); got != want {
		t.Errorf("got checks %s, want %s", got, want)
	}
	if got := run(Options{Only: []string{"clock", "nodes", "modules"}, Skip: []string{"nodes"}}); got != "modules clock" {
		t.Errorf("got checks %s, want modules clock", got)
	}
	for _, o := range []Options{{Only: []string{"nosuch"}}, {Skip: []string{"nosuch"}}} {
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), `"nosuch"`) {
			t.Errorf("%+v: got error %v, want one with the name", o, err)
		}
	}
}

func TestOverlap(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{{"0-3", "3-8", true}, {"0-3", "4-8", false}, {"0-3,9", "4-8,9", true}, {"1", "1", true}, {"7", "0-6,8", false}, {"", "1", true}} {
		t.Run(test.a+" and "+test.b, func(t *testing.T) {
			if got := overlap(test.a, test.b); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
