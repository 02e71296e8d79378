package mlx5

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// New returns an open device's provider. response is the driver's response to
// GET_CONTEXT, a struct mlx5_ib_alloc_ucontext_resp. The error is errors.ErrUnsupported
// for a kernel or an adapter with another queue layout.
func New(d provider.Device, response []byte) (provider.Provider, error) {
	r := uapi.Decode[uapi.MLX5AllocUcontextResp](response)
	switch {
	case !mmio.Available:
		return nil, fmt.Errorf("mlx5 on this processor: %w", errors.ErrUnsupported)
	case r.CQEVersion != cqeVersion:
		return nil, fmt.Errorf("completions of version %d, want %d (Connect-IB or old firmware): %w", r.CQEVersion, cqeVersion, errors.ErrUnsupported)
	case r.TotBFRegs != 0:
		return nil, fmt.Errorf("static doorbell pages (Linux before 5.7): %w", errors.ErrUnsupported)
	}
	if err := checkLimits(&r); err != nil {
		return nil, err
	}
	e, err := readEnvironment(os.Getenv)
	if err != nil {
		return nil, err
	}
	return &device{Device: d, limits: r, environment: e}, nil
}

// checkLimits rejects limits that contradict this package's layouts.
func checkLimits(r *uapi.MLX5AllocUcontextResp) error {
	switch size := r.BFRegSize; {
	case r.ResponseLength < uint32(unsafe.Offsetof(r.CQEVersion)+unsafe.Sizeof(r.CQEVersion)):
		return fmt.Errorf("GET_CONTEXT: got a response of %d bytes: %w", r.ResponseLength, provider.ErrCorrupt)
	case size != 0 && (size&(size-1) != 0 || size < 2*blockSize || size > (pageSize-bfOffset)/registersPerPage):
		return fmt.Errorf("GET_CONTEXT: got doorbell registers of %d bytes: %w", size, provider.ErrCorrupt)
	case r.MaxSQDescSize < blockSize || r.MaxRQDescSize < segmentSize:
		return fmt.Errorf("GET_CONTEXT: got work requests of at most %d and %d bytes: %w", r.MaxSQDescSize, r.MaxRQDescSize, provider.ErrCorrupt)
	case r.MaxSendWQEBB == 0 || r.MaxSendWQEBB > maxQueue:
		return fmt.Errorf("GET_CONTEXT: got send queues of at most %d blocks: %w", r.MaxSendWQEBB, provider.ErrCorrupt)
	case r.MaxRecvWR > maxQueue:
		return fmt.Errorf("GET_CONTEXT: got receive queues of at most %d work requests: %w", r.MaxRecvWR, provider.ErrCorrupt)
	}
	return nil
}

// maxQueue is a queue's maximum size: its logarithm has 4 bits (log_sq_size and
// log_rq_size in <linux/mlx5/mlx5_ifc.h>). The doorbell record's 16 bits would not
// distinguish a full queue with 1<<16 entries from an empty queue.
const maxQueue = 1 << 15

// cqeVersion is the completion layout with a user index
// (mlx5_ib_alloc_ucontext_resp.cqe_version).
const cqeVersion = 1

// A device is an open device.
type device struct {
	provider.Device
	environment
	limits uapi.MLX5AllocUcontextResp
	users  queue.Table[user]

	pages  sync.Mutex
	common *page      // uncached, for the completion queue doorbells
	mapped []*page    // pages with queue pair registers
	free   []register // from closed queue pairs
}

// Close unmaps the doorbell pages. The kernel frees them with the device file.
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
