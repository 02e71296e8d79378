package irdma

import (
	"errors"
	"fmt"
	"os"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A device is an open device.
type device struct {
	provider.Device
	limits uapi.IRDMAAllocUcontextResp
	raw    bool            // the driver takes capacities as the caller has them
	queues queue.Table[qp] // by a completion's context minus 1: 0 is no queue pair

	page mmio.Page // doorbells
}

// The features in the response to GET_CONTEXT (defs.h, IRDMA_FEATURE_*).
const (
	featureRTSEvent = 1 << 0
	featureResize   = 1 << 1 // a completion queue's shadow area is registered by itself
	featureLongCQE  = 1 << 5 // completions have 64 bytes
	featureAtomics  = 1 << 6
	featureSRQ      = 1 << 7
)

// generations are the known adapter generations (irdma.h, enum irdma_vers).
const generations = 3

// minimum is the smallest work queue in work requests, if the driver reports none (defs.h,
// IRDMA_QP_SW_MIN_WQSIZE).
const minimum = 8

// New returns an open device's provider. response is the driver's response to GET_CONTEXT, a
// struct irdma_alloc_ucontext_resp. The error is errors.ErrUnsupported for drivers and
// processors that the package does not cover.
func New(d provider.Device, response []byte) (provider.Provider, error) {
	r := uapi.Decode[uapi.IRDMAAllocUcontextResp](response)
	switch {
	case !mmio.Available:
		return nil, fmt.Errorf("irdma on this processor: %w", errors.ErrUnsupported)
	case r.HWRev == 0:
		return nil, fmt.Errorf("the driver i40iw, before irdma: %w", errors.ErrUnsupported)
	case r.HWRev > generations:
		return nil, fmt.Errorf("adapter generation %d: got support for %d: %w", r.HWRev, generations, errors.ErrUnsupported)
	}
	if r.CompMask&uapi.IRDMAMinWQSize == 0 {
		r.MinHWWQSize = minimum
	}
	if chunk := r.MaxHWSQChunk; chunk == 0 || chunk&(chunk-1) != 0 || chunk > maxQuanta || r.MaxHWWQQuanta > maxRing || r.MaxHWRQQuanta > maxRing ||
		r.MaxHWSRQQuanta > maxSRQ || r.MaxHWWQFrags > maxFragments || r.MaxHWCQSize > maxEntries || r.MinHWWQSize > 1<<10 {
		return nil, fmt.Errorf("limits of the adapter %+v: %w", r, provider.ErrCorrupt)
	}
	return &device{Device: d, limits: r, raw: r.CompMask&uapi.IRDMAUseRawAttr != 0}, nil
}

// The largest limits that the layouts have room for: 15 bits for a work request's index in
// completions, 4 bits for the fragments after the first, 20 bits for a completion's index, 24
// bits for a queue pair number.
const (
	maxQueues    = 1 << 24
	maxRing      = 1 << 15 // quanta
	maxSRQ       = 1 << 20
	maxQuanta    = 8 // of a work request
	maxFragments = 14
	maxEntries   = 1 << 20
)

// has reports a feature.
func (d *device) has(feature uint64) bool { return d.limits.FeatureFlags&feature != 0 }

// first reports the layouts of the first generation.
func (d *device) first() bool { return d.limits.HWRev == 1 }

// ensurePage maps the doorbells.
func (d *device) ensurePage() error {
	return d.page.Ensure(func() ([]byte, error) { return d.Map(d.limits.DBMmapKey, os.Getpagesize()) })
}

// The doorbells' offsets (umain.h, IRDMA_DB_CQ_OFFSET).
const (
	bellQP = 0
	bellCQ = 64
)

// ring writes a queue's number to a doorbell, after all earlier stores.
func (d *device) ring(offset int, number uint32) {
	mmio.DeviceBarrier()
	mmio.Store32(d.page.At(offset), mmio.LE32(number))
}

// Close unmaps the doorbells.
func (d *device) Close() error { return d.page.Close(d.Unmap) }

// RegisterMR returns the registration type of ordinary memory.
func (d *device) RegisterMR() (in, out []byte) {
	return uapi.Bytes(&uapi.IRDMAMemRegReq{RegType: uapi.IRDMARegMem}), nil
}
