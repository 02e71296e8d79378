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
)

// A kernel is what requests go to: the real one, or one that a test made.
type kernel interface {
	// open opens a device node.
	open(path string) (fd int, err error)

	// ioctl does RDMA_VERBS_IOCTL. The request is a header and its attributes;
	// when the kernel is probed, the header only. It is pinned, and so is what
	// its attributes point to.
	ioctl(fd int, request []byte) error

	// write sends a command. Brief tells that the kernel has it done in no time.
	write(fd int, message []byte, brief bool) error

	// eventFile returns a file that the poller watches. It owns fd from now on.
	eventFile(fd int) *os.File

	// mmap maps what a driver offers at an offset of a device node, for both to
	// read and write.
	mmap(fd int, offset int64, length int) ([]byte, error)
	munmap(b []byte) error

	// present tells whether the device of a node is still there for others.
	present(fd int) bool

	close(fd int) error
}

// linux is the kernel that this process runs on.
type linux struct{}

func (*linux) open(path string) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func (*linux) ioctl(fd int, request []byte) error {
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uapi.VerbsIoctl,
			uintptr(unsafe.Pointer(unsafe.SliceData(request))))
		if ended, err := outcome(errno); ended {
			return err
		}
	}
}

// outcome tells whether a call has ended and how. One that a signal has interrupted
// is to be made again.
func outcome(errno unix.Errno) (ended bool, err error) {
	switch errno {
	case 0:
		return true, nil
	case unix.EINTR:
		return false, nil
	}
	return true, errno
}

// write makes no system call of Go's where the kernel is brief: to tell the
// scheduler, before and after, takes longer than that. But Soft-RoCE up to Linux
// 6.10 builds packets within the call, and a goroutine that is there for long holds
// up others and the collector. Package unix would come to RawSyscall6 by three
// calls.
func (*linux) write(fd int, message []byte, brief bool) error {
	at, length := unsafe.SliceData(message), uintptr(len(message))
	for {
		var errno unix.Errno
		if brief {
			_, _, errno = syscall.RawSyscall6(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(at)), length, 0, 0, 0)
		} else {
			_, _, errno = unix.Syscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(at)), length)
		}
		if ended, err := outcome(errno); ended {
			return err
		}
	}
}

func (*linux) eventFile(fd int) *os.File {
	// Where this fails the file blocks a thread instead of a goroutine.
	_ = unix.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), fmt.Sprintf("uverbs events %d", fd))
}

func (*linux) close(fd int) error { return unix.Close(fd) }

// present looks for the node's numbers in sysfs. What cannot be found out is no
// reason to think that the device is gone.
func (*linux) present(fd int) bool {
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

func (*linux) mmap(fd int, offset int64, length int) ([]byte, error) {
	return unix.Mmap(fd, offset, length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

func (*linux) munmap(b []byte) error { return unix.Munmap(b) }
