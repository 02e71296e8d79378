package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// checkIOMMU looks at the kind of mapping that the kernel uses for a device
// (Documentation/ABI/testing/sysfs-kernel-iommu_groups).
func checkIOMMU(_ context.Context, h *host) []Item {
	var items []Item
	for _, d := range h.devices.Devices {
		if d.PCI == nil {
			continue
		}
		kind, err := h.text("sys/class/infiniband/" + d.Name + "/device/iommu_group/type")
		switch {
		case errors.Is(err, fs.ErrNotExist):
			items = append(items, good(d.Name, "no IOMMU before it"))
		case err != nil:
			items = append(items, unread(d.Name, err))
		case kind == "identity":
			items = append(items, good(d.Name, "passed through"))
		default:
			i := Item{
				Subject: d.Name, Verdict: Note, Found: fmt.Sprintf("mapped by the IOMMU (%s)", kind),
				Why:    "each registration is mapped, and each access looked up: registering takes longer, and transfers over much memory are slower",
				Mend:   h.bootParameter("iommu=pt"),
				Advice: "the kernel needs iommu=pt on its command line, and a restart",
			}
			if kind == "DMA" { // each mapping that goes is flushed at once
				i.Verdict = Warning
			}
			items = append(items, i)
		}
	}
	if items == nil {
		return nothing("no RDMA device is one of PCI")
	}
	return items
}
