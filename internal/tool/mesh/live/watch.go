package live

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/report"
)

// A watch compares the counters and link states of suspects before and after they are
// measured alone.
type watch struct {
	options counters.Options
	before  *counters.Result
}

// newWatch reads the counters of the places in findings: the ports of a node or its single
// port, with the other ends of their cables. It returns nil if no finding has a place.
func newWatch(ctx context.Context, source *fabric.Source, findings []report.Finding) (*watch, error) {
	places := map[ib.GUID]bool{}
	for _, f := range findings {
		if _, ok := f.Data.(*mesh.FindingData); ok && f.NodeGUID != nil {
			places[*f.NodeGUID] = true
		}
	}
	if source == nil || len(places) == 0 {
		return nil, nil
	}
	isNear := func(p *fabric.Port) bool {
		return p != nil && (places[p.Node.GUID] || p.Peer != nil && places[p.Peer.Node.GUID])
	}
	w := &watch{options: counters.Options{
		Source: *source, AfterScan: true, Data: true, Limits: counters.Limits{Wait: counters.DefaultWait}, Ports: isNear,
		Want: func(n *fabric.Node) bool {
			for _, p := range n.Ports {
				if isNear(p) {
					return true
				}
			}
			return false
		},
	}}
	var err error
	w.before, err = counters.Run(ctx, w.options)
	return w, err
}

// compare reads the counters again, and adds increased ones to the findings.
func (w *watch) compare(ctx context.Context, findings []report.Finding) error {
	o := w.options
	o.Before = w.before
	after, err := counters.Run(ctx, o)
	if err != nil {
		return err
	}
	for i := range findings {
		f := &findings[i]
		data, ok := f.Data.(*mesh.FindingData)
		if !ok || f.NodeGUID == nil {
			continue
		}
		data.Counters = []string{}
		for _, n := range after.Nodes {
			for _, p := range n.Ports {
				if isAt(f, p.Port) || isAt(f, p.Peer) {
					data.Counters = append(data.Counters, w.changes(after, p)...)
				}
			}
		}
		f.Detail += data.CountersText()
	}
	return nil
}

// isAt reports whether a port is at the place of a finding.
func isAt(f *report.Finding, p *fabric.Port) bool {
	return p != nil && p.Node.GUID == *f.NodeGUID && (f.Port == nil || *f.Port == int(p.Number))
}

// changes describes the counters of a port that increased, and its link unless it is active.
func (w *watch) changes(after *counters.Result, p *counters.Port) (all []string) {
	name := fabric.PortName((*fabric.NameMap)(nil).Name(p.Node), int(p.Number))
	for _, f := range after.Findings(p) {
		if f.InWindow {
			all = append(all, name+": "+f.Text())
		}
	}
	before := w.state(p)
	if now := p.State(); now != before || now != 0 && now != ib.PortActive {
		all = append(all, fmt.Sprintf("%s: %v before, %v after", name, before, now))
	}
	return all
}

// state returns the link state of a port before.
func (w *watch) state(p *counters.Port) ib.PortState {
	for _, n := range w.before.Nodes {
		for _, old := range n.Ports {
			if n.GUID == p.Node.GUID && old.Number == p.Number {
				return old.State()
			}
		}
	}
	return 0
}

// watched runs a function that measures suspects, and adds the counters to the findings of its
// result. Failed requests make the result partial.
func watched(ctx context.Context, o Options, first *mesh.Result, measure func() *mesh.Result) *mesh.Result {
	w, err := newWatch(ctx, o.Fabric, first.Findings)
	last := measure()
	if w != nil && err == nil && ctx.Err() == nil {
		err = w.compare(ctx, last.Findings)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		last.Fail(report.Failure{Error: "read the counters of suspects: " + err.Error()})
	}
	return last
}
