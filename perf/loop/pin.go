package loop

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"
)

// NoCPU leaves it to the kernel where a loop runs.
const NoCPU = -1

// Usage is processor time of a thread, in nanoseconds.
type Usage struct{ User, System int64 }

// Pinned runs a loop on a thread of its own, on one processor if cpu is not NoCPU,
// while the garbage collector stands still, and returns what processor time it
// took.
func Pinned(cpu int, f func() error) (Usage, error) {
	var used Usage
	result := make(chan error, 1)
	// The goroutine never unlocks its thread, which therefore ends with it: no other
	// goroutine gets a thread that is tied to a processor.
	go func() {
		runtime.LockOSThread()
		release := held.hold()
		err := pin(cpu)
		if err == nil {
			before := usage()
			err = f()
			after := usage()
			used = Usage{after.User - before.User, after.System - before.System}
		}
		release()
		result <- err
	}()
	err := <-result
	return used, err
}

func pin(cpu int) error {
	if cpu == NoCPU {
		return nil
	}
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin thread to CPU %d: %w", cpu, err)
	}
	return nil
}

// usage is the thread's.
func usage() Usage {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &r) != nil {
		return Usage{}
	}
	return Usage{r.Utime.Nano(), r.Stime.Nano()}
}

// runtimeHolder keeps Go's runtime out of loops while any runs.
type runtimeHolder struct {
	lock    sync.Mutex
	loops   int
	percent int // of the garbage collector
	procs   int // goroutines that run at a time
}

var held runtimeHolder

// hold stops the collector, and has one more goroutine run at a time, until what it
// returns is called: a loop never gives its place to others.
func (h *runtimeHolder) hold() (release func()) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if h.loops++; h.loops == 1 {
		runtime.GC()
		h.percent = debug.SetGCPercent(-1)
		h.procs = runtime.GOMAXPROCS(0)
	}
	// Never fewer: that would stop the loops that run.
	if want := h.procs + h.loops; want > runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(want)
	}
	return func() {
		h.lock.Lock()
		defer h.lock.Unlock()
		if h.loops--; h.loops == 0 {
			debug.SetGCPercent(h.percent)
			runtime.GOMAXPROCS(h.procs)
		}
	}
}
