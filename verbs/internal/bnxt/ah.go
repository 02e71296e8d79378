package bnxt

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// An ah is an address handle: the number of the adapter's.
type ah struct{ id uint32 }

// A sharedPage is the page in which the driver returns the number of the newest address handle.
type sharedPage struct {
	lock sync.Mutex
	page mmio.Page
}

// NewAH creates the kernel's object and reads its number before another is created.
func (d *device) NewAH(path provider.Path, _ uint32, create provider.Create) (any, error) {
	if !path.DGID.IsValid() {
		return nil, fmt.Errorf("path without a GID: %w", errors.ErrUnsupported)
	}
	s := &d.shared
	s.lock.Lock()
	defer s.lock.Unlock()
	if err := s.page.Ensure(func() ([]byte, error) { return d.Map(0, int(d.limits.PgSize)) }); err != nil {
		return nil, err
	}
	if _, err := create(nil, nil); err != nil {
		return nil, err
	}
	number := atomic.LoadUint32((*uint32)(s.page.At(uapi.BNXTAVIDOffset)))
	if number > numberMask {
		return nil, fmt.Errorf("address handle %#x, work requests have 20 bits for it: %w", number, provider.ErrCorrupt)
	}
	return &ah{number}, nil
}
