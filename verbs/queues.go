package verbs

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/verbs/provider"
	"github.com/ibkit/ibkit/verbs/rxe"
)

// ErrNoProvider means that no package here knows the driver's queues, so that
// there are no CQs, QPs, SRQs and AHs of its devices.
var ErrNoProvider = errors.New("the queues of this driver are not known")

// providers are those that there are.
var providers = map[DriverID]func(provider.Device) provider.Provider{
	DriverRXE: rxe.New,
}

// findProvider finds the driver's.
func (c *Context) findProvider() {
	if f := providers[c.driver]; f != nil {
		c.provider = f(queueDevice{c})
	}
}

// CheckQueues returns nil of a device that data can be moved with, and ErrNoProvider
// of one whose driver's queues no package here knows.
func (c *Context) CheckQueues() error {
	if c.provider == nil {
		return c.noProvider("map queues")
	}
	return nil
}

func (c *Context) noProvider(op string) error {
	return fmt.Errorf("%s of %s (%v): %w", op, c.name, c.driver, ErrNoProvider)
}

// queueDevice is what a provider may use of a context.
type queueDevice struct{ context *Context }

// Map maps memory that the driver offers.
func (d queueDevice) Map(offset uint64, length int) ([]byte, error) {
	c := d.context
	c.lock.RLock()
	defer c.lock.RUnlock()
	if c.closed {
		return nil, closedError("map queue", c.name)
	}
	b, err := c.mapQueue(int64(offset), length)
	if err != nil {
		return nil, &CallError{Op: fmt.Sprintf("map %d bytes of queue", length), Device: c.name, Err: err}
	}
	return b, nil
}

// Unmap gives it back.
func (d queueDevice) Unmap(b []byte) error { return d.context.unmapQueue(b) }
