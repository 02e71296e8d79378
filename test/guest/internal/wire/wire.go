// Package wire is what the runner and the agent in a guest say to each other:
// gob-encoded [Request]s one way, [Event]s the other, over one virtio-serial
// port.
package wire

import "time"

// PortName is the name of the virtio-serial port in the guest.
const PortName = "ibkit.agent"

// Request asks the agent for one thing about one process. Start or Signal is
// set.
type Request struct {
	ID     uint32 // chosen by the runner, one for each process
	Start  *Start
	Signal int // for the process and all that it started
}

// Start says what to start.
type Start struct {
	Args     []string // Args[0] is looked up in PATH
	Env      []string // added to the agent's own
	Dir      string
	User     uint32 // user and group to be; 0 is root
	Stdin    []byte
	Terminal bool // on the serial console instead of on pipes
}

// Event tells of one process, or, with Hello, that the agent is there.
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
	Reason  string        // why it could not be started or watched; empty if it was
}
