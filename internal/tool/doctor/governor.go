package doctor

import (
	"context"
	"fmt"
	"strings"
)

// checkGovernor checks the CPU frequency governors
// (Documentation/admin-guide/pm/cpufreq.rst).
func checkGovernor(_ context.Context, h *host) []Item {
	const dir = "sys/devices/system/cpu/cpufreq"
	slow, all := map[string]int{}, 0
	for _, policy := range h.names(dir) {
		if !strings.HasPrefix(policy, "policy") {
			continue
		}
		governor, err := h.text(dir + "/" + policy + "/scaling_governor")
		if err != nil {
			return []Item{unreadable(policy, err)}
		}
		all++
		// If the processor itself selects the frequency, its preference counts.
		if preference, err := h.text(dir + "/" + policy + "/energy_performance_preference"); err == nil && governor != "performance" && preference == "performance" {
			continue
		}
		if governor != "performance" {
			slow[governor]++
		}
	}
	switch {
	case all == 0:
		return skipped("the kernel does not control the CPU frequency")
	case len(slow) == 0:
		return []Item{good("", "performance")}
	}
	var items []Item
	for _, governor := range []string{"powersave", "schedutil", "ondemand", "conservative", "userspace"} {
		if n := slow[governor]; n > 0 {
			delete(slow, governor)
			items = append(items, slowGovernor(governor, n, all))
		}
	}
	for governor, n := range slow {
		items = append(items, slowGovernor(governor, n, all))
	}
	return items
}

func slowGovernor(governor string, n, all int) Item {
	return Item{
		Subject: governor, Verdict: Warning, Found: fmt.Sprintf("used by %d of %d CPU frequency policies", n, all),
		Why:  "idle CPUs take long to reach full speed: latency is higher and varies between runs",
		Fix:  []string{"for f in /sys/devices/system/cpu/cpufreq/policy*/scaling_governor; do echo performance >$f; done"},
		Hint: "use cpupower or tuned (profile network-latency) to set the governor at boot",
	}
}
