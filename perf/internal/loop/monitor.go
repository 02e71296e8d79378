package loop

import (
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// yieldMonitor gives the monitor thread of Go's scheduler the policy SCHED_IDLE, until
// the process ends, so that it runs on an idle processor or when a loop's time slice
// is over, but does not preempt a loop on its own. It wakes up 100 times per second. If
// all processors poll, as both sides of a test in a guest do, each wake-up delays a
// message by 60 to 400 µs, and every second one makes the scheduler move the loop's
// goroutine to another thread and back. That raises the 99th percentile by half.
//
// The policy has a weight of 0.3 % of a normal thread's, ten times the need of the
// monitor, so that it also runs on a host whose processors are all busy. Threads that
// it starts have the normal policy.
//
// An error is ignored: a container may forbid the call, and loops only lose the
// improvement.
var yieldMonitor = sync.OnceFunc(func() {
	if tid := monitorThread(); tid != 0 {
		_ = unix.SchedSetAttr(tid, &unix.SchedAttr{Policy: unix.SCHED_IDLE, Flags: unix.SCHED_FLAG_RESET_ON_FORK}, 0)
	}
})

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
