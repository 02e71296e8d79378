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

// rows returns what is in the columns, a row a port. A port that nothing is known
// of is told of elsewhere.
func (v *addrView) rows(columns []string) [][]string {
	var rows [][]string
	for _, a := range v.answers {
		for _, p := range a.ports {
			if p.Node == nil && p.Host == nil {
				continue
			}
			l := &addrLine{a.target, p, v.names}
			var row []string
			for _, name := range columns {
				i := slices.IndexFunc(addrColumns, func(c addrColumn) bool { return c.name == name })
				row = append(row, cmp.Or(addrColumns[i].value(l), absent))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// plain writes a line a port with tabs between columns.
func (v *addrView) plain(out *output) {
	for _, row := range v.rows(v.shown()) {
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
}

// table writes a table, and below it what is wrong. Columns that nobody asked for
// and that have nothing in them are left out.
func (v *addrView) table(out *output) {
	columns := v.shown()
	rows := v.rows(columns)
	if len(rows) == 0 {
		return
	}
	var header []string
	kept := make([][]string, len(rows))
	for i, name := range columns {
		empty := !slices.ContainsFunc(rows, func(row []string) bool { return row[i] != absent })
		if len(v.columns) == 0 && empty {
			continue
		}
		header = append(header, strings.ToUpper(strings.ReplaceAll(name, "-", " ")))
		for j, row := range rows {
			kept[j] = append(kept[j], row[i])
		}
	}
	// The table writes to a buffer, whose errors Flush returns.
	_ = render.Table(out, header, kept)
	colour := render.NewPalette(v.env.out, v.env.getenv)
	for _, a := range v.answers {
		for _, p := range a.ports {
			for _, f := range p.Findings {
				fmt.Fprintf(out, "%s %s: %s\n", colour.Bad("problem:"), a.target, f.Detail)
			}
		}
	}
}
