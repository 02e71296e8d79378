package doctor

import (
	"context"
	"strings"

	"github.com/ibkit/ibkit/internal/tool/gpu"
	"github.com/ibkit/ibkit/report"
)

// gpuWhy are the effects of findings about GPUs.
var gpuWhy = map[report.Kind]string{
	report.GPUDistance: "transfers between GPU memory and the adapter pass the CPU, at a part of the speed",
	report.ACSRedirect: "transfers between GPU memory and the adapter take the way through the CPU, at a part of the speed",
	report.SmallBAR:    "GPUDirect reaches a part of the GPU memory only, or is not available",
	report.PCIeSlow:    "the link limits transfers between GPU memory and the adapter",
}

// checkGPUs checks the PCI Express paths between GPUs and adapters.
func checkGPUs(_ context.Context, h *host) []Item {
	t := gpu.Read(string(h.sysfs()), h.devices.Devices)
	switch {
	case len(t.GPUs) == 0:
		return skipped("no GPU")
	case len(t.Adapters) == 0:
		return skipped(noPCI)
	}
	var items []Item
	bad := map[string]bool{}
	for _, f := range t.Findings {
		if f.Kind == report.PCIeSlow && h.finding(f.Kind, f.Subject) != nil {
			continue // the check pcie shows it
		}
		bad[f.Subject] = true
		items = append(items, Item{Subject: f.Subject, Verdict: verdictOf(f.Severity), Found: f.Detail, Why: gpuWhy[f.Kind], Hint: f.Hint, Kind: f.Kind})
	}
	for _, g := range t.GPUs {
		if !bad[g.Name] {
			items = append(items, good(g.Name, "%s to %s", g.Distances[g.Nearest[0]], strings.Join(g.Nearest, ", ")))
		}
	}
	for _, p := range t.Problems {
		items = append(items, unreadable("", p.Err))
	}
	if t.Restricted {
		items = append(items, Item{
			Verdict: Unknown, Found: "access control (ACS) of PCIe bridges is readable for root only",
			Why: "ACS may send transfers between GPU memory and adapters through the CPU", Hint: "run ibkit doctor --only gpus as root",
		})
	}
	return items
}
