package device

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/verbs"
)

// spins is the poll count for an empty queue. They take some tens of microseconds, as
// long as a message between two hosts.
const spins = 64

// Spin polls a queue and gives up the processor while it is empty, up to a limit. A
// wait for an event takes longer than most messages: the queue must be armed, and the
// event wakes a thread.
func Spin(cq *verbs.CQ, into []verbs.Completion) (int, error) {
	for range spins {
		if n, err := cq.Poll(into); n > 0 || err != nil {
			return n, err
		}
		// The peer may be a process on the same processor. The call does not block.
		_, _, _ = syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	}
	return 0, nil
}
