package uapi

// ioctlReadWrite is _IOC_READ|_IOC_WRITE in its place, bits 29 to 31, of which
// powerpc uses 30 and 31 (<asm/ioctl.h>).
const ioctlReadWrite = 6 << 29
