package live

import (
	"fmt"

	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/report"
)

// lossKinds are the finding kinds of lost workers.
var lossKinds = map[crew.LossKind]report.Kind{crew.Hung: report.Hung, crew.Died: report.Unreachable, crew.Left: report.MissingHost}

// A verdict collects the findings about workers.
type verdict struct {
	options  Options
	hosts    []string
	absent   map[string]bool // hosts without a worker at the end
	findings []report.Finding
}

// Judge analyses the outcome and adds findings about the workers: each that did not join
// or was lost makes the result partial.
func Judge(c *crew.Crew, w *mesh.Wiring, o Options, out *Outcome, a mesh.Options) *mesh.Result {
	v := &verdict{options: o, hosts: o.Course.Hosts(), absent: map[string]bool{}, findings: []report.Finding{}}
	missing, unnamed := c.Missing()
	for _, name := range missing {
		v.add(report.MissingHost, name, mesh.DidNotJoin)
	}
	if unnamed > 0 {
		detail := fmt.Sprintf("%d of %d workers did not join", unnamed, unnamed+len(c.Members()))
		if why := c.Explain(); why != "" {
			detail += ": " + why
		}
		v.findings = append(v.findings, report.New(report.MissingHost, "", detail))
	}
	for _, l := range c.Losses() {
		if l.Kind == crew.Left && out.Interrupted != nil {
			continue // the same signal interrupted all
		}
		v.add(lossKinds[l.Kind], l.Name, fmt.Sprintf("%s in round %d: %s", l.Kind, l.Round, l.Detail))
	}
	for _, host := range v.hosts {
		if !v.absent[host] {
			a.Nodes = append(a.Nodes, host)
		}
	}
	alone := len(a.Nodes) < 2 && len(out.Results.Flows) == 0
	if alone {
		a.Nodes = []string{""} // no host has this name
	}
	a.Hosts = o.nodes()
	v.addCorrupt(out)
	r := mesh.Analyze(out.Results.Clone(), w, a)
	r.Findings = append(v.findings, r.Findings...)
	r.Missing += len(missing) + unnamed
	r.Partial = r.Partial || len(v.findings) > 0
	if alone {
		r.Fail(report.Failure{Error: "got fewer than two workers: no flow was measured"})
	}
	v.addFailures(r, out)
	if out.Interrupted != nil {
		r.Fail(report.Failure{Error: fmt.Sprintf("interrupted after %d of %d rounds", out.Rounds, out.Of)})
	}
	return r
}

// add adds a finding about a worker. Its hosts are absent.
func (v *verdict) add(kind report.Kind, worker, detail string) {
	subject := worker
	for i, s := range v.options.Seats {
		if s.Worker != worker {
			continue
		}
		v.absent[v.hosts[i]] = true
		subject = v.hosts[i]
	}
	if v.count(worker) > 1 {
		subject = worker
	}
	if subject != worker {
		detail = fmt.Sprintf("worker %s: %s", worker, detail)
	}
	v.findings = append(v.findings, about(worker, kind, subject, detail))
}

// count returns the number of a worker's rails.
func (v *verdict) count(worker string) (n int) {
	for _, s := range v.options.Seats {
		if s.Worker == worker {
			n++
		}
	}
	return n
}

// addCorrupt adds the pairs with a corrupt payload.
func (v *verdict) addCorrupt(out *Outcome) {
	for _, f := range out.Failed {
		if f.Corrupt {
			v.findings = append(v.findings, report.New(report.Corrupt, v.pair(f), f.Error))
		}
	}
}

func (v *verdict) pair(f Failed) string { return v.hosts[f.From] + " to " + v.hosts[f.To] }

// maxFailures limits the failures of pairs in a result.
const maxFailures = 100

// addFailures adds the pairs without all figures, of measurements.
func (v *verdict) addFailures(r *mesh.Result, out *Outcome) {
	if v.options.Simulation != nil {
		return
	}
	for _, f := range out.Failed[:min(len(out.Failed), maxFailures)] {
		r.Fail(report.Failure{Subject: v.pair(f), Error: f.Error})
	}
	if more := len(out.Failed) - maxFailures; more > 0 {
		r.Fail(report.Failure{Error: fmt.Sprintf("%d more pairs failed", more)})
	}
}
