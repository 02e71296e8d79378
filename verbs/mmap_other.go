//go:build !(amd64 || arm64 || ppc64le || riscv64)

package verbs

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapShared maps file memory for reading and writing. The system call's arguments
// differ here: s390x has them in memory, and 32-bit processors count the offset in pages.
func mapShared(fd int, offset int64, length uintptr) (unsafe.Pointer, error) {
	return unix.MmapPtr(fd, offset, nil, length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}
