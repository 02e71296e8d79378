package doctor

import (
	"context"

	"github.com/ibkit/ibkit/report"
)

func checkPCIe(_ context.Context, h *host) []Item {
	var items []Item
	for _, d := range h.devices.Devices {
		if d.PCI == nil {
			continue
		}
		if f := h.finding(report.PCIeSlow, d.Name); f != nil {
			items = append(items, Item{
				Subject: d.Name, Verdict: Warning, Found: f.Detail,
				Why:  "the slot limits the speed of the port: 250 Gbit/s at PCIe 4.0 x16, 500 Gbit/s at 5.0 x16",
				Hint: f.Hint + "; two devices in a slot share its lanes",
			})
			continue
		}
		if d.PCI.Width == nil || d.PCI.Speed == nil {
			items = append(items, Item{Subject: d.Name, Verdict: Unknown, Found: "the kernel does not report the PCIe link at " + d.PCI.Address})
			continue
		}
		if *d.PCI.Width == 0 {
			items = append(items, good(d.Name, "no PCIe link of its own (virtual function)"))
			continue
		}
		items = append(items, good(d.Name, "x%d at %s", *d.PCI.Width, *d.PCI.Speed))
	}
	if items == nil {
		return skipped(noPCI)
	}
	return items
}
