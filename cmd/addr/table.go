package addr

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/umad"
)

// view prints the ports that were found.
type view struct {
	began   time.Time
	env     *cmdutil.Env
	names   *fabric.NameMap
	local   umad.PortAttr
	answers []answer
	missed  []error // failed requests of a scan, which may have missed ports
	columns []string
}

// shown returns the columns to show.
func (v *view) shown() []string {
	switch {
	case len(v.columns) > 0:
		return v.columns
	case v.local.LinkLayer == lookup.Ethernet:
		return ethernetColumns
	}
	return infinibandColumns
}

// lines yields the ports with known attributes. Errors report the others.
func (v *view) lines(yield func(*portLine) bool) {
	for _, a := range v.answers {
		for _, p := range a.ports {
			if (p.Node != nil || p.Host != nil) && !yield(&portLine{a.target, p, v.names}) {
				return
			}
		}
	}
}

// row returns the values of the columns.
func (l *portLine) row(columns []string) []string {
	var row []string
	for _, name := range columns {
		i := slices.IndexFunc(allColumns, func(c column) bool { return c.name == name })
		row = append(row, cmp.Or(allColumns[i].value(l), render.Absent))
	}
	return row
}

// plain writes a line per port with tabs between columns.
func (v *view) plain(out *render.Output) {
	columns := v.shown()
	for l := range v.lines {
		fmt.Fprintln(out, strings.Join(l.row(columns), "\t"))
	}
}

// csv writes all shown columns.
func (v *view) csv(out *render.Output) {
	var columns []render.Column[*portLine]
	for _, name := range v.shown() {
		columns = append(columns, render.TextColumn(strings.ReplaceAll(name, "-", " "), func(l *portLine) string { return l.row([]string{name})[0] }))
	}
	render.CSV(out, columns, slices.Collect(v.lines))
}

// table writes a table. Empty default columns are omitted.
func (v *view) table(out *render.Output) {
	columns := v.shown()
	colour := render.NewPalette(v.env.Out, v.env.Getenv)
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
		isEmpty := !slices.ContainsFunc(rows, func(row []string) bool { return row[i] != render.Absent })
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
