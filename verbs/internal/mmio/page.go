package mmio

import (
	"sync"
	"unsafe"
)

// A Page is a page with registers that the queues of a device share. It is mapped with the
// first queue.
type Page struct {
	lock   sync.Mutex
	memory []byte
}

// Ensure maps the page, unless it is mapped.
func (p *Page) Ensure(mapIt func() ([]byte, error)) (err error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.memory == nil {
		p.memory, err = mapIt()
	}
	return err
}

// At returns a register's address.
func (p *Page) At(offset int) unsafe.Pointer { return unsafe.Pointer(&p.memory[offset]) }

// Close unmaps the page, if it is mapped.
func (p *Page) Close(unmap func([]byte) error) error {
	if p.memory == nil {
		return nil
	}
	return unmap(p.memory)
}
