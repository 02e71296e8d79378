package pvrdma

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// New returns an open device's provider. response is the driver's response to
// GET_CONTEXT, a struct pvrdma_alloc_ucontext_resp. The error is errors.ErrUnsupported for a
// processor without the adapter: the store order relies on x86.
func New(d provider.Device, response []byte) (provider.Provider, error) {
	switch {
	case runtime.GOARCH != "amd64":
		return nil, fmt.Errorf("vmw_pvrdma on this processor: %w", errors.ErrUnsupported)
	case uapi.Decode[uapi.PVRDMAAllocUcontextResp](response).QPTabSize == 0:
		return nil, fmt.Errorf("vmw_pvrdma without queue pairs: %w", provider.ErrCorrupt)
	}
	return &device{Device: d}, nil
}

// A device is an open device.
type device struct {
	provider.Device

	// queues are the queue pairs by their handles' low 16 bits, which
	// completions contain.
	queues [1 << 16]atomic.Pointer[qp]

	page mmio.Page // doorbells
}

// ensurePage maps the doorbells.
func (d *device) ensurePage() error {
	return d.page.Ensure(func() ([]byte, error) { return d.Map(0, os.Getpagesize()) })
}

// ring writes to a doorbell, after all earlier stores: x86 keeps their order.
func (d *device) ring(offset int, value uint32) {
	provider.Store32((*uint32)(d.page.At(offset)), value)
}

// Close unmaps the doorbells.
func (d *device) Close() error { return d.page.Close(d.Unmap) }

// find returns a completion's queue pair, or nil.
func (d *device) find(handle uint64) *qp { return d.queues[uint16(handle)].Load() }

// RoundQP returns a capacity that the rings have: powers of 2, at least 1 SGE, and no
// inline data.
func (d *device) RoundQP(c provider.QPCap) provider.QPCap {
	c.MaxSendWR, c.MaxSendSGE, c.MaxInline = queue.RoundUp(c.MaxSendWR), max(c.MaxSendSGE, 1), 0
	c.MaxRecvWR, c.MaxRecvSGE = queue.RoundUp(c.MaxRecvWR), max(c.MaxRecvSGE, 1)
	return c
}

// RoundSRQ returns a capacity that the ring has.
func (d *device) RoundSRQ(a provider.SRQAttr) provider.SRQAttr {
	return provider.SRQAttr{MaxWR: queue.RoundUp(a.MaxWR), MaxSGE: max(a.MaxSGE, 1)}
}

// closing releases memory that no object uses, after an error.
func closing(err error, all ...*dmamem.Memory) error {
	for _, m := range all {
		if m != nil {
			err = errors.Join(err, m.Close())
		}
	}
	return err
}
