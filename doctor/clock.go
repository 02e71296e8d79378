package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// slowClocks are those that a system call, and a device, have to be asked for
// (Documentation/timers/timekeeping.rst).
var slowClocks = []string{"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies", "hyperv_clocksource_msr", "hyperv_clocksource"}

func checkClock(_ context.Context, h *host) []Item {
	const dir = "sys/devices/system/clocksource/clocksource0/"
	clock, err := h.text(dir + "current_clocksource")
	if err != nil {
		return []Item{unread("", err)}
	}
	if !slices.Contains(slowClocks, clock) {
		return []Item{good("", "%s", clock)}
	}
	i := Item{
		Verdict: Warning, Found: clock,
		Why: "reading the time takes a microsecond and more instead of 20 ns: tests of latency, and programs that look at the time often, are slow",
	}
	available, err := h.text(dir + "available_clocksource")
	if err == nil && slices.Contains(strings.Fields(available), "tsc") {
		i.Mend = []string{fmt.Sprintf("echo tsc >/%scurrent_clocksource", dir)}
	}
	i.Advice = "the kernel left the counter of the CPUs out of use: dmesg | grep -i tsc says why"
	return []Item{i}
}
