package uapi

// ioctlReadWrite is _IOC_READ|_IOC_WRITE: bits 30 and 31 of the number, on powerpc, too
// (<asm-generic/ioctl.h>, <asm/ioctl.h>).
const ioctlReadWrite = 3 << 30

// iowr is _IOWR in <asm-generic/ioctl.h>: the number of an ioctl that reads and
// writes its argument.
func iowr(magic, number, size uintptr) uintptr {
	return ioctlReadWrite | size<<16 | magic<<8 | number
}
