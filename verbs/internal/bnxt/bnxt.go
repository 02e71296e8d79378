package bnxt

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A device is an open device.
type device struct {
	provider.Device
	limits     uapi.BNXTContextResp
	generation uint8
	queues     queue.Table[qp] // by a completion's handle minus 1: 0 is no queue pair

	page     mmio.Page // doorbells
	flushing sync.Mutex
	shared   sharedPage
}

// The layout limits: 20 bits for a queue's number and a shared receive queue's entry, 16 bits
// for a work request's index, 24 bits for an index in doorbells.
const (
	maxQueues  = 1 << 20
	maxRing    = 1 << 16
	maxEntries = 1 << 24
	maxSRQ     = 1 << 20
)

// The generations.
const (
	beforeP5 = 4
	p5       = 5
	p7       = 7
)

// generationOf returns a chip's generation, or 0 (main.c, bnxt_re_is_chip_gen_p5_p7). Chips
// before generation p5 have the numbers of the families NetXtreme-E and Stingray.
func generationOf(chip uint16) uint8 {
	switch chip {
	case 0x1750, 0x1751, 0x1752:
		return p5
	case 0x1760, 0xd818:
		return p7
	}
	if family := chip >> 8; family == 0x16 || family == 0xd8 {
		return beforeP5
	}
	return 0
}

// New returns an open device's provider. response is the driver's response to GET_CONTEXT, a
// struct bnxt_re_uctx_resp. The error is errors.ErrUnsupported for adapters and processors that
// the package does not cover.
func New(d provider.Device, response []byte) (provider.Provider, error) {
	r := uapi.Decode[uapi.BNXTContextResp](response)
	p := &device{Device: d, limits: r, generation: beforeP5}
	if p.has(uapi.BNXTHaveChip) {
		p.generation = generationOf(uint16(r.ChipID0))
	}
	if !p.has(uapi.BNXTHaveMode) {
		p.limits.Mode = 0
	}
	switch {
	case !mmio.Available:
		return nil, fmt.Errorf("bnxt_re on this processor: %w", errors.ErrUnsupported)
	case p.generation == 0:
		return nil, fmt.Errorf("chip %#x: %w", uint16(r.ChipID0), errors.ErrUnsupported)
	case p.limits.Mode > uapi.BNXTModeVariable:
		return nil, fmt.Errorf("work request mode %d: %w", r.Mode, errors.ErrUnsupported)
	case r.CQESz != entrySize || r.PgSize < minPage || r.PgSize > maxPage || r.PgSize&(r.PgSize-1) != 0 || r.MaxCQD == 0 || r.MaxCQD >= maxEntries:
		return nil, fmt.Errorf("limits of the adapter %+v: %w", r, provider.ErrCorrupt)
	}
	return p, nil
}

// The known page sizes of drivers.
const (
	minPage = 1 << 12
	maxPage = 1 << 16
)

// has reports a property in the response to GET_CONTEXT.
func (d *device) has(bit uint64) bool { return d.limits.CompMask&bit != 0 }

// variable reports that a work request uses only its own slots.
func (d *device) variable() bool { return d.limits.Mode == uapi.BNXTModeVariable }

// ensurePage maps the doorbells, which the driver returns with a protection domain.
func (d *device) ensurePage() error {
	return d.page.Ensure(func() ([]byte, error) {
		response, err := d.Domain()
		if err != nil {
			return nil, err
		}
		return d.Map(uapi.Decode[uapi.BNXTPDResp](response).DBR, int(d.limits.PgSize))
	})
}

// The doorbell types (bnxt_re-abi.h, enum bnxt_re_db_que_type).
const (
	bellSQ       = 0
	bellRQ       = 1
	bellSRQ      = 2
	bellSRQArm   = 3
	bellCQ       = 4
	bellCQArmSol = 5
	bellCQArm    = 6
	bellCQCutoff = 9

	bellValid  = 1 << 26 // in the number
	bellType   = 28      // positions: in the number
	bellEpoch  = 24      // in the index
	bellToggle = 25
)

// numberMask are the bits of a queue's or an address handle's number.
const numberMask = 1<<20 - 1

// ring writes to the doorbell, after all earlier stores. index has the epoch and the toggle.
func (d *device) ring(kind, number, index uint32) {
	high := number&numberMask | bellValid | kind<<bellType
	mmio.DeviceBarrier()
	mmio.Store64(d.page.At(0), mmio.LE64(uint64(high)<<32|uint64(index)))
}

// Close unmaps the doorbells and the shared page.
func (d *device) Close() error {
	return errors.Join(d.page.Close(d.Unmap), d.shared.page.Close(d.Unmap))
}
