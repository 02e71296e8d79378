package verbs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/internal/uverbs"
)

// A kernel executes requests: the running kernel, or a fake in tests.
type kernel = uverbs.Kernel

func init() {
	uverbs.Open = func(device string, driver uint32, k uverbs.Kernel) (any, error) {
		return Device{Name: device, Driver: DriverID(driver)}.open(k)
	}
}

// linux is the running kernel.
type linux struct{}

func (*linux) Open(path string) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func (*linux) Ioctl(fd int, request []byte) error {
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uapi.VerbsIoctl,
			uintptr(unsafe.Pointer(unsafe.SliceData(request))))
		if done, err := completed(errno); done {
			return err
		}
	}
}

// completed reports whether a system call is complete, and its error. A call that a
// signal has interrupted must be repeated.
func completed(errno unix.Errno) (done bool, err error) {
	switch errno {
	case 0:
		return true, nil
	case unix.EINTR:
		return false, nil
	}
	return true, errno
}

// A brief write bypasses Go's scheduler: the scheduler's work before and after a system
// call takes longer than the call itself. Soft-RoCE up to Linux 6.10 builds packets within
// the call; such writes may take long and are not brief, because a goroutine in a raw
// system call delays other goroutines and the collector. The call of syscall.RawSyscall6 is
// direct, since package unix reaches it by three calls.
func (*linux) Write(fd int, message []byte, brief bool) error {
	at, length := unsafe.SliceData(message), uintptr(len(message))
	for {
		var errno unix.Errno
		if brief {
			_, _, errno = syscall.RawSyscall6(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(at)), length, 0, 0, 0)
		} else {
			_, _, errno = unix.Syscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(at)), length)
		}
		if done, err := completed(errno); done {
			return err
		}
	}
}

func (*linux) EventFile(fd int) *os.File {
	// If this fails, a read blocks a thread, not a goroutine.
	_ = unix.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), fmt.Sprintf("uverbs events %d", fd))
}

func (*linux) Close(fd int) error { return unix.Close(fd) }

// Present looks up the node's numbers in sysfs. It reports true if the lookup
// is not possible.
func (*linux) Present(fd int) bool {
	const nodes = "/sys/dev/char"
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil {
		return true
	}
	_, err := os.Stat(fmt.Sprintf("%s/%d:%d", nodes, unix.Major(stat.Rdev), unix.Minor(stat.Rdev)))
	if !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	_, err = os.Stat(nodes)
	return err != nil
}

func (*linux) Mmap(fd int, offset int64, length, protection int) ([]byte, error) {
	at, err := mapShared(fd, offset, uintptr(length), protection)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(at), length), nil
}

// Munmap bypasses Go's scheduler, as mapShared does.
func (*linux) Munmap(b []byte) error {
	_, _, errno := syscall.RawSyscall(unix.SYS_MUNMAP, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0)
	if errno != 0 {
		return errno
	}
	return nil
}
