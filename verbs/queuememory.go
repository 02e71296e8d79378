package verbs

import (
	"errors"
	"io"
	"io/fs"

	"github.com/ibkit/ibkit/internal/uapi"
)

// queueMemory is a registration of a queue's memory. It is no object of the context, because
// a queue's memory outlives the queue.
type queueMemory struct {
	context *Context
	handle  uint32
}

// Register registers a queue's memory in a protection domain that the context keeps for it.
func (d queueDevice) Register(addr uint64, length int, in []byte) (io.Closer, error) {
	c := d.context
	domain, err := c.queueDomain()
	if err != nil {
		return nil, err
	}
	core := uapi.RegMR{
		Start: addr, Length: uint64(length), HCAVA: addr, PDHandle: domain.handle, AccessFlags: uint32(AccessLocalWrite),
	}
	var resp uapi.RegMRResp
	if err := c.call(writeRequest("register queue", uapi.CmdRegMR, uapi.Bytes(&core), uapi.Bytes(&resp), in, nil)); err != nil {
		return nil, c.memoryLimit(uint64(length), err)
	}
	return queueMemory{c, resp.Handle}, nil
}

// Domain returns the driver's response to the creation of the protection domain for queues.
func (d queueDevice) Domain() ([]byte, error) {
	domain, err := d.context.queueDomain()
	if err != nil {
		return nil, err
	}
	return uapi.Bytes(&domain.vendor), nil
}

// A queueDomain is the protection domain for queues.
type queueDomain struct {
	handle uint32
	vendor uapi.AllocPDVendorResp
}

// queueDomain returns the protection domain for queues, which the kernel frees with the
// context.
func (c *Context) queueDomain() (*queueDomain, error) {
	c.queuePD.Lock()
	defer c.queuePD.Unlock()
	if c.queuePD.domain != nil {
		return c.queuePD.domain, nil
	}
	var core uapi.AllocPD
	var resp uapi.AllocPDResp
	var domain queueDomain
	if err := c.write("allocate PD of queues", uapi.CmdAllocPD, uapi.Bytes(&core), uapi.Bytes(&resp), uapi.Bytes(&domain.vendor)); err != nil {
		return nil, err
	}
	domain.handle = resp.Handle
	c.queuePD.domain = &domain
	return &domain, nil
}

// Close ends the registration. After the device's removal, the kernel has ended it.
func (m queueMemory) Close() error {
	r := newRequest("deregister queue", uapi.ObjectMR, uapi.MethodMRDestroy)
	r.handle(uapi.AttrDestroyMRHandle, m.handle)
	err := m.context.call(r)
	if errors.Is(err, ErrDeviceRemoved) || errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}
