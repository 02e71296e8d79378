// Package uverbs is the kernel interface that package verbs uses, so that tests can
// replace the running kernel.
package uverbs

import "os"

// Open opens a kernel device. The result is a *verbs.Context; package verbs sets it. It is
// for tests in packages above verbs, which has no such function in its API.
var Open func(device string, driver uint32, k Kernel) (any, error)

// A Kernel executes requests: the running kernel, or a fake in tests.
type Kernel interface {
	// Open opens a device node.
	Open(path string) (fd int, err error)

	// Ioctl executes RDMA_VERBS_IOCTL. The request comprises a header and attributes, or
	// the header only when a method is probed. The request and the memory that the
	// attributes point to are pinned.
	Ioctl(fd int, request []byte) error

	// Write sends a command. brief: the write does not block; bypass the scheduler.
	Write(fd int, message []byte, brief bool) error

	// EventFile returns a file for the runtime's poller. It owns fd from then on.
	EventFile(fd int) *os.File

	// Mmap maps driver memory at an offset in a device node, shared, with a protection
	// (unix.PROT_*).
	Mmap(fd int, offset int64, length, protection int) ([]byte, error)
	Munmap(b []byte) error

	// Present reports whether a node's device still exists.
	Present(fd int) bool

	Close(fd int) error
}
