package loop

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// NoCPU leaves the choice of the processor to the kernel.
const NoCPU = -1

// Usage is the processor time of a loop, and its duration.
type Usage struct{ User, System, Elapsed time.Duration }

// Pinned runs a loop on a thread of its own, bound to a processor unless cpu is
// NoCPU, and returns the processor time that the loop used, without that of the thread
// before and after it.
func Pinned(cpu int, f func() error) (Usage, error) {
	var used Usage
	result := make(chan error, 1)
	// A garbage collection now makes another during the loop unlikely: loops do not
	// allocate.
	runtime.GC()
	// The goroutine never unlocks its thread, so that the thread ends with it and no
	// other goroutine inherits its affinity.
	go func() {
		runtime.LockOSThread()
		err := bind(cpu)
		if err == nil {
			begin, before := time.Now(), usage()
			err = f()
			after := usage()
			used = Usage{after.User - before.User, after.System - before.System, time.Since(begin)}
		}
		result <- err
	}()
	err := <-result
	return used, err
}

func bind(cpu int) error {
	if cpu == NoCPU {
		return nil
	}
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("bind thread to CPU %d: %w", cpu, err)
	}
	return nil
}

// usage returns the processor time of this thread since its start.
func usage() Usage {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &r) != nil {
		return Usage{}
	}
	return Usage{User: time.Duration(r.Utime.Nano()), System: time.Duration(r.Stime.Nano())}
}
