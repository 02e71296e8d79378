package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// noPCI is the reason to skip a PCI device check.
const noPCI = "no RDMA device on PCI"

// checkIOMMU checks the address translation type that the kernel uses for each device
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
			items = append(items, good(d.Name, "no IOMMU"))
		case err != nil:
			items = append(items, unreadable(d.Name, err))
		case kind == "identity":
			items = append(items, good(d.Name, "passthrough"))
		default:
			i := Item{
				Subject: d.Name, Verdict: Note, Found: fmt.Sprintf("the IOMMU translates addresses (%s)", kind),
				Why:  "memory registration takes longer, and transfers over large memory areas are slower",
				Fix:  h.bootParameter("iommu=pt"),
				Hint: "reboot to apply the change",
			}
			if i.Fix == nil {
				i.Hint = "add iommu=pt to the kernel command line, then reboot"
			}
			if kind == "DMA" { // strict mode: each unmap flushes the IOTLB
				i.Verdict = Warning
			}
			items = append(items, i)
		}
	}
	if items == nil {
		return skipped(noPCI)
	}
	return items
}
