package linkinfo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
)

// table is the table of links, one line per link or per end.
type table struct {
	wide       bool
	additional bool
	ends       bool
	sort       string

	narrowed bool // some links were filtered out
	partial  bool // the fabric, or a stored one that filters ports, is incomplete
}

func (t *table) define(env *cmdutil.Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&t.wide, "wide", false, "show GUIDs")
	flags.BoolVar(&t.ends, "ends", false, "print one line per link end (default: one per link)")
	cmdutil.EnumFlag(cmd, &t.sort, "sort", "", "fabric", slices.Sorted(maps.Keys(orders)), "order of lines by a `KEY`")
}

// orders are the values of --sort. nil keeps the order of the scan.
var orders = map[string]func(names *fabric.NameMap) func(a, b linkinfo.End) int{
	"fabric": nil,
	"name": func(names *fabric.NameMap) func(a, b linkinfo.End) int {
		return func(a, b linkinfo.End) int {
			return cmp.Or(cmp.Compare(names.Name(a.Port.Node), names.Name(b.Port.Node)), cmp.Compare(a.Port.Number, b.Port.Number))
		}
	},
	"lid": func(*fabric.NameMap) func(a, b linkinfo.End) int {
		return func(a, b linkinfo.End) int {
			return cmp.Or(cmp.Compare(a.Port.LID(), b.Port.LID()), cmp.Compare(a.Port.Number, b.Port.Number))
		}
	},
	"speed": func(*fabric.NameMap) func(a, b linkinfo.End) int {
		return func(a, b linkinfo.End) int {
			return cmp.Compare(ib.LinkGbps(a.Width, a.Speed), ib.LinkGbps(b.Width, b.Speed))
		}
	},
	"finding": func(*fabric.NameMap) func(a, b linkinfo.End) int {
		return func(a, b linkinfo.End) int { return cmp.Compare(severity(&a), severity(&b)) }
	},
}

// severity is 0 for a link with a problem, 1 with another finding, 2 without.
func severity(e *linkinfo.End) int {
	switch {
	case e.HasProblem():
		return 0
	case len(e.Findings) > 0:
		return 1
	}
	return 2
}

// order sorts link ends by the selected key.
func (t *table) order(ends []linkinfo.End, names *fabric.NameMap) {
	if order := orders[t.sort]; order != nil {
		slices.SortStableFunc(ends, order(names))
	}
}

// print writes the table and below it a summary of the report: the selected nodes
// and the links that passed the filters.
func (t *table) print(out *render.Output, env *cmdutil.Env, r *linkinfo.Result, nodes []*fabric.Node, ends []linkinfo.End, names *fabric.NameMap) {
	links := linkinfo.Links(ends)
	rows := links
	if t.ends {
		rows = endRows(ends)
	}
	colour := render.NewPalette(env.Out, env.Getenv)
	if len(rows) > 0 {
		render.Columns(out, t.columns(names, colour), rows)
	}
	for _, c := range r.Fabric.Conflicts {
		fmt.Fprintf(out, "%s %s\n", colour.Bad("conflict:"), c.Detail)
	}
	s := linkinfo.Summarize(nodes, ends, links)
	shown := render.Count(s.Links, "link", "links")
	if t.narrowed {
		shown += " shown"
	}
	fmt.Fprintf(out, "%s, %s, %s, %s: ", render.Count(s.Switches, "switch", "switches"), render.Count(s.CAs, "channel adapter", "channel adapters"),
		render.Count(s.Routers, "router", "routers"), shown)
	verdict, mark := "no problems found", colour.Good
	if n := t.problems(rows); n > 0 {
		one, many := "link with problems", "links with problems"
		if t.ends {
			one, many = "port with problems", "ports with problems"
		}
		verdict, mark = render.Count(n, one, many), colour.Bad
	}
	if t.partial {
		verdict, mark = "partial result, "+verdict, colour.Bad
	}
	fmt.Fprintln(out, mark(verdict))
}

