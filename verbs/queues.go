package verbs

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/uapi"
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
	b, err := c.kernel.mmap(c.fd, int64(offset), length)
	if err != nil {
		return nil, &CallError{Op: fmt.Sprintf("map %d bytes of queue", length), Device: c.name, Err: err}
	}
	return b, nil
}

// Unmap gives it back.
func (d queueDevice) Unmap(b []byte) error { return d.context.kernel.munmap(b) }

// NotifyCQ arms a completion queue.
func (d queueDevice) NotifyCQ(cq uint32, solicitedOnly bool) error {
	core := uapi.ReqNotifyCQ{CQHandle: cq}
	if solicitedOnly {
		core.SolicitedOnly = 1
	}
	return d.context.write("arm CQ", uapi.CmdReqNotifyCQ, bytesOf(&core), nil, nil)
}

// Doorbell makes the doorbell of a queue pair.
func (d queueDevice) Doorbell(qp uint32) provider.Doorbell {
	b := &doorbell{context: d.context}
	b.core = uapi.PostSend{QPHandle: qp, WQESize: uapi.SendWRSize}
	b.request = writeRequest("ring doorbell", uapi.CmdPostSend, bytesOf(&b.core), bytesOf(&b.resp), nil, nil)
	b.frame = b.request.prepare(&b.pins, d.context.driver)
	return b
}

// A doorbell is a request that is made once and sent often.
type doorbell struct {
	context *Context
	core    uapi.PostSend
	resp    uapi.PostSendResp
	request *request
	frame   []byte
	pins    runtime.Pinner
}

// Ring has the kernel look at the queue pair's send queue.
func (b *doorbell) Ring() error {
	err := b.context.kernel.ioctl(b.context.fd, b.frame)
	if err == nil {
		return nil
	}
	return &CallError{Op: "ring doorbell", Device: b.context.name, Method: "WRITE POST_SEND", Err: err}
}

// Close lets go of the request's memory.
func (b *doorbell) Close() { b.pins.Unpin() }

// numaNode returns the node that the device is plugged in at, nil where there are
// none or where it is plugged in nowhere.
func (c *Context) numaNode() *int {
	var problems []error
	dir := sysfs.Default.Dir(&problems, filepath.Join("class/infiniband", c.name, "device"))
	if node := dir.Int("numa_node"); node != nil && *node >= 0 {
		return node
	}
	return nil
}
