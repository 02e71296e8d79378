// Package linkinfo reports the links of a fabric with their widths, speeds and
// defects. [Run] scans the fabric, [Result.Links] checks the links:
//
//	r, err := linkinfo.Run(ctx, linkinfo.Options{Source: source})
//	for _, l := range r.Links() {
//		if l.HasProblem() {
//			fmt.Println(l)
//		}
//	}
package linkinfo

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options of [Run]. With a source alone, Run scans the whole subnet.
type Options struct {
	// Source is the fabric. Its port is not opened for a stored fabric.
	Source fabric.Source

	// SMLID is the LID of the subnet administrator that resolves PortGUID; 0 is
	// the subnet manager of the local port.
	SMLID ib.LID

	// Partial limits the scan to one node, selected by PortGUID or Route, and the
	// nodes around it.
	Partial  bool
	Route    mad.Route // directed route to the node; used if PortGUID is 0
	PortGUID ib.GUID   // GUID of a port of the node
	MaxHops  int       // limit in hops; 0: with Partial one hop, otherwise none
}

// Result is the result of [Run].
type Result struct {
	Began  time.Time
	Fabric *fabric.Fabric

	// Node is the node selected by a partial scan; nil without Partial, or if the
	// node was not found.
	Node *fabric.Node

	// Warnings are errors that did not prevent the report.
	Warnings []error
}

// Run scans a fabric. If the scan ends early, Run returns
// the partial result together with an error.
func Run(ctx context.Context, o Options) (*Result, error) {
	r := &Result{Began: time.Now()}
	if stored := o.Source.Stored; stored != nil {
		r.Fabric = stored
		r.Node = r.find(o)
		return r, nil
	}
	s, err := o.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()

	scan := fabric.DiscoverOptions{MaxHops: o.MaxHops}
	if o.Partial {
		scan.MaxHops = max(scan.MaxHops, 1)
		scan.From, err = start(ctx, s.Client, o)
		if err != nil {
			// Like iblinkinfo: a whole scan finds the node even without a subnet
			// administrator.
			r.Warnings = append(r.Warnings, fmt.Errorf("%w; scanning the whole fabric instead", err))
			scan.From, scan.MaxHops = umad.Target{}, 0
		}
	}
	r.Fabric, err = s.Fabric(ctx, scan)
	if r.Fabric == nil {
		return nil, err
	}
	r.Node = r.find(o)
	return r, err
}

// start returns the first node of a partial scan.
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

// find returns the node selected by a partial scan.
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

// Links checks the external ports of all nodes and returns their links, with ports that have
// none, in the order of the nodes.
func (r *Result) Links() []Link { return Links(Ends(r.Fabric, r.Fabric.Nodes)) }

// Ends checks the external ports of some of a fabric's nodes, in their order.
func Ends(f *fabric.Fabric, nodes []*fabric.Node) []End {
	if f == nil {
		panic("linkinfo: Ends of a nil Fabric")
	}
	n := 0
	for range externalPorts(nodes) {
		n++
	}
	ends := make([]End, 0, n)
	complete := !f.Unfinished() && !f.Sparse
	var block findingBlock
	for p := range externalPorts(nodes) {
		e := End{Port: p, Findings: block.free()}
		e.check(complete)
		if p.Node == f.Start && p.Number == f.StartPort && e.Down() {
			e.add(report.NotActive, fabric.ErrLinkDown.Error()) // the scan cannot find anything else
		}
		e.checkParallel()
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
type findingBlock struct{ findings []report.Finding }

// free returns the rest of the block for the findings of an end.
func (b *findingBlock) free() []report.Finding {
	const size, most = 256, 9
	if cap(b.findings)-len(b.findings) < most {
		b.findings = make([]report.Finding, 0, size)
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
