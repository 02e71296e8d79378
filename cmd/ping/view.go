package ping

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/report"
)

// limits are the bounds of the checks --max-loss and --max-p99.
type limits struct {
	loss float64       // percent
	p99  time.Duration // 0: no limit
}

func (l *limits) isLossy(s *ping.Stats) bool { return s.Loss()*100 > l.loss }

func (l *limits) isSlow(s *ping.Stats) bool { return l.p99 > 0 && s.Quantile(99) > l.p99 }

func (l *limits) exceeded(s *ping.Stats) bool { return l.isLossy(s) || l.isSlow(s) }

// findings returns the exceeded limits of a target.
func (l *limits) findings(t *ping.Target) (all []report.Finding) {
	s := &t.Stats
	if l.isLossy(s) {
		all = append(all, report.New(report.PacketLoss, t.Name, fmt.Sprintf("%.3g %% of the probes lost, want at most %g %%", s.Loss()*100, l.loss)))
	}
	if l.isSlow(s) {
		all = append(all, report.New(report.SlowReplies, t.Name, fmt.Sprintf("99th percentile %v, want at most %v", s.Quantile(99), l.p99)))
	}
	return all
}

// view prints a line per probe, or one live line on a terminal, and the statistics at
// the end.
type view struct {
	quiet      bool
	lines      bool
	timestamps bool
	histogram  bool
	problems   bool
	json       bool
	jsonLines  bool

	env    *cmdutil.Env
	out    *render.Output
	limits limits
	auto   bool
	names  *fabric.NameMap
	finder *finder
	live   *liveLine // nil: a line per probe, or no line
	line   []byte    // of a probe

	accounted bool // statistics were printed
	labels    map[*ping.Target][]byte
}

func (v *view) define(flags *pflag.FlagSet) {
	flags.BoolVarP(&v.quiet, "quiet", "q", false, "print only the statistics")
	flags.BoolVar(&v.lines, "lines", false, "print a line for each probe, also on a terminal")
	flags.BoolVar(&v.timestamps, "timestamps", false, "print the time of each probe")
	flags.BoolVar(&v.histogram, "histogram", false, "print a histogram of round-trip times")
	flags.BoolVar(&v.problems, "problems", false, "omit targets without problems from the statistics")
	flags.BoolVar(&v.json, "json", false, "print the statistics as JSON")
	flags.BoolVar(&v.jsonLines, "json-lines", false, "print a JSON object for each probe, then the statistics")
}

// begin is called when the targets are known.
func (v *view) begin(env *cmdutil.Env, f *finder, auto bool) {
	v.env, v.out, v.finder, v.names, v.auto = env, render.NewOutput(env.Out), f, f.names, auto
	switch {
	case !v.showsProbes():
	case v.jsonLines:
		v.labels = jsonLabels(f.found)
	case !v.lines && !v.timestamps && render.IsTerminal(env.Out):
		v.live = &liveLine{targets: f.found}
	default:
		v.printAgents()
	}
}

// printAgents prints the agents that were selected automatically.
func (v *view) printAgents() {
	if !v.auto {
		return
	}
	var by [3]int
	for _, t := range v.finder.found {
		by[t.Agent]++
	}
	if all := v.finder.found; len(all) == 1 {
		fmt.Fprintf(v.out, "%s: %s (--via %v)\n", all[0].Name, agentTexts[all[0].Agent], all[0].Agent)
		return
	}
	for via, n := range by {
		if n > 0 {
			fmt.Fprintf(v.out, "%s: %s (--via %v)\n", plural.Count(n, "target", "targets"), agentTexts[via], ping.Agent(via))
		}
	}
}

// agentTexts describe the probes to agents.
var agentTexts = [...]string{
	ping.AgentServer: "pinging the ping server",
	ping.AgentSMA:    "pinging subnet management, by a directed route",
	ping.AgentPMA:    "no reply from a ping server; pinging the performance management agent instead",
}

// showsProbes reports whether probes are shown.
func (v *view) showsProbes() bool { return !v.json && !v.quiet }

// probe shows the result of a probe. A probe with a reply does not allocate.
func (v *view) probe(p *ping.Probe) {
	switch {
	case v.jsonLines:
		v.line = v.appendJSON(v.line[:0], p)
		v.out.Write(v.line)
	case v.live != nil:
		v.live.probe(v.out, p)
	default:
		v.line = v.appendText(v.line[:0], p)
		v.out.Write(v.line)
	}
}

// idle flushes the output while no packet arrives.
func (v *view) idle() {
	if v.live != nil {
		v.live.idle(v.out)
	}
	_ = v.out.Flush() // the error stays and comes back at the end
}

// status shows the statistics so far.
func (v *view) status(r *ping.Result) {
	v.account(r)
	_ = v.out.Flush()
}

// end shows the final statistics.
func (v *view) end(r *ping.Result) error {
	v.account(r)
	return v.out.Flush()
}

func (v *view) account(r *ping.Result) {
	r.Targets = v.finder.found // in the order of the command line
	if v.live != nil {
		v.live.clear(v.out)
	}
	if v.json || v.jsonLines {
		v.accountJSON(r)
		return
	}
	v.accountText(r)
}

// isPartial reports whether targets were not found, or no probe to one of them has ended.
func (v *view) isPartial(r *ping.Result) bool {
	return v.finder.partial || len(v.finder.notFound) > 0 ||
		slices.ContainsFunc(r.Targets, func(t *ping.Target) bool { return !t.Stats.HasResult() })
}

// hasBad reports whether a target exceeds the limits.
func (v *view) hasBad(r *ping.Result) bool {
	for _, t := range r.Targets {
		if v.limits.exceeded(&t.Stats) {
			return true
		}
	}
	return false
}
