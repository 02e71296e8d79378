// Package dmabuf has dma-bufs: memory that a driver shares with other devices. Kernel
// drivers create them ([New]), or a program that allocates GPU memory ([Client]).
package dmabuf

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Buffer is a dma-buf. Its methods may be called concurrently, except Close.
type Buffer struct {
	File *os.File

	// Bytes are the memory itself, or with GPU memory a copy: see Begin and End.
	Bytes []byte

	client *Client // that has the memory, or nil
	number int     // of the client's buffer
}

// New allocates a dma-buf of whole pages from a kernel driver: [UDMABuf], or a DRM device
// such as /dev/dri/card0. The memory is zero.
func New(driver string, size int) (*Buffer, error) {
	create := exportMemory
	if strings.HasPrefix(driver, "/dev/dri/") {
		create = exportDumb
	}
	size = wholePages(size)
	fd, err := create(driver, size)
	if err != nil {
		return nil, fmt.Errorf("create dma-buf of %d bytes with %s: %w", size, driver, err)
	}
	b := &Buffer{File: os.NewFile(uintptr(fd), "dma-buf")}
	if b.Bytes, err = mapFile(b.File, size); err != nil {
		return nil, errors.Join(err, b.File.Close())
	}
	clear(b.Bytes)
	return b, b.End(0, size)
}

func wholePages(size int) int {
	page := os.Getpagesize()
	return (size + page - 1) / page * page
}

// mapFile maps a dma-buf or other shared memory.
func mapFile(f *os.File, size int) ([]byte, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return b, os.NewSyscallError("map "+f.Name(), err)
}

// Addr returns an address for devices: that of Bytes.
func (b *Buffer) Addr() uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes)))) }

// Close unmaps and releases the dma-buf.
func (b *Buffer) Close() error { return errors.Join(unix.Munmap(b.Bytes), b.File.Close()) }

// Values of DMA_BUF_IOCTL_SYNC in <linux/dma-buf.h>.
const (
	ioctlSync = 1<<30 | 8<<16 | 'b'<<8 // _IOW('b', 0, struct dma_buf_sync)
	syncRead  = 1
	syncWrite = 2
	syncEnd   = 4
)

// Begin makes a device's writes visible in Bytes.
func (b *Buffer) Begin(at, length int) error {
	if b.client != nil {
		return b.client.copy(opRead, b.number, at, length)
	}
	return b.sync(syncRead)
}

// End makes writes to Bytes visible to devices.
func (b *Buffer) End(at, length int) error {
	if b.client != nil {
		return b.client.copy(opWrite, b.number, at, length)
	}
	return b.sync(syncWrite)
}

// sync begins and ends an access by the processor.
func (b *Buffer) sync(direction uint64) error {
	for _, flags := range []uint64{direction, direction | syncEnd} {
		if _, err := ioctl(b.File, ioctlSync, unsafe.Pointer(&flags)); err != nil {
			return fmt.Errorf("synchronize dma-buf: %w", err)
		}
	}
	return nil
}

func ioctl(f *os.File, request uintptr, arg unsafe.Pointer) (int, error) {
	for {
		r, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), request, uintptr(arg))
		switch errno {
		case 0:
			return int(r), nil
		case unix.EINTR, unix.EAGAIN:
		default:
			return 0, errno
		}
	}
}
