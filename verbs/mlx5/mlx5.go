package mlx5

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// New returns the provider of an open device. response is the driver's response to
// GET_CONTEXT, a struct mlx5_ib_alloc_ucontext_resp. The error is errors.ErrUnsupported
// for a kernel or an adapter whose queues have another layout.
func New(d provider.Device, response []byte) (provider.Provider, error) {
	r := uapi.Decode[uapi.MLX5AllocUcontextResp](response)
	switch {
	case !haveBarriers:
		return nil, fmt.Errorf("mlx5 on this processor: %w", errors.ErrUnsupported)
	case r.CQEVersion != cqeVersion:
		return nil, fmt.Errorf("completions of version %d, want %d (Connect-IB or old firmware): %w", r.CQEVersion, cqeVersion, errors.ErrUnsupported)
	case r.TotBFRegs != 0:
		return nil, fmt.Errorf("static doorbell pages (Linux before 5.7): %w", errors.ErrUnsupported)
	}
	return &device{Device: d, limits: r}, nil
}

// cqeVersion is the layout of completions with a user index
// (mlx5_ib_alloc_ucontext_resp.cqe_version).
const cqeVersion = 1

// A device is an open device.
type device struct {
	provider.Device
	limits uapi.MLX5AllocUcontextResp
	users  table

	pages  sync.Mutex
	common *page      // uncached, for the doorbells of completion queues
	mapped []*page    // pages with registers of queue pairs
	free   []register // of queue pairs that were closed
}

// Close unmaps the doorbell pages. The kernel frees them with the file of the device.
func (d *device) Close() error {
	var errs []error
	if d.common != nil {
		errs = append(errs, d.Unmap(d.common.memory))
	}
	for _, p := range d.mapped {
		errs = append(errs, d.Unmap(p.memory))
	}
	return errors.Join(errs...)
}
