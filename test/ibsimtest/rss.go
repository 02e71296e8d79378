package ibsimtest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// rssInterval is the time between two reads of a process's memory size.
const rssInterval = 500 * time.Microsecond

// watchRSS samples a process's resident memory. stop ends it and returns the peak in
// bytes. wait4's ru_maxrss is not usable: Go starts a child that shares the parent's
// memory until it calls exec, and the parent's peak is counted for the child.
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

// peakRSS returns a process's VmHWM in bytes, or 0 after the process has ended.
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
