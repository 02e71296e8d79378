package efa

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A device is an open device.
type device struct {
	provider.Device
	context uapi.EFAAllocUcontextResp
	limits  uapi.EFAQueryDeviceResp
	queues  [1 << 16]atomic.Pointer[qp] // by number; a closed queue pair stays as a tombstone
}

// maxSubCQs is the largest known number of rings in a completion queue, with room for more.
const maxSubCQs = 64

// New returns an open device's provider. response is the driver's response to GET_CONTEXT, a
// struct efa_ibv_alloc_ucontext_resp. The error is errors.ErrUnsupported for drivers and
// processors that the package does not cover.
func New(d provider.Device, response []byte) (provider.Provider, error) {
	r := uapi.Decode[uapi.EFAAllocUcontextResp](response)
	const needs = uapi.EFASuppQueryDevice | uapi.EFASuppCreateAH
	switch {
	case !mmio.Available:
		return nil, fmt.Errorf("efa on this processor: %w", errors.ErrUnsupported)
	case r.CmdsSuppUdataMask&needs != needs:
		return nil, fmt.Errorf("driver without limits or address handle numbers (%#x): %w", r.CmdsSuppUdataMask, errors.ErrUnsupported)
	case r.SubCQsPerCQ == 0 || r.SubCQsPerCQ > maxSubCQs || r.MaxLLQSize < smallWQE:
		return nil, fmt.Errorf("limits of the adapter %+v: %w", r, provider.ErrCorrupt)
	}
	r.InlineBufSizeEx = min(max(r.InlineBufSize, r.InlineBufSizeEx), largeWQE-metaSize)
	e := &device{Device: d, context: r}
	if err := d.QueryDevice(uapi.Bytes(&e.limits)); err != nil {
		return nil, err
	}
	return e, nil
}

// has reports a capability.
func (d *device) has(capability uint32) bool { return d.limits.DeviceCaps&capability != 0 }

// NewSRQ returns an error: the adapter has no shared receive queues.
func (d *device) NewSRQ(provider.SRQAttr, provider.Create) (provider.SRQ, error) {
	return nil, fmt.Errorf("shared receive queue of efa: %w", errors.ErrUnsupported)
}

// Close has no effect: each queue has its own mappings.
func (d *device) Close() error { return nil }

// pages returns a size in whole pages of the processor.
func pages(size uint64) uint64 {
	page := uint64(os.Getpagesize())
	return (size + page - 1) &^ (page - 1)
}
