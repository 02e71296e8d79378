package check

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/report"
)

// printSummary prints the size of the routing and the results without findings. partial
// reports that the routing, or the one that it is compared with, is incomplete.
func (c *routes) printSummary(out *render.Output, a *route.Analysis, partial bool) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "%-13s %s\n", name, fmt.Sprintf(format, args...))
	}
	size := fmt.Sprintf("%s, %s, %s", plural.Count(a.Switches, "switch", "switches"), plural.Count(a.EndPorts, "end port", "end ports"), plural.Count(a.Destinations, "LID", "LIDs"))
	if parts := a.Disconnected(); parts != "" {
		size += ", in " + parts
	}
	if partial {
		size += " (partial result)"
	}
	line("fabric", "%s", size)
	line("paths", "%d, %s", a.Paths, a.Arrivals())
	if text := unread(a.Routing); text != "" {
		line("not read", "%s", text)
	}
	if text := a.Adaptive.Text(c.names); text != "" {
		line("adaptive", "%s", text)
	}
	if hops := hopText(a); hops != "" {
		line("path length", "%s", hops)
	}
	if s := a.LinkSummary(); s.Count > 0 {
		line("link load", "LIDs %.1f on average, at most %d; paths %.0f on average, at most %d; on each of %s between switches",
			s.MeanLIDs, s.MostLIDs, s.MeanPaths, s.MostPaths, plural.Count(s.Count, "output", "outputs"))
	}
	for _, l := range a.Levels() {
		line(fmt.Sprintf("level %d", l.Level), "LIDs %.1f on average, %d to %d; on each of %s from %s to the next level",
			l.Mean, l.Least, l.Most, plural.Count(l.Links, "link", "links"), plural.Count(l.Switches, "switch", "switches"))
	}
	line("credit loops", "%s", creditText(a))
	if n := len(a.Trees); n > 0 {
		sound := 0
		for i := range a.Trees {
			if a.Trees[i].Sound() {
				sound++
			}
		}
		line("multicast", "%s, %d sound; %s", plural.Count(n, "group", "groups"), sound, members(a.Routing))
	}
	if d := a.Disjoint; d != nil {
		line("LMC", "paths to the LIDs of a port share no link in %d of %d pairs, some in %d, all in %d", d.Separate, d.Groups, d.Partly, d.Same)
	}
	for _, p := range a.Congestion {
		line(p.Pattern.String(), "%s", c.congestionText(p))
	}
}

// unread describes the tables that could not be read, or is "".
func unread(r *route.Routing) string {
	var tables, partial, blocks int
	for _, n := range r.Nodes {
		switch {
		case !n.IsSwitch():
		case !n.Tables.Known():
			tables++
		case len(n.Tables.Missing) > 0:
			partial++
			blocks += len(n.Tables.Missing)
		}
	}
	var parts []string
	if tables > 0 {
		parts = append(parts, "the tables of "+plural.Count(tables, "switch", "switches"))
	}
	if partial > 0 {
		parts = append(parts, fmt.Sprintf("%s of 64 LIDs of %s", plural.Count(blocks, "block", "blocks"), plural.Count(partial, "switch", "switches")))
	}
	return strings.Join(parts, ", ")
}

// members describes the comparison with the members of multicast groups.
func members(r *route.Routing) string {
	switch {
	case r.Members != nil:
		return fmt.Sprintf("compared with %s of subnet administration", plural.Count(r.CountMembers(), "member", "members"))
	case r.NoMembers != nil:
		return fmt.Sprintf("members unknown: %v", r.NoMembers)
	}
	return "members unknown"
}

// hopText returns the number of paths by their links.
func hopText(a *route.Analysis) string {
	var parts []string
	for links, n := range a.Hops {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", plural.Count(links, "link", "links"), n))
		}
	}
	return strings.Join(parts, ", ")
}

// creditText describes the search for credit loops.
func creditText(a *route.Analysis) string {
	n := len(a.CreditLoops)
	none := "none"
	if a.Partial() {
		none = "none in the tables that were read"
	}
	switch {
	case n == 0 && a.Lanes == route.OneLane:
		return none + ", even if all paths use a single virtual lane"
	case n == 0:
		return none + ", with the service levels of the paths"
	case a.Lanes == route.LanesUnknown:
		return fmt.Sprintf("%d if all paths use a single virtual lane; service levels of paths are unknown", n)
	}
	return fmt.Sprint(n)
}

func (c *routes) congestionText(p route.Congestion) string {
	if p.Link == nil {
		return "no flows between switches"
	}
	link := fabric.PortName(c.names.LabelOf(p.Link.Node.GUID, p.Link.Node.Desc), int(p.Link.Number))
	text := fmt.Sprintf("at most %s on a link (%s)", plural.Count(p.Worst, "flow", "flows"), link)
	if p.Rounds > 1 {
		text += fmt.Sprintf(", %.1f on average over %d rounds", p.Mean, p.Rounds)
	}
	if p.All > p.Rounds {
		text += fmt.Sprintf(" of %d", p.All)
	}
	return text
}

// printFindings prints the findings, up to the limit of each kind.
func (c *routes) printFindings(out *render.Output, findings []report.Finding) {
	if len(findings) == 0 {
		return
	}
	count := map[report.Kind]int{}
	var rows []report.Finding
	for _, f := range findings {
		if count[f.Kind]++; c.limit == 0 || count[f.Kind] <= c.limit {
			rows = append(rows, f)
		}
	}
	out.WriteByte('\n')
	render.Columns(out, []render.Column[report.Finding]{
		render.TextColumn("FINDING", func(f report.Finding) string { return string(f.Kind) }),
		render.TextColumn("DETAIL", func(f report.Finding) string { return f.Text() }),
	}, rows)
	for _, k := range route.Kinds {
		if more := count[k] - c.limit; c.limit > 0 && more > 0 {
			fmt.Fprintf(out, "%s: %d more (--limit 0 shows all)\n", k, more)
		}
	}
}
