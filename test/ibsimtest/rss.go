package ibsimtest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// rssInterval is how often the memory of a process is looked at.
const rssInterval = 500 * time.Microsecond

// watchRSS follows the most memory that a process held until stop is called,
// which returns it in bytes. What wait4 reports will not do: a child that
// shares its parent's memory until it calls exec, as Go starts them, has the
// parent's peak in its own ru_maxrss.
func watchRSS(pid int) (stop func() int64) {
	done := make(chan struct{})
	peak := make(chan int64)
	go func() {
		ticker := time.NewTicker(rssInterval)
		defer ticker.Stop()
		var seen int64
		for {
			seen = max(seen, peakRSS(pid))
			select {
			case <-done:
				peak <- seen
				return
			case <-ticker.C:
			}
		}
	}()
	return func() int64 {
		close(done)
		return <-peak
	}
}

// peakRSS returns the VmHWM of a process in bytes, 0 when it has ended.
func peakRSS(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, found := bytes.Cut(status, []byte("VmHWM:"))
	fields := bytes.Fields(rest)
	if !found || len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil {
		return 0
	}
	return kib * 1024
}
