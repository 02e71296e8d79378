package efa

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// An ah is an address handle: the adapter's number of a GID.
type ah struct{ id uint16 }

// NewAH creates the kernel's object.
func (d *device) NewAH(path provider.Path, _ uint32, create provider.Create) (any, error) {
	if !path.DGID.IsValid() {
		return nil, fmt.Errorf("path without a GID: %w", errors.ErrUnsupported)
	}
	var resp uapi.EFACreateAHResp
	if _, err := create(nil, uapi.Bytes(&resp)); err != nil {
		return nil, err
	}
	return &ah{resp.EFAAddressHandle}, nil
}
