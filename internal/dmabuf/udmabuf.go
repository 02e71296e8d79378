package dmabuf

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// UDMABuf is the driver that creates dma-bufs from memory of a process. Debian 13's
// kernel has it, that of Debian 12 does not.
const UDMABuf = "/dev/udmabuf"

// udmabufCreate is struct udmabuf_create in <linux/udmabuf.h>.
type udmabufCreate struct {
	memfd, flags uint32
	offset, size uint64
}

const (
	ioctlUDMABufCreate = 1<<30 | unsafe.Sizeof(udmabufCreate{})<<16 | 'u'<<8 | 0x42 // UDMABUF_CREATE
	udmabufCloseOnExec = 1                                                          // UDMABUF_FLAGS_CLOEXEC
)

// exportMemory creates a dma-buf with udmabuf.
func exportMemory(driver string, size int) (fd int, err error) {
	device, err := os.OpenFile(driver, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer device.Close()
	memory, err := sharedMemory(size)
	if err != nil {
		return 0, err
	}
	defer memory.Close()
	// udmabuf requires that the size does not shrink.
	if _, err := unix.FcntlInt(memory.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK); err != nil {
		return 0, os.NewSyscallError("seal memory", err)
	}
	arg := udmabufCreate{memfd: uint32(memory.Fd()), flags: udmabufCloseOnExec, size: uint64(size)}
	return ioctl(device, ioctlUDMABufCreate, unsafe.Pointer(&arg))
}

// sharedMemory returns a file in memory.
func sharedMemory(size int) (*os.File, error) {
	fd, err := unix.MemfdCreate("ibkit", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "shared memory")
	if err := f.Truncate(int64(size)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
