package provider

import "errors"

// The posting and polling errors. They are plain values, so that a loop that
// meets an error does not allocate.
var (
	// ErrFull: the queue has no room; poll completions first.
	ErrFull = errors.New("queue is full")

	// ErrSGEs: more SGEs than the queue was created for.
	ErrSGEs = errors.New("too many SGEs")

	// ErrInline: more inline data than the queue was created for, or inline data of
	// an operation without payload.
	ErrInline = errors.New("too much inline data")

	// ErrLength: the SGEs exceed a message's length, or an atomic has other
	// than 8 bytes.
	ErrLength = errors.New("invalid message length")

	// ErrOpcode: the queue pair's type does not support the operation.
	ErrOpcode = errors.New("operation not supported by this type of queue pair")

	// ErrAH: a datagram without an address handle, or with a closed handle.
	ErrAH = errors.New("address handle is missing or closed")

	// ErrCorrupt: the queue contains invalid values.
	ErrCorrupt = errors.New("queue is corrupt")
)
