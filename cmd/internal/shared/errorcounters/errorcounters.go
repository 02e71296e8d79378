// Package errorcounters reads the error counters of links for commands whose subject are
// the links.
package errorcounters

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/umad"
)

// A Reader reads the error counters of ports and compares them with the thresholds of
// infiniband-diags.
type Reader struct {
	limits    counters.Limits
	collector *counters.Collector // nil: nothing was read
	source    fabric.Discoverer   // nil: a scan
}

// New returns a reader with the thresholds of this host. source replaces the scan of
// Discover if it is not nil.
func New(env *cmdutil.Env, source fabric.Discoverer) (*Reader, error) {
	thresholds, err := counters.DefaultThresholds(env.ConfigFile(counters.DefaultThresholdPath))
	if err != nil {
		return nil, err
	}
	return &Reader{limits: counters.Limits{Thresholds: thresholds, Wait: counters.DefaultWait}, source: source}, nil
}

// Discover scans a fabric and reads the counters on the way, or those of the fabric of
// another source. Of nodes without errors, it reads only the sums.
func (r *Reader) Discover(ctx context.Context, c *umad.Client, o fabric.DiscoverOptions) (*fabric.Fabric, error) {
	r.collector = counters.NewCollector(c, r.limits.CollectOptions())
	if r.source == nil {
		return r.collector.Scan(ctx, o)
	}
	f, err := r.source(ctx, c, o)
	if err != nil {
		return f, err
	}
	return f, r.collector.Read(ctx, f)
}

// Read reads the counters of some ports of a known fabric.
func (r *Reader) Read(ctx context.Context, c *umad.Client, f *fabric.Fabric, ports []*fabric.Port) error {
	wanted, nodes := map[*fabric.Port]bool{}, map[*fabric.Node]bool{}
	for _, p := range ports {
		wanted[p], nodes[p.Node] = true, true
	}
	o := r.limits.CollectOptions()
	o.Suspicious = nil
	o.Want = func(n *fabric.Node) bool { return nodes[n] }
	o.Ports = func(p *fabric.Port) bool { return wanted[p] }
	r.collector = counters.NewCollector(c, o)
	return r.collector.Read(ctx, f)
}

// Problems returns the counters of a port that exceed a threshold, the worst first.
func (r *Reader) Problems(p *fabric.Port) []counters.Finding {
	var problems []counters.Finding
	if port := r.collector.Port(p); port != nil {
		for _, f := range r.limits.Findings(port) {
			if f.IsProblem() {
				problems = append(problems, f)
			}
		}
	}
	return problems
}

// WasRead reports whether the counters of a port were read, on their own or as a part of
// the sums of its node.
func (r *Reader) WasRead(p *fabric.Port) bool { return r.collector != nil && r.collector.WasRead(p) }

// Counters are the error counters.
func Counters() []counters.Counter {
	var all []counters.Counter
	for _, c := range counters.Counters() {
		if !c.IsTraffic() && !c.IsDetail() {
			all = append(all, c)
		}
	}
	return all
}

// Values returns the error counters of a port; nil: it was not read.
func (r *Reader) Values(p *fabric.Port) map[counters.Counter]uint64 {
	port := r.collector.Port(p)
	if port == nil || port.Now == nil {
		return nil
	}
	values := map[counters.Counter]uint64{}
	for _, c := range Counters() {
		if v, ok := port.Now.Value(c); ok {
			values[c] = v.N
		}
	}
	return values
}

// PrintFailures prints the agents that did not respond, and reports whether there are
// any.
func (r *Reader) PrintFailures(env *cmdutil.Env, names *fabric.NameMap, verbose bool) bool {
	failures := cmdutil.NewFailures(env, "warning", verbose)
	for _, err := range r.Failures(names) {
		failures.Print(err)
	}
	return failures.Close() > 0
}

// Failures returns [FailuresOf] of all nodes.
func (r *Reader) Failures(names *fabric.NameMap) (all []error) {
	for _, n := range r.collector.Nodes() {
		all = append(all, FailuresOf(n, names)...)
	}
	return all
}

// FailuresOf returns an error with the name of the node for each request to it without a
// valid response.
func FailuresOf(n *counters.Node, names *fabric.NameMap) []error {
	var errs []error
	for _, f := range n.Failures {
		errs = append(errs, fmt.Errorf("counters of %s (%v): %w", names.Name(n.Node), n.GUID, f.Err))
	}
	return errs
}
