package loop

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
)

// TestYieldMonitor checks that exactly the monitor thread gets the policy SCHED_IDLE.
func TestYieldMonitor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	YieldMonitor()
	monitor := monitorThread()
	if monitor == 0 {
		t.Fatal("the monitor thread is unknown")
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		tid, err := strconv.Atoi(thread.Name())
		if err != nil {
			t.Fatal(err)
		}
		attr, err := unix.SchedGetAttr(tid, 0)
		if err != nil {
			continue // the thread has ended
		}
		want := uint32(unix.SCHED_NORMAL)
		if tid == monitor {
			want = unix.SCHED_IDLE
		}
		if attr.Policy != want {
			t.Errorf("thread %d (monitor %d) has policy %d, want %d", tid, monitor, attr.Policy, want)
		}
	}
}

// TestMonitorThread checks that the thread taken for the monitor wakes up again and again
// while a loop polls.
func TestMonitorThread(t *testing.T) {
	tid := monitorThread()
	if tid == 0 {
		t.Fatal("the monitor thread is unknown")
	}
	begin := sleeps(t, tid)
	for deadline := time.Now().Add(testenv.WaitLimit); sleeps(t, tid) < begin+10; {
		if time.Now().After(deadline) {
			t.Fatalf("thread %d went to sleep %d times in %v, want 10", tid, sleeps(t, tid)-begin, testenv.WaitLimit)
		}
	}
}

// sleeps returns the number of voluntary context switches of a thread of this process.
func sleeps(t *testing.T, tid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", tid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
	line, _, _ := strings.Cut(after, "\n")
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
