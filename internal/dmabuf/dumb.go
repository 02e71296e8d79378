package dmabuf

import (
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Structures of <drm/drm_mode.h> and <drm/drm.h>.
type (
	drmCreateDumb struct {
		height, width, bpp, flags, handle, pitch uint32
		size                                     uint64
	}
	drmPrimeHandle struct {
		handle, flags uint32
		fd            int32
	}
)

const (
	ioctlCreateDumb    = 3<<30 | unsafe.Sizeof(drmCreateDumb{})<<16 | 'd'<<8 | 0xb2  // DRM_IOCTL_MODE_CREATE_DUMB
	ioctlPrimeHandleFD = 3<<30 | unsafe.Sizeof(drmPrimeHandle{})<<16 | 'd'<<8 | 0x2d // DRM_IOCTL_PRIME_HANDLE_TO_FD
)

// exportDumb creates a dma-buf from a dumb buffer, which each graphics driver has, and
// vgem, the driver without hardware.
func exportDumb(driver string, size int) (fd int, err error) {
	device, err := os.OpenFile(driver, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer device.Close() // with the handle of the buffer
	page := os.Getpagesize()
	dumb := drmCreateDumb{width: uint32(page), height: uint32(size / page), bpp: 8}
	if _, err := ioctl(device, ioctlCreateDumb, unsafe.Pointer(&dumb)); err != nil {
		return 0, os.NewSyscallError("create dumb buffer", err)
	}
	prime := drmPrimeHandle{handle: dumb.handle, flags: unix.O_CLOEXEC | unix.O_RDWR}
	if _, err := ioctl(device, ioctlPrimeHandleFD, unsafe.Pointer(&prime)); err != nil {
		return 0, os.NewSyscallError("export dumb buffer", err)
	}
	return int(prime.fd), nil
}

// VGEM returns the DRM device of the driver vgem, or "".
func VGEM() string {
	cards, _ := filepath.Glob("/sys/bus/*/devices/vgem/drm/card*") // a valid pattern
	if len(cards) == 0 {
		return ""
	}
	return "/dev/dri/" + filepath.Base(cards[0])
}
