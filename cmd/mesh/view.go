package mesh

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/drain"
	"github.com/ibkit/ibkit/report"
)

// A view prints results for people.
type view struct {
	env   *cmdutil.Env
	out   *render.Output
	limit int // of findings by kind; 0: all

	scheduler drain.Scheduler // of the drain commands
}

// line prints a line of a summary.
func (v *view) line(name, format string, args ...any) {
	fmt.Fprintf(v.out, "%-9s %s\n", name, fmt.Sprintf(format, args...))
}

// pathTexts describe the sources of paths.
var pathTexts = map[mesh.PathSource]string{
	mesh.FromTables:   "by the forwarding tables",
	mesh.FromShortest: "without forwarding tables: only links that all shortest paths share are known",
	mesh.FromNames:    "not known: hosts and their adapters are judged, links and switches are not",
}

// table prints the summary, the classes and the findings.
func (v *view) table(r *mesh.Result) {
	partial := ""
	if r.Partial {
		partial = " (partial result)"
	}
	v.line("results", "%s, %s between %s: %d slow, %d failed%s", r.Format, plural.Count(r.Flows, "flow", "flows"), plural.Count(r.Endpoints, "end", "ends"), r.Slow, r.Failed, partial)
	if l := r.Loopbacks; l != nil {
		v.line("loopback", "%s: %d slow, %d failed", plural.Count(l.Flows, "flow", "flows"), l.Slow, l.Failed)
	}
	paths := pathTexts[r.Paths]
	if r.Adaptive {
		paths = "with adaptive routing: only links that all shortest paths share are known"
	}
	if r.Unrouted > 0 {
		paths += fmt.Sprintf("; %s with an unknown path", plural.Count(r.Unrouted, "flow", "flows"))
	}
	v.line("paths", "%s", paths)
	v.names(r)
	if r.Sums {
		v.line("figures", "%s", "most bandwidths are above the data rate of the ports: sums of both directions")
	}
	if b := r.Baseline; b != nil {
		v.line("baseline", "%s: bandwidth %s, latency %s", plural.Count(b.Flows, "flow", "flows"), percent(b.Bandwidth), percent(b.Latency))
	}
	if r.Damaged > 0 {
		v.line("damaged", "%s of the file not read", plural.Count(r.Damaged, "part", "parts"))
	}
	v.congestion(r.Congestion)
	v.out.WriteByte('\n')
	v.classes(r)
	v.findings(slices.DeleteFunc(slices.Clone(r.Findings), func(f report.Finding) bool {
		return f.Kind == report.MissingHost && (f.Detail == mesh.NoFlow || strings.HasSuffix(f.Detail, mesh.DidNotJoin))
	}))
	v.drains(r.BadHosts)
}

// congestion compares the victims of congestors.
func (v *view) congestion(c *mesh.Congestion) {
	if c == nil {
		return
	}
	v.line("victims", "%s without and with congestors", plural.Count(c.Victims, "flow", "flows"))
	print := func(name, unit string, i *mesh.Impact, ratio func(float64) string) {
		if i != nil {
			v.line(name, "%.4g, with congestors %.4g %s: %s; worst %s from %s to %s", i.Alone, i.Loaded, unit, ratio(i.Ratio), ratio(i.Worst.Ratio), i.Worst.Source, i.Worst.Destination)
		}
	}
	print("bandwidth", "Gbit/s", c.Bandwidth, func(r float64) string { return fmt.Sprintf("%.0f %%", 100*r) })
	print("latency", "µs", c.Latency, func(r float64) string { return fmt.Sprintf("%.1f times", r) })
}

// maxClasses limits the printed classes.
const maxClasses = 12

