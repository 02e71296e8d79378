package top

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the processor time that the process has used, 0 if it is unknown.
func processorTime() time.Duration {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
