package provider

import "errors"

// The errors of posting and polling. They are plain values, so that a loop that
// meets one does not allocate.
var (
	// ErrFull: the queue has no room; poll completions first.
	ErrFull = errors.New("queue is full")

	// ErrSGEs: more SGEs than the queue was created for.
	ErrSGEs = errors.New("too many SGEs")

	// ErrInline: more inline data than the queue was created for, or inline data of
	// an operation without payload.
	ErrInline = errors.New("too much inline data")

	// ErrLength: the SGEs exceed the length of a message, or an atomic has other
	// than 8 bytes.
	ErrLength = errors.New("invalid message length")

	// ErrOpcode: the type of the queue pair does not support the operation.
	ErrOpcode = errors.New("operation not supported by this type of queue pair")

	// ErrAH: a datagram without an address handle, or with a closed one.
	ErrAH = errors.New("address handle is missing or closed")

	// ErrCorrupt: the queue contains invalid values.
	ErrCorrupt = errors.New("queue is corrupt")
)
