package loop

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// YieldMonitor gives the monitor thread of Go's scheduler the policy SCHED_IDLE, so that it
// runs on an idle processor or after the time slice of a loop, but does not preempt a loop
// on its own. It wakes up 100 times per second. If all processors poll, as both sides of a
// test in a guest do, each wake-up delays a message by 60 to 400 µs, and every second one
// makes the scheduler move the loop's goroutine to another thread and back: the 99th
// percentile of short latency tests was 1.6 times as large.
//
// It is meant for a process whose only task is a test with one loop. Without
// CAP_SYS_NICE, no thread can leave the policy. With as many loops as GOMAXPROCS, other
// goroutines need the monitor to interrupt a loop, and keepalives were late for seconds. So
// YieldMonitor does nothing on a host with one processor. It ignores errors: a container may
// forbid the call, and loops only lose the improvement.
func YieldMonitor() {
	tid := monitorThread()
	if tid == 0 || runtime.GOMAXPROCS(0) < 2 {
		return
	}
	_ = unix.SchedSetAttr(tid, &unix.SchedAttr{Policy: unix.SCHED_IDLE, Flags: unix.SCHED_FLAG_RESET_ON_FORK}, 0)
}

// monitorThread returns the ID of the monitor thread, or 0 if it is unknown. Go starts
// the monitor before any other thread (runtime.main in runtime/proc.go) and never ends
// it, and the kernel lists threads in the order of their creation (next_tid in
// fs/proc/base.c).
func monitorThread() int {
	dir, err := os.Open("/proc/self/task")
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, err := dir.Readdirnames(2)
	if err != nil || len(names) != 2 || names[0] != strconv.Itoa(os.Getpid()) {
		return 0
	}
	tid, err := strconv.Atoi(names[1])
	if err != nil {
		return 0
	}
	return tid
}
