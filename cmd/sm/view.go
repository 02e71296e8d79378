package sm

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/sm"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// A view prints a result.
type view struct {
	env      *cmdutil.Env
	names    *fabric.NameMap
	result   *sm.Result
	complete bool // all managers of the fabric, with a summary
}

// print writes the table, CSV or JSON.
func (v *view) print(c *command, document *sm.Report) error {
	out := render.NewOutput(v.env.Out)
	switch {
	case c.json:
		render.WriteLine(out, document)
	case c.csv:
		render.CSV(out, v.columns(render.NewPalette(io.Discard, v.env.Getenv)), v.result.Managers)
	default:
		v.table(out, len(document.Findings))
	}
	return out.Flush()
}

func (v *view) columns(colour *render.Palette) []render.Column[*sm.Manager] {
	return []render.Column[*sm.Manager]{
		render.TextColumn("NODE", func(m *sm.Manager) string { return render.OrAbsent(m.Name(v.names)) }),
		render.TextColumn("LID", func(m *sm.Manager) string { return render.Destination(m.To) }),
		render.TextColumn("PORT GUID", func(m *sm.Manager) string { return render.OrAbsent(render.Text(m.GUID())) }),
		render.TextColumn("STATE", func(m *sm.Manager) string { return ofInfo(m, func(i *mad.SMInfo) string { return i.State.String() }) }),
		render.TextColumn("PRIORITY", func(m *sm.Manager) string {
			return ofInfo(m, func(i *mad.SMInfo) string { return strconv.Itoa(int(i.Priority)) })
		}),
		render.TextColumn("ACTIVITY", func(m *sm.Manager) string {
			return ofInfo(m, func(i *mad.SMInfo) string { return strconv.FormatUint(uint64(i.ActCount), 10) })
		}),
		render.TextColumn("ADVANCES", advances),
		render.TextColumn("FINDING", func(m *sm.Manager) string { return render.OrAbsent(kinds(m.Findings, colour)) }),
	}
}

func (v *view) table(out *render.Output, findings int) {
	colour := render.NewPalette(v.env.Out, v.env.Getenv)
	if len(v.result.Managers) > 0 {
		render.Columns(out, v.columns(colour), v.result.Managers)
	}
	for _, m := range v.result.Managers {
		for _, f := range m.Findings {
			fmt.Fprintf(out, "%s LID %s: %s\n", colour.Bad(string(f.Kind)+":"), render.Destination(m.To), f.Detail)
		}
	}
	for _, f := range v.result.Findings {
		fmt.Fprintf(out, "%s %s\n", colour.Bad(string(f.Kind)+":"), f.Detail)
	}
	if len(v.result.Managers) > 0 && len(v.result.Without) > 0 {
		fmt.Fprintln(out, without(v.result))
	}
	if !v.complete {
		return
	}
	verdict, mark := "no problems found", colour.Good
	if findings > 0 {
		verdict, mark = plural.Count(findings, "problem", "problems"), colour.Bad
	}
	if v.result.Partial() {
		verdict, mark = cmdutil.PartialVerdict(v.result.Blind, findings, verdict), colour.Bad
	}
	fmt.Fprintf(out, "%s: %s\n", plural.Count(len(v.result.Managers), "subnet manager", "subnet managers"), mark(verdict))
}

// without describes the ports that have no subnet manager.
func without(r *sm.Result) string {
	return plural.Count(len(r.Without), "port", "ports") + " without a subnet manager"
}

func kinds(findings []report.Finding, colour *render.Palette) string {
	var all []string
	for _, f := range findings {
		all = append(all, colour.Bad(string(f.Kind)))
	}
	return strings.Join(all, " ")
}

// ofInfo returns a value of the last SMInfo.
func ofInfo(m *sm.Manager, text func(*mad.SMInfo) string) string {
	switch {
	case m.Later != nil:
		return text(m.Later)
	case m.Info != nil:
		return text(m.Info)
	}
	return render.Absent
}

func advances(m *sm.Manager) string {
	switch a := m.Advanced(); {
	case a == nil:
		return render.Absent
	case *a:
		return "yes"
	}
	return "no"
}
