package doctor

import "context"

func checkPCIe(_ context.Context, h *host) []Item {
	var items []Item
	for _, d := range h.devices.Devices {
		if d.PCI == nil {
			continue
		}
		if f := h.finding("pcie-slow", d.Name, 0); f != nil {
			items = append(items, Item{
				Subject: d.Name, Verdict: Warning, Found: f.Text,
				Why:    "a port is no faster than its slot: 4.0 x16 carries 250 Gbit/s, 5.0 x16 500",
				Advice: f.Hint + " A card of two slots' worth shares them; one not pushed in shows fewer lanes",
			})
			continue
		}
		if d.PCI.Width == nil || d.PCI.Speed == nil {
			items = append(items, Item{Subject: d.Name, Verdict: Unknown, Found: "the kernel does not tell of the link at " + d.PCI.Address})
			continue
		}
		if *d.PCI.Width == 0 {
			items = append(items, good(d.Name, "the slot does not tell, as that of a virtual function"))
			continue
		}
		items = append(items, good(d.Name, "x%d at %s", *d.PCI.Width, *d.PCI.Speed))
	}
	if items == nil {
		return nothing("no RDMA device is one of PCI")
	}
	return items
}
