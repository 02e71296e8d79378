package irdma

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// An ah is an address handle: the number of the adapter's.
type ah struct{ id uint32 }

// maxAH is the largest number that work requests have room for.
const maxAH = 1<<17 - 1

// NewAH creates the kernel's object.
func (d *device) NewAH(path provider.Path, _ uint32, create provider.Create) (any, error) {
	if !path.DGID.IsValid() {
		return nil, fmt.Errorf("path without a GID: %w", errors.ErrUnsupported)
	}
	var resp uapi.IRDMACreateAHResp
	if _, err := create(nil, uapi.Bytes(&resp)); err != nil {
		return nil, err
	}
	if resp.AHID > maxAH {
		return nil, fmt.Errorf("address handle %#x, work requests have 17 bits for it: %w", resp.AHID, provider.ErrCorrupt)
	}
	return &ah{resp.AHID}, nil
}
