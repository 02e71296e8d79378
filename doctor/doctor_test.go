package doctor

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestChecks breaks one thing after the other. What each check finds wrong on the
// host as it is stands first.
func TestChecks(t *testing.T) {
	const (
		pci   = "sys/devices/0000:10:00.0/"
		port0 = "sys/class/infiniband/mlx5_0/ports/1/"
		port1 = "sys/class/infiniband/mlx5_1/ports/1/"
	)
	root := patient(t)
	for _, test := range []struct {
		name   string // begins with the check's
		change change
		want   string
	}{
		{name: "modules"},
		{name: "modules: one is missing", change: change{"sys/module/ib_umad": gone, "sys/class/infiniband_mad": gone}, want: `
error ib_umad: not loaded
$ modprobe ib_umad
# echo ib_umad >>/etc/modules-load.d/rdma.conf`},
		{name: "modules: built in", change: change{"sys/module/ib_umad": gone}},
		{name: "modules: in a container", change: change{"sys/module/ib_umad": gone, "sys/class/infiniband_mad": gone, ".dockerenv": ""}, want: `
error ib_umad: not loaded`},
		{name: "modules: not installed", change: change{
			"sys/module/ib_umad": gone, "sys/class/infiniband_mad": gone,
			"lib/modules/6.1.0-18-amd64/modules.dep": "kernel/crypto/crc32c.ko:",
		}, want: `
error ib_umad: not loaded, and not among this kernel's modules`},
		{name: "modules: of a card", change: change{"sys/module/mlx5_ib": gone, pci + "infiniband": gone}, want: `
error 0000:10:00.0: mlx5_core without mlx5_ib: a network card, and no RDMA device
$ modprobe mlx5_ib
# echo mlx5_ib >>/etc/modules-load.d/rdma.conf`},
		{name: "modules: GPUs", change: change{"sys/module/nvidia/refcnt": "1", "lib/modules": gone}, want: `
note nvidia_peermem: not loaded
$ modprobe nvidia_peermem
# echo nvidia_peermem >>/etc/modules-load.d/rdma.conf`},
		{name: "modules: GPUs, well", change: change{"sys/module/nvidia/refcnt": "1", "sys/module/nvidia_peermem/refcnt": "1"}},
		{name: "modules: a card that is told to do none", change: change{pci + "infiniband": gone}, want: `
note 0000:10:00.0: mlx5_core and mlx5_ib are loaded, and there is no RDMA device`},
		{name: "modules: a card without any", change: change{pci + "driver": gone, pci + "infiniband": gone,
			"lib/modules/6.1.0-18-amd64/modules.dep": "mlx5/mlx5_core.ko:"}, want: `
error 0000:10:00.0: a card of NVIDIA's without a driver
$ modprobe mlx5_core
# echo mlx5_core >>/etc/modules-load.d/rdma.conf`},

		{name: "modules: hidden", change: change{"sys/module": gone}, want: `
unknown: stat /sys/module: no such file or directory`},

		{name: "devices"},
		{name: "devices: hidden", change: change{"sys/class": gone}, want: `
unknown: stat /sys/class: no such file or directory`},
		{name: "devices: other firmware", change: change{"sys/class/infiniband/mlx5_0/fw_ver": "20.28.1002"}, want: `
note mlx5_0: firmware 20.28.1002, and another one on a card of the same board MT_0000000222
note mlx5_1: firmware 20.31.1014, and another one on a card of the same board MT_0000000222`},
		{name: "devices: none", change: change{"sys/class/infiniband": gone, "sys/class/infiniband_verbs": gone, "sys/class/infiniband_mad": gone}, want: `
error: there is no RDMA device`},
		{name: "devices: a network device", change: change{
			"sys/class/infiniband": gone, "sys/class/infiniband_verbs": gone, "sys/class/infiniband_mad": gone,
			"sys/class/net/eth0/operstate": "up", "sys/class/net/eth0/device/vendor": "0x8086",
		}, want: `
error: there is no RDMA device
$ rdma link add rxe0 type rxe netdev eth0`},
		{name: "devices: odd files", change: change{port0 + "lid": "many"}, want: `
unknown mlx5_0: read /sys/class/infiniband/mlx5_0/ports/1/lid: "many" is not a number of 16 bits`},

		{name: "netns"},
		{name: "netns: exclusive", change: change{"sys/module/ib_core/parameters/netns_mode": "N"}},
		{name: "netns: exclusive, nothing here", change: change{
			"sys/module/ib_core/parameters/netns_mode": "N", "sys/class/infiniband": gone, "sys/class/infiniband_verbs": gone,
		}, want: `
warning: exclusive, and no device is in this network namespace`},
		{name: "netns: the network device is elsewhere", change: change{"sys/class/net/eth1": gone}, want: `
error mlx5_1/1: eth1 is in another network namespace`},

		{name: "nodes"},
		{name: "nodes: missing", change: change{"dev/infiniband/uverbs0": gone, "dev/infiniband/issm1": gone}, want: `
error /dev/infiniband/uverbs0: missing
$ mkdir -p /dev/infiniband
$ mknod -m 0666 /dev/infiniband/uverbs0 c 231 192
note /dev/infiniband/issm1: missing
$ mkdir -p /dev/infiniband
$ mknod -m 0600 /dev/infiniband/issm1 c 231 65`},
		{name: "nodes: missing in a container", change: change{"dev/infiniband/uverbs0": gone, "run/.containerenv": ""}, want: `
error /dev/infiniband/uverbs0: missing`},

		{name: "nodes: names that are none", change: change{"sys/class/infiniband_verbs/uverbs0;reboot/dev": "231:1", "sys/class/infiniband_mad/umad/dev": "1"}},

		{name: "memlock"},
		{name: "memlock: little", change: change{"proc/self/limits": fmt.Sprintf(limits, "1024", "8388608")}, want: `
error: 8 MiB of memory may be locked
$ prlimit --pid $$ --memlock=unlimited:unlimited
# echo '* - memlock unlimited' >>/etc/security/limits.d/rdma.conf`},
		{name: "memlock: not for root", change: change{
			"proc/self/limits": fmt.Sprintf(limits, "1024", "65536"), "proc/self/status": "Uid:\t0 0 0 0\nCapEff: 000001ffffffffff",
		}},
		{name: "memlock: root of a user namespace", change: change{
			"proc/self/limits": fmt.Sprintf(limits, "1024", "65536"), "proc/self/status": "Uid:\t0 0 0 0\nCapEff: 000001ffffffffff",
			"proc/self/uid_map": "0 1000 1",
		}, want: `
error: 64 KiB of memory may be locked
$ prlimit --pid $$ --memlock=unlimited:unlimited
# echo 'root - memlock unlimited' >>/etc/security/limits.d/rdma.conf`},
		{name: "memlock: much", change: change{"proc/self/limits": fmt.Sprintf(limits, "1024", "137438953472")}, want: `
note: 128 GiB of memory may be locked
$ prlimit --pid $$ --memlock=unlimited:unlimited
# echo '* - memlock unlimited' >>/etc/security/limits.d/rdma.conf`},
		{name: "memlock: in a container", change: change{"proc/self/limits": fmt.Sprintf(limits, "1024", "65536"), "proc/1/environ": "HOME=/\x00container=lxc\x00"}, want: `
error: 64 KiB of memory may be locked`},
		{name: "memlock: hidden", change: change{"proc/self/limits": gone}, want: `
unknown: open /proc/self/limits: no such file or directory`},
		{name: "memlock: odd", change: change{"proc/self/limits": "Max locked memory  much  more  bytes"}, want: `
unknown: read /proc/self/limits: strconv.ParseUint: parsing "much": invalid syntax
strconv.ParseUint: parsing "more": invalid syntax`},

		{name: "nofile"},
		{name: "nofile: few, of the process that started it", change: change{"proc/41/limits": fmt.Sprintf(limits, "256", "unlimited")}, want: `
warning: 256 files may be open
$ prlimit --pid $$ --nofile=65536:65536
# echo '* - nofile 65536' >>/etc/security/limits.d/rdma.conf`},

		{name: "cgroup"},
		{name: "cgroup: limit of the one above", change: change{
			"sys/fs/cgroup/user.slice/rdma.max":               "mlx5_0 hca_handle=2 hca_object=max\nmlx5_1 hca_handle=max hca_object=max",
			"sys/fs/cgroup/user.slice/session.scope/rdma.max": "mlx5_0 hca_handle=max hca_object=max",
		}, want: `
note mlx5_0: hca_handle is limited to 2
$ echo 'mlx5_0 hca_handle=max' >/sys/fs/cgroup/user.slice/rdma.max`},
		{name: "cgroup: limit that is reached, version 1", change: change{
			"proc/self/cgroup":                      "12:cpu:/x\n11:rdma:/job 1/../job 1\n",
			"sys/fs/cgroup/rdma/job 1/rdma.max":     "mlx5_0 hca_handle=max hca_object=2000",
			"sys/fs/cgroup/rdma/job 1/rdma.current": "mlx5_0 hca_handle=1 hca_object=2000",
		}, want: `
error mlx5_0: hca_object is limited to 2000, 2000 are in use
$ echo 'mlx5_0 hca_object=max' >'/sys/fs/cgroup/rdma/job 1/rdma.max'`},

		{name: "ports"},
		{name: "ports: no cable", change: change{port0 + "state": "1: DOWN", port0 + "phys_state": "2: Polling"}, want: `
warning mlx5_0/1: Down/Polling`},
		{name: "ports: no cable at all", change: change{
			port0 + "state": "1: DOWN", port0 + "phys_state": "2: Polling", port1 + "state": "1: DOWN", port1 + "phys_state": "2: Polling",
		}, want: `
error mlx5_0/1: Down/Polling
error mlx5_1/1: Down/Polling`},
		{name: "ports: no subnet manager", change: change{port0 + "state": "2: INIT"}, want: `
error mlx5_0/1: Initialize/LinkUp`},
		{name: "ports: switched off", change: change{port0 + "state": "1: DOWN", port0 + "phys_state": "3: Disabled"}, want: `
error mlx5_0/1: Down/Disabled
$ ibportstate -C mlx5_0 -P 1 -D 0 1 enable`},
		{name: "ports: network device is down", change: change{
			port1 + "state": "1: DOWN", port1 + "phys_state": "3: Disabled", "sys/class/net/eth1/flags": "0x1002",
		}, want: `
error mlx5_1/1: Down/Disabled, eth1 is down
$ ip link set eth1 up`},
		{name: "ports: the kernel does not tell", change: change{port0 + "state": gone}, want: `
unknown mlx5_0/1: the kernel does not tell its state`},

		{name: "sm", want: `
unknown mlx5_0/1: only a running kernel can ask`},
		{name: "sm: none", change: change{port0 + "sm_lid": "0x0"}, want: `
error mlx5_0/1: no subnet manager has configured the port`},
		{name: "sm: none, and one at hand", change: change{port0 + "sm_lid": "0x0", "usr/sbin/opensm": ""}, want: `
error mlx5_0/1: no subnet manager has configured the port
$ opensm -B`},
		{name: "sm: none, and a service at hand", change: change{port0 + "sm_lid": "0x0", "usr/sbin/opensm": "", "run/systemd/system/x": ""}, want: `
error mlx5_0/1: no subnet manager has configured the port
$ systemctl restart opensm
# systemctl enable opensm`},
		{name: "sm: no link", change: change{port0 + "phys_state": "2: Polling"}},

		{name: "links", want: `
unknown mlx5_0/1: only a running kernel can ask`},

		{name: "pkeys"},
		{name: "pkeys: limited", change: change{port0 + "pkeys/1": "0x0001"}, want: `
note mlx5_0/1: limited member of 0x7fff 0x0001, and full member of no partition`},

		{name: "names"},
		{name: "names: another", change: change{"sys/class/infiniband/mlx5_0/node_desc": "MT4123 ConnectX6   Mellanox Technologies"}, want: `
note mlx5_0: is called "MT4123 ConnectX6   Mellanox Technologies", which does not name this host (node1)
$ echo 'node1 mlx5_0' >/sys/class/infiniband/mlx5_0/node_desc
# systemctl enable --now rdma-ndd`},

		{name: "names: of nobody", change: change{"proc/sys/kernel/hostname": "(none)"}},

		{name: "gids"},
		{name: "gids: version 1 only", change: change{port1 + "gid_attrs/types/3": "IB/RoCE v1"}, want: `
warning mlx5_1/1: no GID of RoCE v2 over IPv4
$ ip address add ADDRESS/PREFIX dev eth1`},
		{name: "gids: IPv6 only", change: change{port1 + "gids/3": "2001:0db8:0000:0000:0000:0000:0000:0007"}, want: `
note mlx5_1/1: no GID of RoCE v2 over IPv4, only over IPv6: index 3, 2001:db8::7
$ ip address add ADDRESS/PREFIX dev eth1`},
		{name: "gids: IPv6 link-local only", change: change{port1 + "gids/3": "fe80:0000:0000:0000:0000:0000:0000:0007"}, want: `
warning mlx5_1/1: no GID of RoCE v2 over IPv4
$ ip address add ADDRESS/PREFIX dev eth1`},
		{name: "gids: none", change: change{port1 + "gids": gone}, want: `
error mlx5_1/1: no GID at all`},

		{name: "routes"},
		{name: "routes: none", change: change{"proc/net/route": "Iface"}, want: `
warning mlx5_1/1: no route by eth1 to the network of 10.0.0.2
$ ip route add SUBNET/PREFIX dev eth1 src 10.0.0.2`},
		{name: "routes: hidden", change: change{"proc/net/route": gone}, want: `
unknown: open /proc/net/route: no such file or directory`},
		{name: "routes: two of one subnet", change: twoRails, want: `
warning eth1 eth2: share 10.0.0.0/24, and each answers ARP for the other
$ sysctl -w net.ipv4.conf.all.arp_announce=2
# echo 'net.ipv4.conf.all.arp_announce = 2' >>/etc/sysctl.d/60-rdma.conf`},

		{name: "mtu", want: `
unknown mlx5_0/1: the device could not be asked
unknown mlx5_1/1: the device could not be asked`},

		{name: "pcie"},
		{name: "pcie: narrow", change: change{pci + "current_link_width": "8"}, want: `
warning mlx5_0: PCIe link at 0000:10:00.0 runs at x8 instead of x16`},
		{name: "pcie: virtual function", change: change{pci + "current_link_width": "0", pci + "current_link_speed": "Unknown"}},
		{name: "pcie: the kernel does not tell", change: change{pci + "current_link_speed": gone}, want: `
unknown mlx5_0: the kernel does not tell of the link at 0000:10:00.0`},

		{name: "iommu"},
		{name: "iommu: mapped", change: change{pci + "iommu_group/type": "DMA-FQ", "usr/sbin/update-grub": ""}, want: `
note mlx5_0: mapped by the IOMMU (DMA-FQ)
$ sed -i 's/^GRUB_CMDLINE_LINUX="/&iommu=pt /' /etc/default/grub
$ update-grub`},
		{name: "iommu: mapped and flushed", change: change{pci + "iommu_group/type": "DMA", "usr/sbin/grubby": ""}, want: `
warning mlx5_0: mapped by the IOMMU (DMA)
$ grubby --update-kernel=ALL --args='iommu=pt'`},
		{name: "iommu: none", change: change{pci + "iommu_group": gone}},

		{name: "numa"},
		{name: "numa: not told", change: change{pci + "numa_node": "-1"}, want: `
note mlx5_0: the firmware does not tell which of 2 NUMA nodes it is at`},
		{name: "numa: far away", change: change{"proc/self/status": strings.Replace(status, "0-31", "16-31", 1)}, want: `
note mlx5_0: node 0 of 2, CPUs 0-15, of which this shell may use none (only 16-31)
$ taskset -pc 0-15 $$
note mlx5_1: node 0 of 2, CPUs 0-15, of which this shell may use none (only 16-31)
$ taskset -pc 0-15 $$`},
		{name: "numa: balancing", change: change{"proc/sys/kernel/numa_balancing": "1"}, want: `
note numa_balancing: on: the kernel moves memory between NUMA nodes
$ sysctl -w kernel.numa_balancing=0
# echo 'kernel.numa_balancing = 0' >>/etc/sysctl.d/60-rdma.conf`},

		{name: "governor"},
		{name: "governor: slow", change: change{"sys/devices/system/cpu/cpufreq/policy1/scaling_governor": "schedutil"}, want: `
warning schedutil: 1 of the CPUs' frequencies are chosen so
$ for f in /sys/devices/system/cpu/cpufreq/policy*/scaling_governor; do echo performance >$f; done`},
		{name: "governor: the processor's own", change: change{
			"sys/devices/system/cpu/cpufreq/policy1/scaling_governor":              "powersave",
			"sys/devices/system/cpu/cpufreq/policy1/energy_performance_preference": "performance",
		}},
		{name: "governor: none", change: change{"sys/devices/system/cpu/cpufreq": gone}},

		{name: "clock"},
		{name: "clock: slow", change: change{"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"}, want: `
warning: hpet
$ echo tsc >/sys/devices/system/clocksource/clocksource0/current_clocksource`},
		{name: "clock: slow, and nothing better", change: change{
			"sys/devices/system/clocksource/clocksource0/current_clocksource":   "acpi_pm",
			"sys/devices/system/clocksource/clocksource0/available_clocksource": "acpi_pm",
		}, want: `
warning: acpi_pm`},

		{name: "hugepages"},
		{name: "hugepages: none", change: change{"proc/meminfo": "MemTotal: 131072000 kB\nHugePages_Total: 0\nHugePages_Free: 0\nHugepagesize: 2048 kB"}, want: `
note: none are reserved
$ sysctl -w vm.nr_hugepages=512
# echo 'vm.nr_hugepages = 512' >>/etc/sysctl.d/60-rdma.conf`},
		{name: "hugepages: none free", change: change{"proc/meminfo": "MemTotal: 1024000 kB\nHugePages_Total: 8\nHugePages_Free: 0\nHugepagesize: 2048 kB"}, want: `
note: 8 of 2 MiB, 0 of them free
$ sysctl -w vm.nr_hugepages=70
# echo 'vm.nr_hugepages = 70' >>/etc/sysctl.d/60-rdma.conf`},
		{name: "hugepages: of a gigabyte", change: change{"proc/meminfo": "MemTotal: 131072000 kB\nHugePages_Total: 0\nHugePages_Free: 0\nHugepagesize: 1048576 kB"}, want: `
note: none are reserved
$ sysctl -w vm.nr_hugepages=1
# echo 'vm.nr_hugepages = 1' >>/etc/sysctl.d/60-rdma.conf`},
		{name: "hugepages: not in this kernel", change: change{"proc/meminfo": "MemTotal: 1 kB"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			check, _, _ := strings.Cut(test.name, ":")
			wreck(t, root, test.change)
			got := strings.TrimSpace(examine(t, root, check))
			if want := strings.TrimSpace(test.want); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// twoRails has a second card in the subnet of the first.
var twoRails = func() change {
	c := change{}
	card(c, "mlx5_2", 2, "Ethernet")
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

func TestOnlyAndSkip(t *testing.T) {
	checks := func(o Options) string {
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
	if got, want := checks(Options{}), strings.Join(Names(), " "); got != want {
		t.Errorf("all: %s, want %s", got, want)
	}
	if got := checks(Options{Only: []string{"clock", "nodes", "modules"}, Skip: []string{"nodes"}}); got != "modules clock" {
		t.Errorf("some: %s", got)
	}
	for _, o := range []Options{{Only: []string{"nosuch"}}, {Skip: []string{"nosuch"}}} {
		var unknown UnknownCheckError
		if _, err := Run(t.Context(), o); !errors.As(err, &unknown) || unknown != "nosuch" {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{"eth0": "eth0", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'", "10.0.0.1/24": "10.0.0.1/24"} {
		if got := quote(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestOverlap(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{{"0-3", "3-8", true}, {"0-3", "4-8", false}, {"0-3,9", "4-8,9", true}, {"1", "1", true}, {"7", "0-6,8", false}, {"", "1", true}} {
		if got := overlap(test.a, test.b); got != test.want {
			t.Errorf("%s, %s: %v", test.a, test.b, got)
		}
	}
}
