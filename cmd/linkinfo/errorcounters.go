package linkinfo

import (
	"context"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/counters"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/umad"
)

// errorCounters are the error counters of a scanned fabric.
type errorCounters struct {
	limits    counters.Limits
	collector *counters.Collector
}

// newErrorCounters returns the counters that a scan with its discover function reads.
func newErrorCounters() (*errorCounters, error) {
	thresholds, err := counters.DefaultThresholds()
	if err != nil {
		return nil, err
	}
	return &errorCounters{limits: counters.Limits{Thresholds: thresholds, Wait: counters.DefaultWait}}, nil
}

// discover scans a fabric and reads the counters on the way.
func (e *errorCounters) discover(ctx context.Context, c *umad.Client, o fabric.DiscoverOptions) (*fabric.Fabric, error) {
	e.collector = counters.NewCollector(c, e.limits.CollectOptions())
	return e.collector.Scan(ctx, o)
}

// worst returns the worst finding of a port, false if it has none.
func (e *errorCounters) worst(p *fabric.Port) (counters.Finding, bool) {
	if port := e.collector.Port(p); port != nil {
		for _, f := range e.limits.Findings(port) {
			if f.IsProblem() {
				return f, true
			}
		}
	}
	return counters.Finding{}, false
}

// fails reports whether an end has errors.
func (e *errorCounters) fails(end linkinfo.End) bool {
	_, failed := e.worst(end.Port)
	return failed
}

// column returns the column with the worst counter of each end.
func (e *errorCounters) column(colour *render.Palette, withPeer bool) render.Column[linkinfo.Link] {
	return render.Column[linkinfo.Link]{Header: "ERRORS", Append: orAbsent(func(b []byte, l linkinfo.Link) []byte {
		start := len(b)
		for i, p := range []*fabric.Port{l.Near.Port, l.Near.Port.Peer} {
			if p == nil || i == 1 && !withPeer {
				continue
			}
			f, found := e.worst(p)
			if !found {
				continue
			}
			if len(b) > start {
				b = append(b, "; "...)
			}
			if i == 1 {
				b = append(b, "at the peer "...)
			}
			b = append(b, colour.Bad(f.Class.String())...)
			b = append(append(b, ": "...), f.Text()...)
		}
		return b
	})}
}

// printFailures prints the agents that did not respond, and reports whether there are
// any.
func (e *errorCounters) printFailures(w io.Writer, names *fabric.NameMap, verbose bool) bool {
	count := 0
	for _, n := range e.collector.Nodes() {
		for _, f := range n.Failures {
			if count++; count <= fabricflag.MaxFailures || verbose {
				fmt.Fprintf(w, "warning: counters of %s (%v): %v\n", names.Name(n.Node), n.GUID, f.Err)
			}
		}
	}
	if count > fabricflag.MaxFailures && !verbose {
		fmt.Fprintf(w, "warning: and %d more (-v shows all)\n", count-fabricflag.MaxFailures)
	}
	return count > 0
}
