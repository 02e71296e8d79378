package pvrdma

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// sourceValid marks an address vector's path bits as valid (verbs.c,
// pvrdma_create_ah).
const sourceValid = 0x80

// NewAH returns the work request address vector. The kernel needs no object.
func (d *device) NewAH(path provider.Path, domain uint32, _ provider.Create) (any, error) {
	if !path.DGID.IsValid() {
		return nil, fmt.Errorf("path without a GID: %w", errors.ErrUnsupported)
	}
	mac, err := d.MAC(path)
	if err != nil {
		return nil, err
	}
	return &uapi.PVRDMAAV{
		PortPD:            domain | uint32(path.Port)<<24,
		SLTClassFlowLabel: uint32(path.TrafficClass)<<20 | path.FlowLabel&(1<<20-1),
		DGID:              path.DGID.As16(),
		SrcPathBits:       path.SrcPathBits&0x7f | sourceValid,
		GIDIndex:          path.SGIDIndex,
		HopLimit:          path.HopLimit,
		DMAC:              mac,
	}, nil
}
