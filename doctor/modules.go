package doctor

import (
	"context"
	"fmt"
	"path"
	"strings"
)

// A kernelPart is a module that RDMA needs, and how one sees that it is there
// where it is built into the kernel: such a one is no file of /sys/module.
type kernelPart struct {
	name     string
	evidence string // below sys/class
	verdict  Verdict
	why      string
}

var kernelParts = []kernelPart{
	{"ib_core", "infiniband", Error, "nothing of RDMA works without it"},
	{"ib_uverbs", "infiniband_verbs", Error, "programs reach devices by it: no verbs, no MPI, no NCCL"},
	{"ib_umad", "infiniband_mad", Error, "management datagrams go by it: no ping, no linkinfo, no subnet manager on this host"},
	{"rdma_cm", "misc/rdma_cm", Warning, "connections by IP address need it: NVMe over RDMA, rping, perftest -R"},
	{"rdma_ucm", "misc/rdma_cm", Warning, "programs make connections by IP address by it: rping, perftest -R, UCX"},
}

// partners are the drivers of the RDMA side of cards, by the driver of the network
// side (Kconfig of drivers/infiniband/hw).
var partners = map[string]string{
	"mlx4_core": "mlx4_ib",
	"mlx5_core": "mlx5_ib",
	"bnxt_en":   "bnxt_re",
	"cxgb4":     "iw_cxgb4",
	"hns3":      "hns_roce_hw_v2",
	"i40e":      "irdma",
	"ice":       "irdma",
	"mana":      "mana_ib",
	"qede":      "qedr",
}

// onlyRDMA are the drivers of cards whose owners have them for RDMA's sake.
var onlyRDMA = map[string]bool{"mlx4_core": true, "mlx5_core": true}

// mellanox is the PCI vendor whose network cards all do RDMA.
const mellanox = "0x15b3"

// networkClass begins the PCI class of network cards, InfiniBand's included.
const networkClass = "0x02"

func checkModules(_ context.Context, h *host) []Item {
	var items []Item
	for _, p := range kernelParts {
		switch {
		case h.exists("sys/module/" + p.name):
			items = append(items, good(p.name, "loaded"))
		case h.exists("sys/class/" + p.evidence):
			items = append(items, good(p.name, "built into the kernel"))
		default:
			items = append(items, h.missingModule(p.name, p.verdict, p.why))
		}
	}
	if h.exists("sys/module/nvidia") {
		items = append(items, h.gpuMemory())
	}
	return append(items, h.cards()...)
}

// gpuMemory looks for what gives RDMA devices the memory of NVIDIA's GPUs.
func (h *host) gpuMemory() Item {
	for _, name := range []string{"nvidia_peermem", "nv_peer_mem"} {
		if h.exists("sys/module/" + name) {
			return good(name, "loaded")
		}
	}
	i := h.missingModule("nvidia_peermem", Note, "GPUDirect RDMA goes by it, but for programs that use dma-buf")
	i.Found = "not loaded"
	return i
}

func (h *host) missingModule(name string, v Verdict, why string) Item {
	i := Item{Subject: name, Verdict: v, Found: "not loaded", Why: why}
	switch {
	case h.isContainer():
		i.Advice = fmt.Sprintf("on the host, not in the container: modprobe %s", name)
	case h.lacksModule(name):
		i.Found = "not loaded, and not among this kernel's modules"
		i.Advice = "install it: on Ubuntu linux-modules-extra of this kernel, on RHEL kernel-modules-extra, or a kernel with RDMA"
	default:
		i.Mend = []string{"modprobe " + name}
		i.Keep = []string{fmt.Sprintf("echo %s >>/etc/modules-load.d/rdma.conf", name)}
	}
	return i
}

// lacksModule tells whether the modules of the kernel are installed, and a module is
// not among them.
func (h *host) lacksModule(name string) bool {
	release, err := h.text("proc/sys/kernel/osrelease")
	if err != nil {
		return false
	}
	text, err := h.text(path.Join("lib/modules", release, "modules.dep"))
	return err == nil && text != "" && !strings.Contains(text, "/"+name+".ko")
}

// cards looks for cards that can do RDMA and are no RDMA device.
func (h *host) cards() []Item {
	const dir = "sys/bus/pci/devices"
	// With devices that belong to one network namespace, those of others are
	// not seen.
	if mode, err := h.text(netnsMode); err == nil && mode == "N" {
		return nil
	}
	var items []Item
	for _, address := range h.names(dir) {
		card := path.Join(dir, address)
		class, _ := h.text(card + "/class")
		if !strings.HasPrefix(class, networkClass) {
			continue
		}
		driver := h.link(card + "/driver")
		vendor, _ := h.text(card + "/vendor")
		module := partners[driver]
		found := h.names(card + "/infiniband")
		switch {
		case len(found) > 0 && module != "":
			items = append(items, good(address, "%s, %s", driver, strings.Join(found, " ")))
		case len(found) > 0:
			items = append(items, good(address, "%s", strings.Join(found, " ")))
		case driver == "" && vendor == mellanox:
			i := h.missingModule("mlx5_core", Error, "the card is there, and nothing uses it")
			i.Subject, i.Found = address, "a card of NVIDIA's without a driver"
			items = append(items, i)
		case module != "" && !h.exists("sys/module/"+module):
			i := h.missingModule(module, Note, "the card's driver is there, that of its RDMA side is not")
			if onlyRDMA[driver] {
				i.Verdict = Error
			}
			i.Subject, i.Found = address, fmt.Sprintf("%s without %s: a network card, and no RDMA device", driver, module)
			items = append(items, i)
		case module != "":
			items = append(items, Item{
				Subject: address, Verdict: Note, Found: fmt.Sprintf("%s and %s are loaded, and there is no RDMA device", driver, module),
				Why:    "the card does no RDMA, or is told not to",
				Advice: fmt.Sprintf("dmesg | grep %s says why; devlink dev param show pci/%s shows whether RDMA is enabled", address, address),
			})
		}
	}
	return items
}
