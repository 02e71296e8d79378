package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// slowClocks are clock sources that need a system call and a device access to read
// (Documentation/timers/timekeeping.rst).
var slowClocks = []string{"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies", "hyperv_clocksource_msr", "hyperv_clocksource"}

func checkClock(_ context.Context, h *host) []Item {
	const dir = "sys/devices/system/clocksource/clocksource0/"
	clock, err := h.text(dir + "current_clocksource")
	if err != nil {
		return []Item{unreadable("", err)}
	}
	if !slices.Contains(slowClocks, clock) {
		return []Item{good("", "%s", clock)}
	}
	i := Item{
		Verdict: Warning, Found: clock + " is a slow clock source",
		Why:  "reading the time takes over 1 µs instead of 20 ns: latency tests and programs that read the time often are slow",
		Hint: "the kernel does not use the CPU's time stamp counter; find the reason with: dmesg | grep -i tsc",
	}
	available, err := h.text(dir + "available_clocksource")
	if err == nil && slices.Contains(strings.Fields(available), "tsc") {
		i.Fix = []string{fmt.Sprintf("echo tsc >/%scurrent_clocksource", dir)}
	}
	return []Item{i}
}
