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

// Request is about one command, or with Status about all. Exactly one of the fields after
// ID is set.
type Request struct {
	ID     uint32 // chosen by the runner: that of the command; with End and Status one of its own
	Start  *Start
	Signal int    // for the process and its group
	End    uint32 // command whose processes to kill, those that it left included
	Status bool
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

// Event reports on one request or, with Hello, that the agent is ready.
type Event struct {
	ID     uint32
	Hello  *Hello
	Stdout []byte
	Stderr []byte
	Exit   *Exit
	Ended  bool      // reply to End: no process of the command is left
	Status []Process // reply to Status
}

// Hello is the first event.
type Hello struct {
	Release string // of the kernel, as uname -r prints it
}

// Process is a process in the guest, without those of the kernel and of the agent.
type Process struct {
	ID    uint32 // of the command that it belongs to, 0 if none
	PID   int
	State string        // R, S, D, T or Z, see proc(5)
	CPU   time.Duration // user and system time, with that of ended children
	Args  string
}

// Exit is the last event of a command that leaves no processes.
type Exit struct {
	Code    int           // 128 and the signal's number if a signal ended it, as in a shell
	Elapsed time.Duration // from before its start until its end
	CPU     time.Duration // user and system time
	Left    bool          // its process group has members left, in the background
	Reason  string        // why it could not be started or watched; empty if it was
}
