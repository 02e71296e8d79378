package bnxt

import (
	"unsafe"

	"github.com/ibkit/ibkit/internal/dmamem"
)

// newMemory allocates memory near the device.
func (d *device) newMemory(size int) (*dmamem.Memory, error) {
	return dmamem.New(size, dmamem.Options{Node: d.NUMANode()})
}

// pages returns a size in whole pages.
func (d *device) pages(size uint32) int {
	page := int(d.limits.PgSize)
	return (int(size) + page - 1) &^ (page - 1)
}

// view returns a part of the memory as elements.
func view[T any](m *dmamem.Memory, offset int, count uint32) []T {
	if count == 0 {
		return nil
	}
	var element T
	b := m.Bytes()[offset : offset+int(count)*int(unsafe.Sizeof(element))]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), count)
}
