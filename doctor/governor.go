package doctor

import (
	"context"
	"fmt"
	"strings"
)

// checkGovernor looks at how CPUs choose their frequency
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
			return []Item{unread(policy, err)}
		}
		all++
		// Where the processor chooses by itself, what counts is its preference.
		if preference, err := h.text(dir + "/" + policy + "/energy_performance_preference"); err == nil && governor != "performance" && preference == "performance" {
			continue
		}
		if governor != "performance" {
			slow[governor]++
		}
	}
	switch {
	case all == 0:
		return nothing("the kernel does not choose the frequency")
	case len(slow) == 0:
		return []Item{good("", "performance")}
	}
	var items []Item
	for _, governor := range []string{"powersave", "schedutil", "ondemand", "conservative", "userspace"} {
		if n := slow[governor]; n > 0 {
			delete(slow, governor)
			items = append(items, slowGovernor(governor, n))
		}
	}
	for governor, n := range slow {
		items = append(items, slowGovernor(governor, n))
	}
	return items
}

func slowGovernor(governor string, n int) Item {
	return Item{
		Subject: governor, Verdict: Warning, Found: fmt.Sprintf("%d of the CPUs' frequencies are chosen so", n),
		Why:    "CPUs that rest between messages take long to get fast again: latency is higher, and differs from run to run",
		Mend:   []string{"for f in /sys/devices/system/cpu/cpufreq/policy*/scaling_governor; do echo performance >$f; done"},
		Advice: "cpupower or tuned (profile network-latency) sets it at each start",
	}
}
