package rdmahost

import (
	"fmt"
	"os"
	"strings"
)

// ProcessName returns a process's name in this PID namespace, from /proc; nil if the
// process has ended or /proc hides it.
func ProcessName(pid uint32) *string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return nil
	}
	return new(strings.TrimSuffix(string(text), "\n"))
}
