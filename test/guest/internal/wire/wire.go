// Package wire has the protocol between the runner and the agent in a guest: one
// [Begin] and [Request]s in one direction, [Event]s in the other, all gob-encoded, over a
// virtio-serial port. Before, the agent writes one byte when it waits for Begin. The
// machine is saved then, and each guest goes on from there.
package wire

import "time"

// PortName is the name of the virtio-serial port in the guest.
const PortName = "ibkit.agent"

// Begin makes a saved machine a guest of its own.
type Begin struct {
	Time   time.Time
	Random []byte // for the kernel's random number generator
}

// Request is about one process. Exactly one of Start and Signal is set.
type Request struct {
	ID     uint32 // chosen by the runner, one for each process
	Start  *Start
	Signal int // for the process and its children
}

// Start describes a process to start.
type Start struct {
	Args     []string // Args[0] is looked up in PATH
	Env      []string // added to the environment of the agent
	Dir      string
	User     uint32 // user and group ID; 0 is root
	Stdin    []byte
	Terminal bool // on the serial console instead of on pipes
}

// Event reports on one process or, with Hello, that the agent is ready.
type Event struct {
	ID     uint32
	Hello  *Hello
	Stdout []byte
	Stderr []byte
	Exit   *Exit
}

// Hello is the first event.
type Hello struct {
	Release string // of the kernel, as uname -r prints it
}

// Exit is the last event of a process.
type Exit struct {
	Code    int           // 128 and the signal's number if a signal ended it, as in a shell
	Elapsed time.Duration // from before its start until its end
	CPU     time.Duration // user and system time
	Reason  string        // why it could not be started or watched; empty if it was
}
