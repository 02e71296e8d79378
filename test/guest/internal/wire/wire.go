// Package wire has the protocol between the runner and the agent in a guest: a single
// [Begin] and [Request]s in one direction, [Event]s in the other, all gob-encoded, over a
// virtio-serial port. Before, the agent writes a byte when it waits for Begin. The machine
// is saved then, and each guest goes on from there.
package wire

import "time"

// PortName is the virtio-serial port name in the guest.
const PortName = "ibkit.agent"

// Begin turns a saved machine into a separate guest.
type Begin struct {
	Time   time.Time
	Random []byte // for the kernel's random number generator
}

// Request is about a single command, or with Status about all. Exactly one of the fields
// after ID is set.
type Request struct {
	ID     uint32 // chosen by the runner: the command's ID; with End and Status its own
	Start  *Start
	Signal int    // for the process and its group
	End    uint32 // command to kill, with all processes that it left
	Status bool
}

// Start describes a process to start.
type Start struct {
	Args     []string // Args[0] is looked up in PATH
	Env      []string // added to the agent's environment
	Dir      string
	User     uint32 // user and group ID; 0 is root
	Stdin    []byte
	Terminal bool // on the serial console instead of on pipes
}

// Event reports on a single request or, with Hello, that the agent is ready.
type Event struct {
	ID     uint32
	Hello  *Hello
	Stdout []byte
	Stderr []byte
	Exit   *Exit
	Ended  bool      // reply to End: all processes of the command have ended
	Status []Process // reply to Status
}

// Hello is the first event.
type Hello struct {
	Release string // kernel release, as uname -r prints it
}

// Process is a process in the guest, except kernel threads and the agent.
type Process struct {
	ID    uint32 // ID of the command that it belongs to, 0 for no command
	PID   int
	State string        // R, S, D, T or Z, see proc(5)
	CPU   time.Duration // user and system time, including ended children
	Args  string
}

// Exit is the last event for a command that leaves no processes.
type Exit struct {
	Code    int           // 128 and the signal's number if a signal ended it, as in a shell
	Elapsed time.Duration // from before its start until its end
	CPU     time.Duration // user and system time
	Left    bool          // its process group has members left, in the background
	Reason  string        // why it could not be started or watched; empty if it was
}
