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
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/linkinfo"
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
	reports, problems := c.report(r)
	c.partial = c.partial || r.Routing.Partial()
	out := render.NewOutput(c.env.Out)
	c.print(out, c.partial, reports, problems)
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

// printWarnings prints the requests without a response.
func (c *command) printWarnings(r *route.PathsResult) {
	routefiles.PrintFailures(c.fabric.Failures(c.env, "warning"), r.Routing, c.names)
	routefiles.PrintChanging(c.fabric.Failures(c.env, "warning"), r.Routing, c.names)
	if r.NoRecords != nil {
		fmt.Fprintf(c.env.ErrOut, "warning: no service levels: %v\n", r.NoRecords)
		c.partial = c.partial || errors.Is(r.NoRecords, umad.ErrTimeout)
	}
	if c.errors != nil && c.errors.PrintFailures(c.env, c.names, c.fabric.Verbose > 0) {
		c.partial = true
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

// report returns the reports of the pairs to show, and the number of pairs with a problem.
func (c *command) report(r *route.PathsResult) (reports []route.PairReport, problems int) {
	for i := range r.Pairs {
		p := &r.Pairs[i]
		if c.toAll && p.Forward.Cause == route.NotMember {
			continue // not among the destinations of the group
		}
		c.pairs++
		pair := route.PairReport{Forward: c.pathReport(r, &p.Forward)}
		problem := c.fails(&pair.Forward)
		if p.Reverse != nil {
			pair.Reverse = new(c.pathReport(r, p.Reverse))
			if p.Forward.Known() && p.Reverse.Known() {
				pair.Symmetric = new(p.Forward.IsReverse(p.Reverse))
			}
			failed := c.fails(pair.Reverse) // also makes the result partial
			problem = problem || failed || isAsymmetric(&pair) && c.isProblem(route.KindAsymmetric)
		}
		if problem {
			problems++
		}
		if problem || !c.problems {
			reports = append(reports, pair)
		}
	}
	return reports, problems
}

// isAsymmetric reports whether both paths of a pair arrive and cross different links.
func isAsymmetric(p *route.PairReport) bool {
	return p.Reverse != nil && p.Forward.Arrived() && p.Reverse.Arrived() && !*p.Symmetric
}

func (c *command) isProblem(k route.Kind) bool { return slices.Contains(c.failOn, k) }

// fails reports whether a path has a problem. A part of it that was not read makes the
// result partial.
func (c *command) fails(p *route.PathReport) bool {
	failed := false
	for _, f := range p.Findings {
		c.partial = c.partial || f.Kind == route.KindUnseen
		failed = failed || c.isProblem(f.Kind)
	}
	return failed
}

// pathReport returns the report of a path with the findings of its links, and the worst
// error counter of each end that exceeds its threshold.
func (c *command) pathReport(r *route.PathsResult, p *route.Path) route.PathReport {
	report := route.NewPathReport(p, c.names)
	if r.Fabric == nil {
		return report
	}
	for i, h := range p.Hops {
		ends := []*fabric.Port{r.Port(h.Output), r.Port(h.Output.Peer)}
		report.Findings = append(report.Findings, linkFindings(i, ends, !r.Routing.Partial())...)
		if c.errors == nil {
			continue
		}
		report.Hops[i].Counters = &route.ReportCounters{Output: byName(c.errors.Values(ends[0])), Input: byName(c.errors.Values(ends[1]))}
		for _, end := range ends {
			if problems := c.errors.Problems(end); len(problems) > 0 {
				worst := problems[0]
				report.Findings = append(report.Findings, route.PathFinding{
					Kind: route.KindErrors, Hop: &i, Detail: fmt.Sprintf("%s %s: %s", c.names.PortName(end), worst.Class, worst.Text()),
				})
			}
		}
	}
	return report
}

// linkFindings returns the findings of a link, those that both ends have once. Links that
// are not active are findings of package route.
func linkFindings(hop int, ends []*fabric.Port, complete bool) (findings []route.PathFinding) {
	var seen []linkinfo.Finding
	for _, p := range ends {
		end := linkinfo.NewEnd(p, complete)
		for _, f := range end.Findings {
			if f.Kind == linkinfo.NotActive || slices.Contains(seen, f) {
				continue
			}
			seen = append(seen, f)
			kind := route.KindLimited
			if f.IsProblem() {
				kind = route.KindLink
			}
			findings = append(findings, route.PathFinding{Kind: kind, Hop: &hop, Detail: f.String()})
		}
	}
	return findings
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
