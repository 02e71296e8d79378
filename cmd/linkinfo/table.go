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

// table is the table of links, one line a link end.
type table struct {
	wide bool
	sort string

	narrowed bool // some links were filtered out
}

func (t *table) define(env *cmdutil.Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&t.wide, "wide", false, "show GUIDs too")
	flags.StringVar(&t.sort, "sort", "fabric", "order of lines, a `KEY`: fabric (by distance), name, lid, speed (slowest first), finding")
	cmdutil.CompleteFlag(env, cmd, "sort", cmdutil.Constant(slices.Sorted(maps.Keys(orders))...))
}

// orders are the orders that linkTable knows; nil keeps the fabric's.
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

// resolve checks what the flags say.
func (t *table) resolve() error {
	if _, ok := orders[t.sort]; !ok && t.sort != "" {
		return cmdutil.UsageErrorf("unknown order %q (known: fabric, name, lid, speed, finding)", t.sort)
	}
	return nil
}

// order sorts link ends as it was asked for.
func (t *table) order(ends []linkinfo.End, names *fabric.NameMap) {
	if order := orders[t.sort]; order != nil {
		slices.SortStableFunc(ends, order(names))
	}
}

// print writes the table and below it a summary of what is in the report: the
// nodes that were asked for, and of their ports those that passed the filters.
func (t *table) print(out *render.Output, env *cmdutil.Env, r *linkinfo.Result, nodes []*fabric.Node, ends []linkinfo.End, names *fabric.NameMap, additional bool) {
	colour := render.NewPalette(env.Out, env.Getenv)
	header := []string{"NODE", "LID", "PORT", "WIDTH", "SPEED", "STATE", "PEER", "PEER PORT", "FINDING"}
	if additional {
		header = append(header, "HOQLIFE", "VLSTALL")
	}
	if t.wide {
		header = append(header, "PORT GUID", "PEER GUID")
	}
	rows := make([][]string, 0, len(ends))
	for i := range ends {
		rows = append(rows, t.row(&ends[i], names, colour, additional))
	}
	if len(rows) > 0 {
		// The table writes to a buffer, whose errors Flush returns.
		_ = render.Table(out, header, rows)
	}
	for _, c := range r.Fabric.Conflicts {
		fmt.Fprintf(out, "%s %s\n", colour.Bad("conflict:"), c.Detail)
	}
	s := links.Summarize(nodes, ends)
	links := render.Count(s.Links, "link", "links")
	if t.narrowed {
		links += " shown"
	}
	fmt.Fprintf(out, "%s, %s, %s, %s: ", render.Count(s.Switches, "switch", "switches"), render.Count(s.CAs, "channel adapter", "channel adapters"),
		render.Count(s.Routers, "router", "routers"), links)
	if s.Problems == 0 {
		fmt.Fprintln(out, colour.Good("no problems found"))
	} else {
		fmt.Fprintln(out, colour.Bad(render.Count(s.Problems, "port with problems", "ports with problems")))
	}
}

func (t *table) row(e *linkinfo.End, names *fabric.NameMap, colour *render.Palette, additional bool) []string {
	p := e.Port
	orAbsent := func(s string) string { return cmp.Or(s, render.Absent) }
	row := []string{
		orAbsent(names.Name(p.Node)),
		strconv.Itoa(int(p.LID())),
		portLabel(p),
		orAbsent(render.Text(e.Width)),
		orAbsent(render.Text(e.Speed)),
		orAbsent(links.OfInfo(p, stateText)),
		orAbsent(links.OfPeer(p, func(p *fabric.Port) string { return names.Name(p.Node) })),
		orAbsent(links.OfPeer(p, portLabel)),
		t.findings(e, colour),
	}
	if additional {
		row = append(row,
			orAbsent(links.OfInfo(p, func(i *mad.PortInfo) string { return strconv.Itoa(int(i.HOQLife)) })),
			orAbsent(links.OfInfo(p, func(i *mad.PortInfo) string { return strconv.Itoa(int(i.VLStallCount)) })))
	}
	if t.wide {
		row = append(row, p.GUID.String(), orAbsent(links.OfPeer(p, func(p *fabric.Port) string { return p.GUID.String() })))
	}
	return row
}

// portLabel is a port's number, and the one printed on the chassis where there
// is such a number.
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

func (t *table) findings(e *linkinfo.End, colour *render.Palette) string {
	if len(e.Findings) == 0 {
		return ""
	}
	var s []string
	for _, f := range e.Findings {
		mark := colour.Warn
		if f.IsProblem() {
			mark = colour.Bad
		}
		s = append(s, mark(string(f.Kind))+": "+f.Detail)
	}
	return strings.Join(s, "; ")
}
