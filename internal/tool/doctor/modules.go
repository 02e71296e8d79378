package doctor

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/report"
)

// A kernelPart is a kernel module that RDMA needs. A module that is built into the
// kernel may have no directory in /sys/module, so evidence names a file that exists
// whenever the module is present.
type kernelPart struct {
	name     string
	evidence string // below sys/class
	verdict  Verdict
	why      string
	serves   func(*devinfo.Device) bool // nil: all devices
}

const (
	whyUverbs  = "programs use devices through it: no verbs, no MPI, no NCCL"
	whyUmad    = "management datagrams need it: no ping, no linkinfo, no subnet manager on this host"
	whyRDMAUCM = "programs connect by IP address through it: rping, perftest -R, UCX"
)

var kernelParts = []kernelPart{
	{"ib_core", "infiniband", Error, "RDMA does not work without it", nil},
	{"ib_uverbs", "infiniband_verbs", Error, whyUverbs, nil},
	{"ib_umad", "infiniband_mad", Error, whyUmad, (*devinfo.Device).HasMADs},
	{"rdma_cm", "misc/rdma_cm", Warning, "connections by IP address need it: NVMe over RDMA, rping, perftest -R", hasCM},
	{"rdma_ucm", "misc/rdma_cm", Warning, whyRDMAUCM, hasCM},
}

// hasCM reports whether rdma_cm connects with the device.
func hasCM(d *devinfo.Device) bool { return !d.IsEFA() }

