//go:build !(amd64 || arm64 || ppc64le || riscv64)

package verbs

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapShared maps file memory with a protection (unix.PROT_*). The system call's arguments
// differ here: s390x has them in memory, and 32-bit processors count the offset in pages.
func mapShared(fd int, offset int64, length uintptr, protection int) (unsafe.Pointer, error) {
	return unix.MmapPtr(fd, offset, nil, length, protection, unix.MAP_SHARED)
}
