package uapi

// ioctlReadWrite is _IOC_READ|_IOC_WRITE in bits 29 to 31. powerpc uses bits 30 and
// 31 for them (<asm/ioctl.h>).
const ioctlReadWrite = 6 << 29
