package irdma

import (
	"errors"
	"io"
	"unsafe"

	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/internal/uapi"
)

// The adapter's sizes in bytes (defs.h).
const (
	pageSize    = 4096
	quantumSize = 32
	shadowSize  = 64
)

// A quantum is a work queue's unit. Words have the adapter's byte order.
type quantum [quantumSize / 8]uint64

// A shadow is a queue's shadow area: words that the process writes and the adapter reads.
type shadow [shadowSize / 8]uint64

// A memory is a queue's memory that is registered with the driver.
type memory struct {
	*dmamem.Memory
	registration io.Closer
}

// newMemory allocates and registers memory near the device.
func (d *device) newMemory(size int, reg uapi.IRDMAMemRegReq) (m memory, err error) {
	if m.Memory, err = dmamem.New(size, dmamem.Options{Node: d.NUMANode()}); err != nil {
		return m, err
	}
	if m.registration, err = d.Register(m.Addr(), m.Len(), uapi.Bytes(&reg)); err != nil {
		return memory{}, errors.Join(err, m.Memory.Close())
	}
	return m, nil
}

// pages returns the size of quanta or entries in whole pages of the adapter, in bytes.
func pages(count uint32, size int) int { return (int(count)*size + pageSize - 1) &^ (pageSize - 1) }

// quanta returns a part of the memory as quanta.
func (m *memory) quanta(offset int, count uint32) []quantum {
	return unsafe.Slice((*quantum)(unsafe.Pointer(&m.Bytes()[offset])), count)
}

// shadow returns the shadow area at an offset.
func (m *memory) shadow(offset int) *shadow {
	return (*shadow)(unsafe.Pointer(unsafe.SliceData(m.Bytes()[offset : offset+shadowSize])))
}

// Close ends the registration and unmaps the memory.
func (m *memory) Close() error {
	if m.Memory == nil {
		return nil
	}
	return errors.Join(m.registration.Close(), m.Memory.Close())
}
