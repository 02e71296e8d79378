//go:build amd64 || arm64 || ppc64le || riscv64

package verbs

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapShared maps file memory with a protection (unix.PROT_*). It bypasses Go's scheduler: the
// call does not block, but takes long enough for the scheduler's monitor to hand the
// processor to another thread.
func mapShared(fd int, offset int64, length uintptr, protection int) (unsafe.Pointer, error) {
	at, _, errno := syscall.RawSyscall6(unix.SYS_MMAP, 0, length, uintptr(protection), unix.MAP_SHARED, uintptr(fd), uintptr(offset))
	if errno != 0 {
		return nil, errno
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&at)), nil // kernel memory, not Go's
}
