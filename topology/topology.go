// Package topology reports the nodes and cables of a fabric. [Run] scans the fabric or
// reads a cache; the other functions write the result in the formats of other programs
// and check it.
package topology

import (
	"context"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options of [Run]. With the zero value and a function Open, Run
// scans the whole subnet.
type Options struct {
	// Open opens the port from which to scan. It is not called with LoadCache.
	Open func(context.Context) (umad.Port, error)

	Client umad.ClientOptions

	// LoadCache is the path of a cache file to read instead of scanning.
	LoadCache string

	// NoExtendedPortInfo omits the vendor attribute that distinguishes FDR10
	// from QDR.
	NoExtendedPortInfo bool

	// Progress, if not nil, is called during the scan.
	Progress func(fabric.Progress)
}

// Run scans a fabric or reads it from a cache. If the scan ends early, Run returns
// the partial fabric together with an error.
func Run(ctx context.Context, o Options) (*fabric.Fabric, error) {
	if o.LoadCache != "" {
		return fabric.ReadCacheFile(o.LoadCache)
	}
	port, err := o.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer port.Close()
	return fabric.Discover(ctx, umad.NewClient(port, o.Client), fabric.DiscoverOptions{
		NoExtendedPortInfo: o.NoExtendedPortInfo,
		Progress:           o.Progress,
	})
}
