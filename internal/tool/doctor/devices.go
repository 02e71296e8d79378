package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/report"
)

const (
	noDevice    = "no RDMA device"
	whyNoDevice = "programs have no device to use"
)

func checkDevices(_ context.Context, h *host) []Item {
	var items []Item
	if len(h.devices.Devices) == 0 {
		i := Item{
			Verdict: Error, Found: noDevice, Why: whyNoDevice,
			Hint: "fix missing modules first",
		}
		if h.isContainer() {
			i.Hint = "the container may be in a network namespace without devices; on the host: rdma system show, rdma dev set DEVICE netns NAME"
		} else if netdev := h.someNetdev(); netdev != "" {
			i.Fix = []string{fmt.Sprintf("ibkit link add rxe0 --type rxe --netdev %s --yes", textfile.ShellWord(netdev))}
			i.Hint += "; the command creates a Soft-RoCE device on an Ethernet port, which is enough for tests"
		}
		items = append(items, i)
	}
	known := map[string]bool{} // problems that checkNodes reports
	for _, d := range h.devices.Devices {
		if d.OpenError != nil {
			known[d.OpenError.Error()] = true
		}
		driver, model, firmware := "unknown driver", "", ""
		if d.DriverID != nil {
			driver = *d.DriverID
		}
		if d.Driver != nil {
			driver = *d.Driver
		}
		if d.Model != nil {
			model = ", " + *d.Model
		}
		if d.Firmware != nil && *d.Firmware != "" {
			firmware = ", firmware " + *d.Firmware
		}
		bad := h.zeroGUIDs(d)
		if f := h.finding(report.FirmwareDiffers, d.Name); f != nil {
			bad = append(bad, Item{
				Kind: f.Kind, Subject: d.Name, Verdict: Note, Found: f.Detail,
				Why: "adapters with the same model and different firmware may differ in speed and in bugs", Hint: f.Hint,
			})
		}
		bad = append(bad, iwarpMode(d)...)
		if bad == nil {
			bad = []Item{good(d.Name, "%s%s%s%s", driver, model, firmware, dmaBufAbility(d))}
		}
		items = append(items, bad...)
	}
	for _, p := range h.devices.Problems {
		if !known[p.Error()] {
			items = append(items, Item{Subject: p.Device, Verdict: Unknown, Found: p.Error(), Hint: p.Advice})
		}
	}
	return items
}

// iwarpMode returns an item for an adapter that has RoCE too, but runs iWARP: the driver ice
// has a setting for the driver irdma (Documentation/networking/devlink/ice.rst), Intel's own
// driver irdma a parameter.
func iwarpMode(d *devinfo.Device) []Item {
	if d.NodeType == nil || *d.NodeType != devinfo.NodeTypes[4] || d.Driver == nil || *d.Driver != "ice" || d.PCI == nil {
		return nil
	}
	i := Item{
		Kind: report.IWARPMode, Subject: d.Name, Verdict: Note, Found: "iWARP, although the adapter has RoCE", Why: "peers on RoCE cannot connect",
		Fix:  []string{fmt.Sprintf("devlink dev param set pci/%s name enable_roce value true cmode runtime", d.PCI.Address)},
		Hint: "disable enable_iwarp first",
	}
	if _, own := d.Parameters["roce_ena"]; own {
		i.Fix, i.Hint = []string{"modprobe -r irdma", "modprobe irdma roce_ena=1"}, "all connections end"
		i.Persist = []string{"echo 'options irdma roce_ena=1' >/etc/modprobe.d/irdma.conf"}
	}
	return []Item{i}
}

// dmaBufAbility returns the device's ability to register dma-bufs; "" if it is unknown.
func dmaBufAbility(d *devinfo.Device) string {
	switch {
	case d.Extended == nil || d.Extended.DMABuf == nil:
		return ""
	case *d.Extended.DMABuf:
		return ", dma-buf"
	}
	return ", no dma-buf"
}

// zeroGUIDs returns an item for each GUID of a device and of its ports that is 0.
func (h *host) zeroGUIDs(d *devinfo.Device) []Item {
	var items []Item
	for _, f := range h.devices.Findings {
		if name, _, _ := strings.Cut(f.Subject, "/"); f.Kind == report.ZeroGUID && name == d.Name {
			items = append(items, Item{
				Kind: f.Kind, Subject: f.Subject, Verdict: verdictOf(f.Severity), Found: f.Detail, Hint: f.Hint,
				Why: "subnet managers and rdma_cm tell devices apart by GUID",
			})
		}
	}
	return items
}

// someNetdev returns the name of a network device that is up and backed by
// hardware; "" if there is no such device.
func (h *host) someNetdev() string {
	for _, name := range h.names("sys/class/net") {
		if state, err := h.text("sys/class/net/" + name + "/operstate"); err == nil && state == "up" && h.exists("sys/class/net/"+name+"/device") {
			return name
		}
	}
	return ""
}
