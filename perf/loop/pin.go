package loop

import (
	"errors"
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
		err := errors.Join(pin(cpu), maskPreemption())
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

// maskPreemption keeps the signal by which Go preempts from this thread.
func maskPreemption() error {
	const bit = unix.SIGURG - 1
	var set unix.Sigset_t
	set.Val[bit/64] = 1 << (bit % 64)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil); err != nil {
		return fmt.Errorf("mask SIGURG: %w", err)
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

// hold stops the collector, and has as many goroutines more run at a time as there
// are processors, until what it returns is called: a loop never gives its place to
// others (see still).
func (h *runtimeHolder) hold() (release func()) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if h.loops++; h.loops == 1 {
		h.percent = debug.SetGCPercent(-1)
		runtime.GC()
		h.procs = runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + runtime.NumCPU())
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
