// Package linkinfo reports the links of a fabric: what each runs at, what it
// could run at, and what is wrong with it.
package linkinfo

import (
	"context"
	"fmt"
	"iter"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Options say which links to report. The zero value, but for Open, reports the
// whole subnet.
type Options struct {
	// Open opens the port to scan from. It is not called with LoadCache.
	Open func(context.Context) (umad.Port, error)

	Client umad.ClientOptions

	// SMLID is where the subnet administrator is asked for PortGUID; 0: the
	// subnet manager of the local port.
	SMLID ib.LID

	// LoadCache names a cache file to be read instead of a scan.
	LoadCache string

	// Partial scans and reports the surroundings of one node only. It is set
	// where Route or PortGUID says which.
	Partial  bool
	Route    mad.Route // the node at the end of a directed route
	PortGUID ib.GUID   // the node with that port; 0: Route counts
	MaxHops  int       // how far around it to look; 0: one hop

	NoExtendedPortInfo bool

	Progress func(fabric.Progress)
}

// Result is a fabric and the report on it.
type Result struct {
	Fabric *fabric.Fabric

	// Node is the node that a partial scan was asked about.
	// nil: the whole fabric was asked for, or the node was not found.
	Node *fabric.Node

	// Warnings are what went wrong on the way and did not stop the report.
	Warnings []error
}

// Run finds the links of a fabric. Where the scan breaks off in the middle it
// returns what was found so far together with the error.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.LoadCache != "" {
		return fromCache(o)
	}
	port, err := o.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer port.Close()

	client := umad.NewClient(port, o.Client)
	scan := fabric.DiscoverOptions{
		MaxHops:            o.MaxHops,
		NoExtendedPortInfo: o.NoExtendedPortInfo,
		Progress:           o.Progress,
	}
	r := &Result{}
	if o.Partial {
		scan.MaxHops = max(scan.MaxHops, 1)
		scan.From, err = start(ctx, client, o)
		if err != nil {
			// As iblinkinfo does: a whole scan can still find the node, and it
			// works where the subnet administrator does not.
			r.Warnings = append(r.Warnings, fmt.Errorf("%w; scanning the whole fabric instead", err))
			scan.From, scan.MaxHops = umad.Target{}, 0
		}
	}
	r.Fabric, err = fabric.Discover(ctx, client, scan)
	if r.Fabric == nil {
		return nil, err
	}
	r.Node = r.find(o)
	return r, err
}

func fromCache(o Options) (*Result, error) {
	f, err := fabric.ReadCacheFile(o.LoadCache)
	if err != nil {
		return nil, err
	}
	r := &Result{Fabric: f}
	r.Node = r.find(o)
	return r, nil
}

// start returns where a partial scan begins.
func start(ctx context.Context, c *umad.Client, o Options) (umad.Target, error) {
	if o.PortGUID == 0 {
		return umad.Target{Route: o.Route}, nil
	}
	lid, err := c.ResolveGUID(ctx, o.PortGUID, o.SMLID)
	if err != nil {
		return umad.Target{}, err
	}
	route, err := fabric.RouteTo(ctx, c, lid)
	return umad.Target{Route: route}, err
}

// find returns the node that a partial report is about.
func (r *Result) find(o Options) *fabric.Node {
	switch {
	case !o.Partial:
		return nil
	case o.PortGUID != 0:
		if p := r.Fabric.PortByGUID(o.PortGUID); p != nil {
			return p.Node
		}
		return nil
	default:
		return r.Fabric.Start
	}
}

// Ends checks the external ports of some of a fabric's nodes, in their order.
func Ends(f *fabric.Fabric, nodes []*fabric.Node) []End {
	n := 0
	for range externalPorts(nodes) {
		n++
	}
	ends := make([]End, 0, n)
	complete := f.Aborted == nil && !f.Bounded
	var block findingBlock
	for p := range externalPorts(nodes) {
		e := End{Port: p, Findings: block.free()}
		e.check(complete)
		block.take(&e)
		ends = append(ends, e)
	}
	return ends
}

// externalPorts yields the known ports of nodes except management ports.
func externalPorts(nodes []*fabric.Node) iter.Seq[*fabric.Port] {
	return func(yield func(*fabric.Port) bool) {
		for _, n := range nodes {
			for _, p := range n.Ports {
				if p != nil && !p.IsManagement() && !yield(p) {
					return
				}
			}
		}
	}
}

// A findingBlock provides the findings of many ends from one allocation.
type findingBlock struct{ findings []Finding }

// free returns the rest of the block for the findings of an end.
func (b *findingBlock) free() []Finding {
	const size, most = 1024, 8
	if cap(b.findings)-len(b.findings) < most {
		b.findings = make([]Finding, 0, size)
	}
	return b.findings[len(b.findings):]
}

// take keeps the findings of e in the block.
func (b *findingBlock) take(e *End) {
	n := len(e.Findings)
	e.Findings = e.Findings[:n:n]
	if start := len(b.findings); start+n <= cap(b.findings) {
		b.findings = b.findings[:start+n]
	}
}
