package linkinfo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/errorcounters"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// table is the table of links, one line per link or per end.
type table struct {
	wide       bool
	additional bool
	ends       bool
	sort       string
	counters   bool

	errors     *errorcounters.Reader // nil: not read
	registers  *registerView         // nil: not read
	withPeers  bool                  // rows have the counters and registers of the peer, too
	narrowed   bool                  // some links were filtered out
	partial    bool                  // the fabric, or a stored one that filters ports, is incomplete
	incomplete bool                  // a selected node was not found
	fails      func(linkinfo.End) bool
}

func (t *table) define(env *cmdutil.Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&t.wide, "wide", false, "show GUIDs")
	flags.BoolVar(&t.counters, "counters", false, "read error counters, show the worst on each link")
	flags.BoolVar(&t.ends, "ends", false, "print a line per link end (default: per link)")
	cmdutil.EnumFlag(cmd, &t.sort, "sort", "fabric", slices.Sorted(maps.Keys(orders)), "`KEY` that orders the lines")
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
	if t.incomplete && len(rows) == 0 {
		return // the error follows
	}
	problems := t.problems(rows)
	if len(rows) > 0 {
		columns := t.columns(names, colour)
		render.Columns(out, columns, rows)
		if repeats(len(rows), len(problems), render.Height(env.Out)) {
			out.WriteString("\nproblems:\n")
			render.Columns(out, columns, problems)
			out.WriteByte('\n')
		}
	}
	for _, c := range r.Fabric.Conflicts {
		fmt.Fprintf(out, "%s %s\n", colour.Bad("conflict:"), c.Detail)
	}
	s := linkinfo.Summarize(nodes, ends, links)
	shown := plural.Count(s.Links, "link", "links")
	if t.narrowed {
		shown += " shown"
	}
	fmt.Fprintf(out, "%s, %s, %s, %s: ", plural.Count(s.Switches, "switch", "switches"), plural.Count(s.CAs, "channel adapter", "channel adapters"),
		plural.Count(s.Routers, "router", "routers"), shown)
	verdict, mark := noProblems(r.Fabric, len(rows) == 0 && !t.narrowed), colour.Good
	one, many := "link", "links"
	if t.ends {
		one, many = "port", "ports"
	}
	if n := len(problems); n > 0 {
		verdict, mark = plural.Count(n, one, many)+" with problems", colour.Bad
	} else if n := count(rows, t.fails); n > 0 {
		verdict, mark = plural.Count(n, one, many)+" with selected findings", colour.Bad
	}
	if t.incomplete {
		verdict, mark = "selected nodes not found, "+verdict, colour.Bad
	}
	if t.partial {
		verdict, mark = cmdutil.PartialVerdict(r.Fabric.Blind(), len(problems), verdict), colour.Bad
	}
	fmt.Fprintln(out, mark(verdict)+t.onlyProblems(rows, problems))
}

// noProblems is the verdict on links without problems, and names the data that a file lacks.
func noProblems(f *fabric.Fabric, isEmpty bool) string {
	if isEmpty {
		return "no ports"
	}
	verdict := "no problems found"
	if unjudged := f.Unjudged(); unjudged != "" {
		verdict += "; not judged: " + unjudged
	}
	return verdict
}

// endRows returns a row for each end.
func endRows(ends []linkinfo.End) []linkinfo.Link {
	rows := make([]linkinfo.Link, len(ends))
	for i := range ends {
		rows[i].Near = &ends[i]
	}
	return rows
}

// count returns the number of links with an end for which a condition holds.
func count(links []linkinfo.Link, holds func(linkinfo.End) bool) int {
	n := 0
	for _, l := range links {
		if either(l, holds) {
			n++
		}
	}
	return n
}

// either reports whether a condition holds for an end of a link.
func either(l linkinfo.Link, holds func(linkinfo.End) bool) bool {
	return holds(*l.Near) || l.Far != nil && holds(*l.Far)
}

// hasProblem reports whether an end has a problem, in its registers and counters, too.
func (t *table) hasProblem(e linkinfo.End) bool { return e.HasProblem() || t.hasErrors(e) }

// hasErrors reports whether counters of an end are above their thresholds, or its registers
// have a problem; the peer counts if rows have peers.
func (t *table) hasErrors(e linkinfo.End) bool {
	return t.hasPortErrors(e.Port) || t.withPeers && e.Port.Peer != nil && t.hasPortErrors(e.Port.Peer)
}

func (t *table) hasPortErrors(p *fabric.Port) bool {
	return t.errors != nil && len(t.errors.Problems(p)) > 0 || t.registers != nil && t.registers.hasErrors(p)
}

// A cell appends the text of a link in a column.
type cell = func([]byte, linkinfo.Link) []byte

