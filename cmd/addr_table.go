package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/render"
	"github.com/ibkit/ibkit/resolve"
	"github.com/ibkit/ibkit/umad"
)

// addrView shows what was found.
type addrView struct {
	env     *environment
	names   *fabric.NameMap
	local   umad.PortAttr
	answers []addrAnswer
	columns []string
}

// shown returns the columns to show.
func (v *addrView) shown() []string {
	switch {
	case len(v.columns) > 0:
		return v.columns
	case v.local.LinkLayer == resolve.Ethernet:
		return ethernetColumns
	}
	return infinibandColumns
}

// lines yields the ports. One that nothing is known of is told of elsewhere.
func (v *addrView) lines(yield func(*addrLine) bool) {
	for _, a := range v.answers {
		for _, p := range a.ports {
			if (p.Node != nil || p.Host != nil) && !yield(&addrLine{a.target, p, v.names}) {
				return
			}
		}
	}
}

// row returns what a port has in the columns.
func (l *addrLine) row(columns []string) []string {
	var row []string
	for _, name := range columns {
		i := slices.IndexFunc(addrColumns, func(c addrColumn) bool { return c.name == name })
		row = append(row, cmp.Or(addrColumns[i].value(l), absent))
	}
	return row
}

// plain writes a line a port with tabs between columns.
func (v *addrView) plain(out *output) {
	columns := v.shown()
	for l := range v.lines {
		fmt.Fprintln(out, strings.Join(l.row(columns), "\t"))
	}
}

// classic writes a line a port as ibaddr does.
func (v *addrView) classic(out *output, form addrForm) {
	for l := range v.lines {
		gids := l.GIDs()
		if len(gids) == 0 {
			continue // not all was told, which is told elsewhere
		}
		first, last := l.LIDs()
		form.write(out, gids[0], int(first), int(last))
	}
}

// table writes a table. Columns that nobody asked for and that have nothing in
// them are left out.
func (v *addrView) table(out *output) {
	columns := v.shown()
	colour := render.NewPalette(v.env.out, v.env.getenv)
	findings := slices.Index(columns, "finding")
	var rows [][]string
	for l := range v.lines {
		row := l.row(columns)
		if findings >= 0 && len(l.Findings) > 0 {
			row[findings] = colour.Bad(l.problems())
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return
	}
	var header []string
	kept := make([][]string, len(rows))
	for i, name := range columns {
		isEmpty := !slices.ContainsFunc(rows, func(row []string) bool { return row[i] != absent })
		if len(v.columns) == 0 && isEmpty {
			continue
		}
		header = append(header, strings.ToUpper(strings.ReplaceAll(name, "-", " ")))
		for j, row := range rows {
			kept[j] = append(kept[j], row[i])
		}
	}
	// The table writes to a buffer, whose errors Flush returns.
	_ = render.Table(out, header, kept)
}
