//go:build !ppc64le

package uapi

// ioctlReadWrite is _IOC_READ|_IOC_WRITE in bits 30 and 31.
const ioctlReadWrite = 3 << 30