// columns returns the columns of the table.
func (t *table) columns(names *fabric.NameMap, colour *render.Palette) []render.Column[linkinfo.Link] {
	node := func(b []byte, p *fabric.Port) []byte { return names.AppendName(b, p.Node) }
	guid := func(b []byte, p *fabric.Port) []byte { return p.GUID.AppendTo(b) }
	columns := []render.Column[linkinfo.Link]{
		{Header: "NODE", Append: near(node)},
		{Header: "LID", Append: near(appendLID)},
		{Header: "PORT", Append: near(appendLabel)},
		{Header: "WIDTH", Append: orAbsent(func(b []byte, l linkinfo.Link) []byte { return append(b, render.Text(l.Near.Width)...) })},
		{Header: "SPEED", Append: orAbsent(func(b []byte, l linkinfo.Link) []byte { return append(b, render.Text(l.Near.Speed)...) })},
		{Header: "STATE", Append: nearInfo(appendState)},
		{Header: "PEER", Append: peer(node)},
		{Header: "PEER PORT", Append: peer(appendLabel)},
		{Header: "FINDING", Append: orAbsent(findings(colour))},
	}
	if t.errors != nil {
		columns = append(columns, errorsColumn(t.errors, colour, !t.ends))
	}
	if t.registers != nil {
		columns = append(columns, t.registers.columns(colour, !t.ends)...)
	}
	if t.additional {
		columns = append(columns,
			render.Column[linkinfo.Link]{Header: "HOQLIFE", Append: nearInfo(func(b []byte, i *mad.PortInfo) []byte { return strconv.AppendUint(b, uint64(i.HOQLife), 10) })},
			render.Column[linkinfo.Link]{Header: "VLSTALL", Append: nearInfo(func(b []byte, i *mad.PortInfo) []byte { return strconv.AppendUint(b, uint64(i.VLStallCount), 10) })})
	}
	if t.wide {
		columns = append(columns,
			render.Column[linkinfo.Link]{Header: "PORT GUID", Append: near(guid)},
			render.Column[linkinfo.Link]{Header: "PEER GUID", Append: peer(guid)})
	}
	return columns
}

// orAbsent replaces empty cells.
func orAbsent(text cell) cell {
	return func(b []byte, l linkinfo.Link) []byte {
		start := len(b)
		if b = text(b, l); len(b) == start {
			b = append(b, render.Absent...)
		}
		return b
	}
}

func near(text func([]byte, *fabric.Port) []byte) cell {
	return orAbsent(func(b []byte, l linkinfo.Link) []byte { return text(b, l.Near.Port) })
}

func nearInfo(text func([]byte, *mad.PortInfo) []byte) cell {
	return near(func(b []byte, p *fabric.Port) []byte {
		if p.Info == nil {
			return b
		}
		return text(b, p.Info)
	})
}

func peer(text func([]byte, *fabric.Port) []byte) cell {
	return near(func(b []byte, p *fabric.Port) []byte {
		if p.Peer == nil {
			return b
		}
		return text(b, p.Peer)
	})
}

// appendLID appends the LID of a port if it is known.
func appendLID(b []byte, p *fabric.Port) []byte {
	if p.Caps() == nil {
		return b
	}
	return strconv.AppendUint(b, uint64(p.LID()), 10)
}

// appendLabel appends the number of a port, and in brackets the number printed on the
// chassis.
func appendLabel(b []byte, p *fabric.Port) []byte {
	b = strconv.AppendUint(b, uint64(p.Number), 10)
	if p.External != 0 {
		b = append(b, '[')
		b = append(strconv.AppendInt(b, int64(p.External), 10), ']')
	}
	return b
}

func appendState(b []byte, i *mad.PortInfo) []byte {
	if i.State == ib.PortNoChange {
		return append(b, render.Absent...)
	}
	b = append(b, i.State.String()...)
	if i.State == ib.PortActive && i.PhysState == ib.PhysLinkUp {
		return b
	}
	return append(append(b, '/'), i.PhysState.String()...)
}

// findings appends the findings of both ends.
func findings(colour *render.Palette) cell {
	marked := map[report.Kind]string{}
	for _, k := range linkinfo.Kinds {
		mark := colour.Warn
		if k.Info().Severity.IsProblem() {
			mark = colour.Bad
		}
		marked[k] = mark(string(k)) + ": "
	}
	return func(b []byte, l linkinfo.Link) []byte {
		start := len(b)
		add := func(where string, f report.Finding) {
			if len(b) > start {
				b = append(b, "; "...)
			}
			b = append(append(b, where...), marked[f.Kind]...)
			b = append(b, f.Detail...)
		}
		for _, f := range l.Near.Findings {
			add("", f)
		}
		for _, f := range l.FarFindings() {
			add("at the peer ", f)
		}
		return b
	}
}
