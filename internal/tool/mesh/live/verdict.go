package live

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/report"
)

// lossKinds are the finding kinds of lost workers.
var lossKinds = map[crew.LossKind]report.Kind{crew.Hung: report.Hung, crew.Died: report.Unreachable, crew.Left: report.MissingHost}

// Judge analyses the outcome and adds findings about the workers: each that did not join
// or was lost makes the result partial.
func Judge(c *crew.Crew, w *mesh.Wiring, o Options, out *Outcome, a mesh.Options) *mesh.Result {
	hosts := o.Simulation.Hosts()
	hostOf := func(worker string) string {
		if i := slices.Index(o.Workers, worker); i >= 0 {
			return hosts[i]
		}
		return worker
	}
	findings := []report.Finding{}
	absent := map[string]bool{}
	add := func(kind report.Kind, worker, detail string) {
		host := hostOf(worker)
		if host != worker {
			detail = fmt.Sprintf("worker %s: %s", worker, detail)
		}
		absent[host] = true
		f := report.New(kind, host, detail)
		f.Hint = kind.HintFor(f)
		findings = append(findings, f)
	}
	missing, unnamed := c.Missing()
	for _, name := range missing {
		add(report.MissingHost, name, "it did not join")
	}
	if unnamed > 0 {
		findings = append(findings, report.New(report.MissingHost, "", fmt.Sprintf("%d of %d workers did not join", unnamed, unnamed+len(c.Members()))))
	}
	for _, l := range c.Losses() {
		if l.Kind == crew.Left && out.Interrupted != nil {
			continue // the same signal interrupted all
		}
		add(lossKinds[l.Kind], l.Name, fmt.Sprintf("%s in round %d: %s", l.Kind, l.Round, l.Detail))
	}
	for _, host := range hosts {
		if !absent[host] {
			a.Nodes = append(a.Nodes, host)
		}
	}
	alone := len(a.Nodes) < 2
	if alone {
		a.Nodes = []string{""} // no host has this name
	}
	r := mesh.Analyze(out.Results, w, a)
	r.Findings = append(findings, r.Findings...)
	r.Missing += len(missing) + unnamed
	r.Partial = r.Partial || len(findings) > 0
	if alone {
		r.Fail(report.Failure{Error: "got fewer than two workers: no flow was measured"})
	}
	if out.Interrupted != nil {
		r.Fail(report.Failure{Error: fmt.Sprintf("interrupted after %d of %d rounds", out.Rounds, out.Of)})
	}
	return r
}
