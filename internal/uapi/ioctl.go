package uapi

// iowr is _IOWR in <asm-generic/ioctl.h>: the number of an ioctl that reads and
// writes its argument.
func iowr(magic, number, size uintptr) uintptr {
	return ioctlReadWrite | size<<16 | magic<<8 | number
}
