// Package topology reports the nodes and cables of a fabric. [Run] scans the fabric; the
// other functions write the result in the formats of other programs and check it.
package topology

import (
	"context"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options of [Run]. With the zero value and a function Open, Run
// scans the whole subnet.
type Options struct {
	// Open opens the port from which to scan.
	Open func(context.Context) (umad.Port, error)

	Client umad.ClientOptions

	// NoExtendedPortInfo omits the vendor attribute that distinguishes FDR10
	// from QDR.
	NoExtendedPortInfo bool

	// Labels reads the labels of ports.
	Labels bool

	// Progress, if not nil, is called during the scan.
	Progress func(fabric.Progress)

	// Discover replaces [fabric.Discover] if it is not nil.
	Discover fabric.Discoverer
}

// Run scans a fabric. If the scan ends early, Run returns the partial fabric together
// with an error.
func Run(ctx context.Context, o Options) (*fabric.Fabric, error) {
	port, err := o.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer port.Close()
	discover := o.Discover
	if discover == nil {
		discover = fabric.Discover
	}
	client := umad.NewClient(port, o.Client)
	f, err := discover(ctx, client, fabric.DiscoverOptions{
		NoExtendedPortInfo: o.NoExtendedPortInfo,
		Progress:           o.Progress,
	})
	if err == nil && o.Labels {
		err = f.ReadLabels(ctx, client)
	}
	return f, err
}
