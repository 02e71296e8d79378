package doctor

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/textfile"
)

func checkNUMA(_ context.Context, h *host) []Item {
	nodes := 0
	for _, name := range h.names("sys/devices/system/node") {
		if number, is := strings.CutPrefix(name, "node"); is {
			if _, err := strconv.Atoi(number); err == nil {
				nodes++
			}
		}
	}
	if nodes < 2 {
		return skipped("fewer than two NUMA nodes")
	}
	var items []Item
	for _, d := range h.devices.Devices {
		if d.PCI == nil || d.NUMANode == nil {
			continue
		}
		if *d.NUMANode < 0 {
			items = append(items, Item{
				Subject: d.Name, Verdict: Note, Found: fmt.Sprintf("the firmware does not report its NUMA node (of %d)", nodes),
				Why: "programs cannot select the CPUs and the memory near the device", Hint: "check the BIOS for a NUMA option or an update",
			})
			continue
		}
		near, err := h.text("sys/class/infiniband/" + d.Name + "/device/local_cpulist")
		if err != nil {
			items = append(items, unreadable(d.Name, err))
			continue
		}
		i := good(d.Name, "node %d of %d, CPUs %s", *d.NUMANode, nodes, near)
		if h.user.cpus != "" && !overlap(near, h.user.cpus) {
			i.Verdict = Note
			i.Found += fmt.Sprintf(", but this shell may only use CPUs %s", h.user.cpus)
			i.Why = "programs on distant CPUs have higher latency and lower bandwidth"
			i.Fix = []string{fmt.Sprintf("taskset -pc %s $$", textfile.ShellWord(near))}
		}
		items = append(items, i)
	}
	if balancing, err := h.text("proc/sys/kernel/numa_balancing"); err == nil && balancing != "0" && items != nil {
		fix, persist := sysctl("kernel.numa_balancing", "0")
		items = append(items, Item{
			Subject: "numa_balancing", Verdict: Note, Found: "on: the kernel moves memory between NUMA nodes",
			Why: "the kernel unmaps pages to find out which CPU uses them, which causes latency spikes",
			Fix: fix, Persist: persist,
		})
	}
	if items == nil {
		return skipped(noPCI)
	}
	return items
}

// overlap reports whether two CPU lists, for example "0-3,8", have a CPU in common.
// A list that cannot be parsed overlaps with every list.
func overlap(a, b string) bool {
	for x := range strings.SplitSeq(a, ",") {
		for y := range strings.SplitSeq(b, ",") {
			low1, high1, ok1 := cpuRange(x)
			low2, high2, ok2 := cpuRange(y)
			if !ok1 || !ok2 || low1 <= high2 && low2 <= high1 {
				return true
			}
		}
	}
	return false
}

func cpuRange(s string) (low, high int, ok bool) {
	first, last, isRange := strings.Cut(s, "-")
	low, err := strconv.Atoi(first)
	if err != nil {
		return 0, 0, false
	}
	if !isRange {
		return low, low, true
	}
	high, err = strconv.Atoi(last)
	return low, high, err == nil
}
