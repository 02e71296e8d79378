package route

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/errorcounters"
	"github.com/ibkit/ibkit/cmd/internal/shared/routefiles"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// run follows the paths and prints them.
func (c *command) run(ctx context.Context, pairs []pair) error {
	bar := render.NewProgress(c.env.ErrOut)
	c.options.Source.Progress, c.options.AllLIDs = bar.Update, c.toAll
	c.options.Find = func(r *route.Routing) ([]route.Pair, error) { return c.find(r, pairs) }
	if c.errors != nil {
		c.options.Inspect = func(ctx context.Context, client *umad.Client, r *route.PathsResult) error {
			return c.errors.Read(ctx, client, r.Fabric, portsOf(r))
		}
	}
	r, err := route.Paths(ctx, c.options)
	bar.Close()
	if err != nil {
		return err
	}
	c.unchecked = r.Unchecked()
	if err := c.checkFailOn(); err != nil {
		return err
	}
	c.printWarnings(r)
	head := route.ReportPathsHead{Head: report.NewHead(route.PathSchema, r.Routing.Began), Group: optional.NonZero(c.options.Group), Unchecked: c.unchecked}
	reports, problems := c.report(r, &head.Head)
	c.partial = c.partial || r.Routing.Partial()
	head.Fail(append(r.Routing.ReportFailures(c.names), c.failures...)...)
	head.Partial = c.partial
	out := render.NewOutput(c.env.Out)
	c.print(out, &head, reports, problems)
	if err := out.Flush(); err != nil {
		return err
	}
	c.fabric.PrintStats(c.env)
	return cmdutil.ResultError(c.partial, problems > 0)
}

// checkFailOn returns a usage error for a kind of --fail-on that the files do not contain
// enough for.
func (c *command) checkFailOn() error {
	for _, k := range c.unchecked {
		if c.failOnGiven && c.isProblem(k) {
			return cmdutil.UsageErrorf("--fail-on %s and --tables are mutually exclusive: files have no data for these findings", k)
		}
	}
	return nil
}

// fail adds a failure and makes the result partial.
func (c *command) fail(subject string, err error) {
	c.partial = true
	c.failures = append(c.failures, fabric.ReportFailure(subject, err))
}

// printWarnings prints the requests without a response.
func (c *command) printWarnings(r *route.PathsResult) {
	routefiles.PrintFailures(c.fabric.Failures(c.env, "warning"), r.Routing, c.names)
	routefiles.PrintChanging(c.fabric.Failures(c.env, "warning"), r.Routing, c.names)
	if r.NoRecords != nil {
		fmt.Fprintf(c.env.ErrOut, "warning: no service levels: %v\n", r.NoRecords)
		if errors.Is(r.NoRecords, umad.ErrTimeout) {
			c.fail("", r.NoRecords)
		}
	}
	if c.errors != nil && c.errors.PrintFailures(c.env, c.names, c.fabric.Verbose > 0) {
		for _, err := range c.errors.Failures(c.names) {
			c.fail("", err)
		}
	}
}

// portsOf returns the ports at both ends of all links.
func portsOf(r *route.PathsResult) []*fabric.Port {
	var ports []*fabric.Port
	for i := range r.Pairs {
		for _, p := range []*route.Path{&r.Pairs[i].Forward, r.Pairs[i].Reverse} {
			if p == nil {
				continue
			}
			for _, h := range p.Hops {
				ports = append(ports, r.Port(h.Output), r.Port(h.Output.Peer))
			}
		}
	}
	return ports
}

// report returns the reports of the pairs to show, adds their findings to a document, and
// returns the number of pairs with a problem.
func (c *command) report(r *route.PathsResult, head *report.Head) (reports []route.ReportPair, problems int) {
	for i := range r.Pairs {
		p := &r.Pairs[i]
		if c.toAll && p.Forward.Cause == route.NotMember {
			continue // not among the destinations of the group
		}
		c.pairs++
		pair := route.ReportPair{Forward: c.pathReport(r, &p.Forward)}
		problem := c.fails(&pair.Forward)
		if p.Reverse != nil {
			pair.Reverse = new(c.pathReport(r, p.Reverse))
			if p.Forward.Known() && p.Reverse.Known() {
				pair.Symmetric = new(p.Forward.IsReverse(p.Reverse))
			}
			failed := c.fails(pair.Reverse) // also makes the result partial
			problem = problem || failed || isAsymmetric(&pair) && c.isProblem(report.Asymmetric)
		}
		if problem {
			problems++
		}
		if problem || !c.problems {
			addFindings(head, &pair, len(reports))
			reports = append(reports, pair)
		}
	}
	return reports, problems
}

