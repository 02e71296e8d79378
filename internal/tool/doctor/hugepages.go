package doctor

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

func checkHugepages(_ context.Context, h *host) []Item {
	text, err := h.text("proc/meminfo")
	if err != nil {
		return []Item{unreadable("", err)}
	}
	values := map[string]uint64{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		if words := strings.Fields(value); len(words) > 0 {
			if n, err := strconv.ParseUint(words[0], 10, 64); err == nil {
				values[key] = n
			}
		}
	}
	size, hasSize := values["Hugepagesize"]
	if !hasSize {
		return skipped("the kernel does not support huge pages")
	}
	total, free := values["HugePages_Total"], values["HugePages_Free"]
	found := fmt.Sprintf("%d of %s reserved, %d free", total, bytes(size<<10), free)
	if free > 0 {
		return []Item{good("", "%s", found)}
	}
	if total == 0 {
		found = "no huge pages are reserved"
	}
	// Add 1 GiB, but not more than an eighth of the memory.
	more := max(1, min(1<<20, values["MemTotal"]/8)/max(1, size))
	fix, persist := sysctl("vm.nr_hugepages", strconv.FormatUint(total+more, 10))
	return []Item{{
		Verdict: Note, Found: found,
		Why: "devices need fewer address translations for memory in huge pages; SPDK, DPDK and perftest --use_hugepages require them",
		Fix: fix, Persist: persist,
	}}
}
