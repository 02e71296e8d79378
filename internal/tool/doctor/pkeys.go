package doctor

import (
	"context"
	"fmt"
	"strings"
)

// fullMember is the membership bit in a P_Key (InfiniBand Architecture, Volume 1, 10.9.1).
const fullMember = 1 << 15

func checkPKeys(_ context.Context, h *host) []Item {
	var items []Item
	for d, p := range h.ports() {
		if !isInfiniBand(d, p) || !p.Active() || len(p.PKeys) == 0 {
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
			Subject: portName(d, p), Verdict: Note, Found: "limited member of " + strings.Join(limited, " ") + ", full member of no partition",
			Why:  "limited members communicate with full members (often file servers) but not with each other: MPI jobs do not start",
			Hint: "the subnet manager assigns the membership: edit the partitions.conf of opensm",
		})
	}
	if items == nil {
		return h.noActivePort("InfiniBand port", isInfiniBand)
	}
	return items
}