func (v *view) classes(r *mesh.Result) {
	level := func(pick func(mesh.ReportClass) *mesh.ReportLevel, text func(*mesh.ReportLevel) string) func(mesh.ReportClass) string {
		return func(c mesh.ReportClass) string {
			if l := pick(c); l != nil {
				return text(l)
			}
			return render.Absent
		}
	}
	bandwidth := func(c mesh.ReportClass) *mesh.ReportLevel { return c.Bandwidth }
	latency := func(c mesh.ReportClass) *mesh.ReportLevel { return c.Latency }
	spread := func(l *mesh.ReportLevel) string { return fmt.Sprintf("%.1f %%", 100*l.Deviation) }
	render.Columns(v.out, []render.Column[mesh.ReportClass]{
		render.TextColumn("RAIL", func(c mesh.ReportClass) string { return render.Show(c.Rail) }),
		render.TextColumn("PORTS", func(c mesh.ReportClass) string { return optional(c.PortGbps, "%.0f Gbit/s") }),
		render.TextColumn("HOPS", func(c mesh.ReportClass) string {
			if c.Loopback {
				return "loopback"
			}
			return optional(c.Hops, "%d")
		}),
		render.TextColumn("FLOWS", func(c mesh.ReportClass) string { return fmt.Sprint(c.Flows) }),
		render.TextColumn("GBIT/S", level(bandwidth, func(l *mesh.ReportLevel) string { return mesh.GbpsText(l.Median) })),
		render.TextColumn("SPREAD", level(bandwidth, spread)),
		render.TextColumn("LATENCY", level(latency, func(l *mesh.ReportLevel) string { return fmt.Sprintf("%.2f µs", l.Median) })),
		render.TextColumn("SPREAD", level(latency, spread)),
	}, r.Classes[:min(len(r.Classes), maxClasses)])
	if more := len(r.Classes) - maxClasses; more > 0 {
		fmt.Fprintf(v.out, "%s (--json shows all)\n", plural.Count(more, "more class", "more classes"))
	}
}

// optional formats a value, or the sign for an absent value.
func optional[T any](v *T, format string) string {
	if v == nil {
		return render.Absent
	}
	return fmt.Sprintf(format, *v)
}

// percent formats a ratio.
func percent(v *float64) string {
	if v == nil {
		return render.Absent
	}
	return fmt.Sprintf("%.1f %%", 100**v)
}

// names lists the names that only one side has.
func (v *view) names(r *mesh.Result) {
	var missing, unknown []string
	for _, f := range r.Findings {
		if f.Kind == report.MissingHost && f.Subject != "" {
			missing = append(missing, f.Subject)
		}
	}
	for _, f := range r.Failures {
		if f.Subject != "" && f.Attribute == "" {
			unknown = append(unknown, f.Subject)
		}
	}
	if r.Missing > 0 {
		of := "of the fabric "
		if r.Paths == mesh.FromNames {
			of = ""
		}
		if missing == nil {
			missing = []string{"without a name"}
		}
		v.line("missing", "%d %snot in the results: %s", r.Missing, of, v.list(missing))
	}
	if r.Unknown+r.Ambiguous > 0 {
		several := ""
		if r.Ambiguous > 0 {
			several = ", " + plural.Count(r.Ambiguous, "fits", "fit") + " several ports"
		}
		v.line("unknown", "%d of the results not in the fabric%s: %s", r.Unknown, several, v.list(unknown))
	}
}

// list lists names up to the limit.
func (v *view) list(names []string) string {
	if more := len(names) - v.limit; v.limit > 0 && more > 0 {
		return strings.Join(names[:v.limit], ", ") + moreText(more) + " (--limit 0 shows all)"
	}
	return strings.Join(names, ", ")
}

// findings prints the findings with their next steps, up to the limit of each kind.
func (v *view) findings(findings []report.Finding) {
	colour := render.NewPalette(v.env.Out, v.env.Getenv)
	paint := map[report.Severity]func(string) string{report.Error: colour.Bad, report.Warning: colour.Warn, report.Unknown: colour.Warn, report.Info: colour.Faint}
	count := map[report.Kind]int{}
	if len(findings) == 0 {
		fmt.Fprintln(v.out, "\nno findings")
		return
	}
	for _, f := range findings {
		if count[f.Kind]++; v.limit > 0 && count[f.Kind] > v.limit {
			continue
		}
		fmt.Fprintf(v.out, "\n%s: %s %s\n", paint[f.Severity](string(f.Severity)), f.Kind, f.Text())
		if f.Hint != "" {
			fmt.Fprintf(v.out, "  next: %s\n", v.env.NextStep(strings.ReplaceAll(f.Hint, "\n", "; ")))
		}
	}
	for _, k := range mesh.Kinds {
		if more := count[k] - v.limit; v.limit > 0 && more > 0 {
			fmt.Fprintf(v.out, "%s: %d more (--limit 0 shows all)\n", k, more)
		}
	}
}

