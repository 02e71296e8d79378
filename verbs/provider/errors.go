package provider

import "errors"

// What posting and polling refuse. They are values, so that a hot loop that runs
// into one allocates nothing.
var (
	// ErrFull: the queue has no room; poll completions first.
	ErrFull = errors.New("queue is full")

	// ErrSGEs: more SGEs than the queue was made for.
	ErrSGEs = errors.New("too many SGEs")

	// ErrInline: more inline data than the queue was made for, or an operation
	// that has none.
	ErrInline = errors.New("too much inline data")

	// ErrLength: the SGEs are longer than a message can be, or no atomic's 8 bytes.
	ErrLength = errors.New("bad length of message")

	// ErrOpcode: the queue pair's type has no such operation.
	ErrOpcode = errors.New("operation is not one of this type of queue pair")

	// ErrAH: a datagram without an address handle, or with one that was closed.
	ErrAH = errors.New("address handle is missing or closed")

	// ErrCorrupt: the queue holds what neither side can have written.
	ErrCorrupt = errors.New("queue is corrupt")
)
