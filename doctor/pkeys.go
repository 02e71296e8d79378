package doctor

import (
	"context"
	"fmt"
	"strings"
)

// fullMember is the bit of a P_Key that says so (InfiniBand Architecture, Volume 1,
// 10.9.1).
const fullMember = 1 << 15

func checkPKeys(_ context.Context, h *host) []Item {
	var items []Item
	for d, p := range h.ports() {
		if p.Ethernet() || !p.Active() || len(p.PKeys) == 0 {
			continue
		}
		var full, limited []string
		for _, k := range p.PKeys {
			if k.Key&fullMember != 0 {
				full = append(full, fmt.Sprintf("0x%04x", k.Key))
			} else {
				limited = append(limited, fmt.Sprintf("0x%04x", k.Key))
			}
		}
		if full != nil {
			items = append(items, good(portName(d, p), "full member of %s", strings.Join(full, " ")))
			continue
		}
		items = append(items, Item{
			Subject: portName(d, p), Verdict: Note, Found: "limited member of " + strings.Join(limited, " ") + ", and full member of no partition",
			Why:    "limited members reach full members only, such as file servers, and not each other: a job of MPI does not start",
			Advice: "the subnet manager says who is what: opensm's partitions.conf",
		})
	}
	if items == nil {
		return nothing("no InfiniBand port is active")
	}
	return items
}