// drains prints the hosts that are drained, and the commands that drain others, up to the limit.
func (v *view) drains(hosts []mesh.BadHost) {
	var lines []string
	for _, b := range hosts {
		switch b.Action {
		case mesh.Drained:
			lines = append(lines, "drained: "+b.Host)
		case mesh.DrainedBefore:
			lines = append(lines, "drained before: "+b.Host)
		case mesh.Drain, mesh.Withheld, mesh.DrainFailed:
			text := "drain:"
			for _, arg := range v.scheduler.Command(b) {
				text += " " + textfile.ShellWord(arg)
			}
			lines = append(lines, text)
		}
	}
	if more := len(lines) - v.limit; v.limit > 0 && more > 0 {
		lines = append(lines[:v.limit], fmt.Sprintf("drain: %d more (--limit 0 shows all)", more))
	}
	if len(lines) > 0 {
		fmt.Fprintf(v.out, "\n%s\n", strings.Join(lines, "\n"))
	}
}

// mapSize is the largest row count of a map.
const mapSize = 64

// heat prints the flows between all hosts.
func (v *view) heat(r *mesh.Result) {
	h := r.Heat()
	for _, line := range h.Text(mapSize) {
		fmt.Fprintln(v.out, line)
	}
	fmt.Fprintf(v.out, "\n%s\n", mesh.TextLegend)
	v.findings(r.Findings)
	v.drains(r.BadHosts)
}

// plan prints a plan.
func (v *view) plan(p *mesh.Plan) {
	v.line("schedule", "%s, %s: %s, %s", p.Schedule, plural.Count(p.Members, "end", "ends"), plural.Count(p.Rounds, "round", "rounds"), plural.Count(p.Flows, "flow", "flows"))
	v.line("duration", "about %s", render.Duration(time.Duration(p.Seconds*float64(time.Second))))
	v.line("paths", "%s", pathTexts[p.Paths])
	sharing := "no flows share a link"
	if p.Paths == mesh.FromShortest {
		sharing = "no flows share a link that is known"
	}
	if s := p.Sharing; s.Flows > 0 {
		sharing = fmt.Sprintf("%.1f %% of the flows share a link, at most %d on %s in round %d", 100*s.Share, s.Most, *s.Link, s.Round)
	}
	v.line("sharing", "%s", sharing)
	c := p.Coverage
	coverage := fmt.Sprintf("%d of %s between switches", c.Used, plural.Count(c.Links, "directed link", "directed links"))
	if c.Used > 0 {
		coverage += fmt.Sprintf(", %d to %d flows on each", c.Least, c.Most)
	}
	if p.Paths == mesh.FromShortest {
		coverage = "at least " + coverage
	}
	v.line("coverage", "%s", coverage)
	if c.LeafPairs > 0 {
		v.line("leaves", "%d of %s of leaf switches", c.UsedLeafPairs, plural.Count(c.LeafPairs, "pair", "pairs"))
	}
	if len(c.Unused) > 0 {
		const maxNamed = 8
		v.line("unused", "%s%s", strings.Join(c.Unused[:min(len(c.Unused), maxNamed)], ", "), moreText(c.Links-c.Used-maxNamed))
	}
	if p.Unrouted > 0 {
		v.line("unrouted", "%s with an unknown path", plural.Count(p.Unrouted, "flow", "flows"))
	}
}

func moreText(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// scheduleHelp describes the schedules, one per line.
func scheduleHelp() string {
	var b strings.Builder
	for _, s := range slices.Clone(mesh.Schedules()) {
		name, about, _ := strings.Cut(s, "\t")
		fmt.Fprintf(&b, "  %-9s %s\n", name, about)
	}
	return b.String()
}
