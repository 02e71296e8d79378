package host

import (
	"fmt"
	"os"
)

// A Load is the total processor time since the system start, in ticks.
type Load struct{ user, idle uint64 }

// ReadLoad reads the load from /proc/stat, nil if that is not possible.
func ReadLoad() *Load {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return nil
	}
	return parseLoad(string(text))
}

// parseLoad parses the first line in /proc/stat: cpu, user, nice, system, idle (proc(5)).
func parseLoad(text string) *Load {
	var l Load
	var nice, system uint64
	if _, err := fmt.Sscanf(text, "cpu %d %d %d %d", &l.user, &nice, &system, &l.idle); err != nil {
		return nil
	}
	return &l
}

// Since returns the user-mode time in percent since an earlier load, relative to the
// time in user mode and idle. The perftest programs define the load so, without the
// time in the kernel. It returns 0 if either load is nil.
func (l *Load) Since(earlier *Load) float64 {
	if l == nil || earlier == nil {
		return 0
	}
	user, idle := float64(l.user-earlier.user), float64(l.idle-earlier.idle)
	if user+idle <= 0 {
		return 0
	}
	return 100 * user / (user + idle)
}
