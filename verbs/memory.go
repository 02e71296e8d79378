package verbs

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/internal/dmamem"
)

// Memory is memory outside Go's heap for [PD.RegisterMR], initially zero. The garbage
// collector unmaps Memory that is dropped without Close, but only if Bytes was never
// called. Its methods may be called concurrently.
type Memory struct{ pages *dmamem.Memory }

// MemoryOptions select the pages of Memory. The zero value means pages with the usual size.
type MemoryOptions struct {
	// Huge selects huge pages, which the administrator has to reserve (vm.nr_hugepages).
	Huge bool

	// Node is the preferred NUMA node; nil: the device's.
	Node *int
}

// NewMemory maps memory near the device. The length is at least 1 byte.
func (c *Context) NewMemory(length int, o MemoryOptions) (*Memory, error) {
	if o.Node == nil {
		o.Node = c.NUMANode()
	}
	m, err := dmamem.New(length, dmamem.Options{Huge: o.Huge, Node: o.Node})
	if err != nil {
		return nil, fmt.Errorf("allocate memory for %s: %w", c.name, err)
	}
	return &Memory{m}, nil
}

// Bytes returns the memory, or nil after Close. Slices are invalid after Close: an access
// is a fault.
func (m *Memory) Bytes() []byte { return m.pages.Bytes() }

// Len returns the requested length in bytes.
func (m *Memory) Len() int { return m.pages.Len() }

// Addr returns the first byte's address.
func (m *Memory) Addr() uint64 { return m.pages.Addr() }

// Close unmaps the memory. It returns ErrBusy while the memory is registered, and
// fs.ErrClosed if it is closed already.
func (m *Memory) Close() error {
	err := m.pages.Close()
	if errors.Is(err, dmamem.ErrRegistered) {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}
