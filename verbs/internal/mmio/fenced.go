//go:build !amd64

package mmio

import "unsafe"

// FencedStore32 is Store32 after a DeviceBarrier.
func FencedStore32(p unsafe.Pointer, v uint32) {
	DeviceBarrier()
	Store32(p, v)
}
