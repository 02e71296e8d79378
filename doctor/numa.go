package doctor

import (
	"context"
	"fmt"
	"strconv"
	"strings"
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
		return nothing("one NUMA node, or none")
	}
	var items []Item
	for _, d := range h.devices.Devices {
		if d.PCI == nil || d.NUMANode == nil {
			continue
		}
		if *d.NUMANode < 0 {
			items = append(items, Item{
				Subject: d.Name, Verdict: Note, Found: fmt.Sprintf("the firmware does not tell which of %d NUMA nodes it is at", nodes),
				Why: "programs cannot choose the CPUs and the memory next to it", Advice: "look for an option in the BIOS, or a newer one",
			})
			continue
		}
		near, err := h.text("sys/class/infiniband/" + d.Name + "/device/local_cpulist")
		if err != nil {
			items = append(items, unread(d.Name, err))
			continue
		}
		i := good(d.Name, "node %d of %d, CPUs %s", *d.NUMANode, nodes, near)
		if h.user.cpus != "" && !overlap(near, h.user.cpus) {
			i.Verdict = Note
			i.Found += fmt.Sprintf(", of which this shell may use none (only %s)", h.user.cpus)
			i.Why = "what runs far away takes longer for each message, and moves less"
			i.Mend = []string{fmt.Sprintf("taskset -pc %s $$", quote(near))}
		}
		items = append(items, i)
	}
	if balancing, err := h.text("proc/sys/kernel/numa_balancing"); err == nil && balancing != "0" && items != nil {
		mend, keep := sysctl("kernel.numa_balancing", "0")
		items = append(items, Item{
			Subject: "numa_balancing", Verdict: Note, Found: "on: the kernel moves memory between NUMA nodes",
			Why:  "pages are unmapped to see who uses them, which shows as spikes of latency",
			Mend: mend, Keep: keep,
		})
	}
	if items == nil {
		return nothing("no RDMA device is one of PCI")
	}
	return items
}

// overlap tells whether two lists of CPUs, such as "0-3,8", have one in common.
// What cannot be read is taken for all.
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
