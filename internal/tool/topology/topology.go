// Package topology reports a fabric's nodes and cables. [Run] scans the fabric; the
// other functions write the result in other programs' formats and check it.
package topology

import (
	"context"

	"github.com/ibkit/ibkit/fabric"
)

// Options are the [Run] options.
type Options struct {
	Source fabric.Source

	// Labels reads port labels.
	Labels bool
}

// Run scans a fabric. If the scan ends early, Run returns the partial fabric together
// with an error.
func Run(ctx context.Context, o Options) (*fabric.Fabric, error) {
	s, err := o.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	f, err := s.Fabric(ctx, fabric.DiscoverOptions{})
	if err == nil && o.Labels {
		err = f.ReadLabels(ctx, s.Client)
	}
	return f, err
}