// rdmaDrivers maps an adapter's network driver to its RDMA driver (Kconfig in
// drivers/infiniband/hw).
var rdmaDrivers = map[string]string{
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

// onlyRDMA contains the drivers for adapters that are usually bought for RDMA.
var onlyRDMA = map[string]bool{"mlx4_core": true, "mlx5_core": true}

// enableRoCE are the settings that enable RoCE, by network driver; %s is the PCI address
// (Documentation/networking/devlink: bnxt.rst, ice.rst, mlx5.rst; niccli of Broadcom).
var enableRoCE = map[string]string{
	"bnxt_en":   "devlink dev param set pci/%s name enable_roce value true cmode permanent, or niccli nvm -setoption support_rdma -value 1 -scope 0; then restart the host",
	"ice":       "devlink dev param set pci/%s name enable_roce value true cmode runtime",
	"mlx5_core": "devlink dev param set pci/%[1]s name enable_roce value true cmode driverinit; devlink dev reload pci/%[1]s",
}

// unbound are the adapters with RDMA support in all models, by PCI vendor and the begin of
// the device ID.
var unbound = []struct{ vendor, device, module, name string }{
	{"0x15b3", "", "mlx5_core", "NVIDIA adapter"},
	{"0x1d0f", "0xefa", "efa", "Elastic Fabric Adapter"},
}

// networkClass is the PCI class prefix for network and InfiniBand adapters.
const networkClass = "0x02"

func checkModules(_ context.Context, h *host) []Item {
	var items []Item
	for _, p := range kernelParts {
		switch {
		case !h.uses(p.serves):
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
	return append(items, h.adapters()...)
}

// uses reports whether the host has a device that a kernel module serves, or no device at all.
func (h *host) uses(serves func(*devinfo.Device) bool) bool {
	return serves == nil || len(h.devices.Devices) == 0 || slices.ContainsFunc(h.devices.Devices, serves)
}

// gpuMemory checks for a module that gives RDMA devices access to NVIDIA GPU memory.
func (h *host) gpuMemory() Item {
	for _, name := range []string{"nvidia_peermem", "nv_peer_mem"} {
		if h.exists("sys/module/" + name) {
			return good(name, "loaded")
		}
	}
	i := h.missingModule("nvidia_peermem", Note, "GPUDirect RDMA needs it, except in programs that use dma-buf")
	i.Found = "not loaded"
	var without []string
	for _, d := range h.devices.Devices {
		if d.Extended != nil && d.Extended.DMABuf != nil && !*d.Extended.DMABuf {
			without = append(without, d.Name)
		}
	}
	if len(without) > 0 {
		i.Verdict, i.Why = Warning, "GPUDirect RDMA needs it or dma-buf, which these devices lack: "+strings.Join(without, ", ")
	}
	return i
}

func (h *host) missingModule(name string, v Verdict, why string) Item {
	i := Item{Subject: name, Verdict: v, Found: "not loaded", Why: why}
	switch {
	case h.isContainer():
		i.Hint = fmt.Sprintf("run this on the host, not in the container: modprobe %s", name)
	case h.lacksModule(name):
		i.Found = "not loaded, and not installed for this kernel"
		i.Hint = "install linux-modules-extra (Ubuntu) or kernel-modules-extra (RHEL) for this kernel, or a kernel with RDMA support"
	default:
		i.Fix = []string{"modprobe " + name}
		i.Persist = []string{fmt.Sprintf("echo %s >>/etc/modules-load.d/rdma.conf", name)}
	}
	return i
}

// lacksModule reports whether the module is missing although the kernel's modules are
// installed.
func (h *host) lacksModule(name string) bool {
	release, err := h.text("proc/sys/kernel/osrelease")
	if err != nil {
		return false
	}
	text, err := h.text(path.Join("lib/modules", release, "modules.dep"))
	return err == nil && text != "" && !strings.Contains(text, "/"+name+".ko")
}

// adapters checks that each installed adapter with RDMA support has an RDMA device.
func (h *host) adapters() []Item {
	const dir = "sys/bus/pci/devices"
	// In exclusive mode, devices in other network namespaces are hidden.
	if mode, err := h.text(netnsMode); err == nil && mode == "N" {
		return nil
	}
	var items []Item
	for _, address := range h.names(dir) {
		adapter := path.Join(dir, address)
		class, _ := h.text(adapter + "/class")
		if !strings.HasPrefix(class, networkClass) {
			continue
		}
		driver := h.link(adapter + "/driver")
		module := rdmaDrivers[driver]
		found := h.names(adapter + "/infiniband")
		switch {
		case len(found) > 0 && module != "":
			items = append(items, good(address, "%s, %s", driver, strings.Join(found, " ")))
		case len(found) > 0:
			items = append(items, good(address, "%s", strings.Join(found, " ")))
		case driver == "":
			items = append(items, h.withoutDriver(address, adapter)...)
		case module != "" && !h.exists("sys/module/"+module):
			i := h.missingModule(module, Note, "the network driver of the adapter is loaded, its RDMA driver is not")
			if onlyRDMA[driver] {
				i.Verdict = Error
			}
			i.Subject, i.Found = address, fmt.Sprintf("no RDMA device: %s is loaded, %s is not", driver, module)
			items = append(items, i)
		case module != "":
			i := Item{
				Kind: report.RDMADisabled, Subject: address, Verdict: Note, Found: fmt.Sprintf("no RDMA device, although %s and %s are loaded", driver, module),
				Why:  "the adapter does not support RDMA, or RDMA is disabled",
				Hint: fmt.Sprintf("find the reason with: dmesg | grep %s; devlink dev param show pci/%s", address, address),
			}
			if command := enableRoCE[driver]; command != "" {
				i.Hint += "; to enable RoCE: " + fmt.Sprintf(command, address)
			}
			items = append(items, i)
		}
	}
	return items
}

// withoutDriver returns an item for an adapter without a driver that has RDMA in all models.
func (h *host) withoutDriver(address, dir string) []Item {
	vendor, _ := h.text(dir + "/vendor")
	device, _ := h.text(dir + "/device")
	for _, u := range unbound {
		if vendor == u.vendor && strings.HasPrefix(device, u.device) {
			i := h.missingModule(u.module, Error, "the adapter cannot be used")
			i.Subject, i.Found = address, u.name+" without a driver"
			return []Item{i}
		}
	}
	return nil
}
