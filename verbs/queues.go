package verbs

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/verbs/provider"
	"github.com/ibkit/ibkit/verbs/rxe"
)

// ErrNoProvider is returned for a device whose driver has no provider: CQs, QPs,
// SRQs and AHs cannot be created.
var ErrNoProvider = errors.New("the queues of this driver are not supported")

// providers are the constructors of providers by driver.
var providers = map[DriverID]func(provider.Device) provider.Provider{
	DriverRXE: rxe.New,
}

// findProvider creates the provider of the driver, if there is one.
func (c *Context) findProvider() {
	if f := providers[c.driver]; f != nil {
		c.provider = f(queueDevice{c})
	}
}

// CheckQueues returns nil if queues can be created on the device, and ErrNoProvider
// if not.
func (c *Context) CheckQueues() error {
	if c.provider == nil {
		return c.noProvider("map queues")
	}
	return nil
}

func (c *Context) noProvider(op string) error {
	return fmt.Errorf("%s of %s (%v): %w", op, c.name, c.driver, ErrNoProvider)
}

// queueDevice gives a provider access to a context.
type queueDevice struct{ context *Context }

// Map maps memory of the driver.
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

// Unmap undoes Map.
func (d queueDevice) Unmap(b []byte) error { return d.context.unmapQueue(b) }