// endRows returns a row for each end.
func endRows(ends []linkinfo.End) []linkinfo.Link {
	rows := make([]linkinfo.Link, len(ends))
	for i := range ends {
		rows[i].Near = &ends[i]
	}
	return rows
}

func (t *table) problems(links []linkinfo.Link) int {
	n := 0
	for _, l := range links {
		if l.HasProblem() {
			n++
		}
	}
	return n
}

// columns returns the columns of the table.
func (t *table) columns(names *fabric.NameMap, colour *render.Palette) []render.Column[linkinfo.Link] {
	node := func(p *fabric.Port) string { return names.Name(p.Node) }
	guid := func(p *fabric.Port) string { return p.GUID.String() }
	columns := []render.Column[linkinfo.Link]{
		{Header: "NODE", Text: near(node)},
		{Header: "LID", Text: near(lid)},
		{Header: "PORT", Text: near(portLabel)},
		{Header: "WIDTH", Text: func(l linkinfo.Link) string { return orAbsent(render.Text(l.Near.Width)) }},
		{Header: "SPEED", Text: func(l linkinfo.Link) string { return orAbsent(render.Text(l.Near.Speed)) }},
		{Header: "STATE", Text: nearInfo(stateText)},
		{Header: "PEER", Text: peer(node)},
		{Header: "PEER PORT", Text: peer(portLabel)},
		{Header: "FINDING", Text: func(l linkinfo.Link) string { return findings(l, colour) }},
	}
	if t.additional {
		columns = append(columns,
			render.Column[linkinfo.Link]{Header: "HOQLIFE", Text: nearInfo(func(i *mad.PortInfo) string { return strconv.Itoa(int(i.HOQLife)) })},
			render.Column[linkinfo.Link]{Header: "VLSTALL", Text: nearInfo(func(i *mad.PortInfo) string { return strconv.Itoa(int(i.VLStallCount)) })})
	}
	if t.wide {
		columns = append(columns,
			render.Column[linkinfo.Link]{Header: "PORT GUID", Text: near(guid)},
			render.Column[linkinfo.Link]{Header: "PEER GUID", Text: peer(guid)})
	}
	return columns
}

func orAbsent(s string) string { return cmp.Or(s, render.Absent) }

func near(text func(*fabric.Port) string) func(linkinfo.Link) string {
	return func(l linkinfo.Link) string { return orAbsent(text(l.Near.Port)) }
}

func nearInfo(text func(*mad.PortInfo) string) func(linkinfo.Link) string {
	return func(l linkinfo.Link) string { return orAbsent(links.OfInfo(l.Near.Port, text)) }
}

func peer(text func(*fabric.Port) string) func(linkinfo.Link) string {
	return func(l linkinfo.Link) string { return orAbsent(links.OfPeer(l.Near.Port, text)) }
}

func lid(p *fabric.Port) string { return strconv.Itoa(int(p.LID())) }

// portLabel returns the number of a port, and in brackets the number printed on the
// chassis.
func portLabel(p *fabric.Port) string {
	s := strconv.Itoa(int(p.Number))
	if p.External != 0 {
		s += "[" + strconv.Itoa(p.External) + "]"
	}
	return s
}

func stateText(i *mad.PortInfo) string {
	if i.State == ib.PortActive && i.PhysState == ib.PhysLinkUp {
		return i.State.String()
	}
	return i.State.String() + "/" + i.PhysState.String()
}

// findings returns the findings of both ends.
func findings(l linkinfo.Link, colour *render.Palette) string {
	var s []string
	add := func(where string, f linkinfo.Finding) {
		mark := colour.Warn
		if f.IsProblem() {
			mark = colour.Bad
		}
		s = append(s, where+mark(f.Kind.String())+": "+f.Detail())
	}
	for _, f := range l.Near.Findings {
		add("", f)
	}
	for _, f := range l.FarFindings() {
		add("at the peer ", f)
	}
	return strings.Join(s, "; ")
}