// addFindings adds the findings of a pair with its index.
func addFindings(head *report.Head, p *route.ReportPair, index int) {
	for _, path := range []*route.ReportPath{&p.Forward, p.Reverse} {
		if path == nil {
			continue
		}
		for _, f := range path.Details {
			place := f.Data.(*route.PathPlace)
			place.Pair, place.Reverse = index, path == p.Reverse
		}
		head.Add(path.Details...)
	}
	if isAsymmetric(p) {
		f := report.New(report.Asymmetric, p.Forward.From.Name+" to "+p.Forward.To.Name, asymmetric)
		f.Data = &route.PathPlace{Pair: index}
		head.Add(f)
	}
}

// asymmetric is the detail of a finding about both directions.
const asymmetric = "the two directions cross different links"

// isAsymmetric reports whether both paths of a pair arrive and cross different links.
func isAsymmetric(p *route.ReportPair) bool {
	return p.Reverse != nil && p.Forward.Arrived() && p.Reverse.Arrived() && !*p.Symmetric
}

func (c *command) isProblem(k report.Kind) bool { return slices.Contains(c.failOn, k) }

// fails reports whether a path has a problem. A part of it that was not read makes the
// result partial.
func (c *command) fails(p *route.ReportPath) bool {
	failed := false
	for _, f := range p.Details {
		c.partial = c.partial || f.Kind == report.Unchecked
		failed = failed || c.isProblem(f.Kind)
	}
	return failed
}

// pathReport returns the report of a path with the findings of its links, and the worst
// error counter of each end that exceeds its threshold.
func (c *command) pathReport(r *route.PathsResult, p *route.Path) route.ReportPath {
	path := route.NewReportPath(p, c.names)
	if r.Fabric != nil {
		for i := range p.Hops {
			c.addHop(&path, r, i, p.Hops[i])
		}
	}
	path.Findings = report.KindsOf(path.Details)
	return path
}

// addHop adds the findings and the counters of a hop of a path.
func (c *command) addHop(path *route.ReportPath, r *route.PathsResult, i int, h route.Hop) {
	add := func(kind report.Kind, p *fabric.Port, detail string) {
		f := report.New(kind, c.names.PortName(p), detail).At(p.Node.GUID, int(p.Number))
		f.Data = &route.PathPlace{Hop: &i}
		path.Details = append(path.Details, f)
	}
	ends := []*fabric.Port{r.Port(h.Output), r.Port(h.Output.Peer)}
	addLink(ends, !r.Routing.Partial(), add)
	if c.errors == nil {
		return
	}
	path.Hops[i].Counters = &route.ReportCounters{Output: byName(c.errors.Values(ends[0])), Input: byName(c.errors.Values(ends[1]))}
	for _, end := range ends {
		if problems := c.errors.Problems(end); len(problems) > 0 {
			worst := problems[0]
			add(report.Exceeded, end, fmt.Sprintf("%s: %s", worst.Class, worst.Text()))
		}
	}
}

// addLink adds the findings of a link, those that both ends have once. Links that are not
// active are findings of package route.
func addLink(ends []*fabric.Port, complete bool, add func(report.Kind, *fabric.Port, string)) {
	var seen []report.Finding
	for _, p := range ends {
		for _, f := range linkinfo.NewEnd(p, complete).Findings {
			if f.Kind == report.NotActive || slices.Contains(seen, f) {
				continue
			}
			seen = append(seen, f)
			add(f.Kind, p, f.Detail)
		}
	}
}

// byName returns counters by name.
func byName(values map[counters.Counter]uint64) map[string]uint64 {
	if values == nil {
		return nil
	}
	named := map[string]uint64{}
	for _, c := range errorcounters.Counters() {
		if v, ok := values[c]; ok {
			named[c.String()] = v
		}
	}
	return named
}
