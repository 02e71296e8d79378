package cc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/ranges"
	"github.com/ibkit/ibkit/internal/tool/cc"
)

// The tables of --show.
const (
	partNodes = "nodes"
	partPorts = "ports"
	partSLs   = "sls"
	partTable = "cct"
)

var parts = []string{partNodes, partPorts, partSLs, partTable}

// A view prints agents and plans.
type view struct {
	out     *render.Output
	session *cc.Session
	colour  *render.Palette
}

func newView(env *cmdutil.Env, s *cc.Session) *view {
	return &view{render.NewOutput(env.Out), s, render.NewPalette(env.Out, env.Getenv)}
}

func (v *view) json(r *cc.Report) {
	render.WriteLine(v.out, r)
}

// name returns the name of a node, with the number of the port for a port of an adapter.
func (v *view) name(a *cc.Agent) string { return v.session.Label(a) }

// A row is an agent, or a group of its ports, service levels or table entries.
type row struct {
	*cc.Agent
	numbers string
	values  map[string]string
}

// tables prints the selected tables and the findings.
func (v *view) tables(selected []string) {
	switches, adapters := v.rows()
	before := false
	table := func(head string, rows []row, columns ...render.Column[row]) {
		if len(rows) == 0 {
			return
		}
		if before {
			v.out.WriteByte('\n')
		}
		before = true
		render.Columns(v.out, slices.Concat([]render.Column[row]{
			render.TextColumn(head, func(r row) string { return v.name(r.Agent) }),
			render.TextColumn("LID", func(r row) string { return render.Show(optional.NonZero(r.Port.LID())) }),
		}, columns), rows)
	}
	for _, part := range selected {
		switch part {
		case partNodes:
			table("SWITCH", switches, append(keys("switch"), v.findings())...)
			table("ADAPTER", adapters, keyColumn("control"), sls(), entries(), v.findings())
		case partPorts:
			table("SWITCH", groups(switches), append([]render.Column[row]{numbers("PORTS")}, keys("port")[1:]...)...)
		case partSLs:
			table("ADAPTER", groups(adapters), append([]render.Column[row]{numbers("SLS")}, keys("sl")[1:]...)...)
		case partTable:
			table("ADAPTER", tableRows(adapters), numbers("INDEX"), keyColumn("cct"))
		}
	}
	v.summary()
}

// rows returns a row for each agent.
func (v *view) rows() (switches, adapters []row) {
	for _, a := range v.session.Agents {
		if r := (row{Agent: a, values: a.Values()}); a.IsSwitch() {
			switches = append(switches, r)
		} else {
			adapters = append(adapters, r)
		}
	}
	return switches, adapters
}

// keys returns the columns of the keys of a section.
func keys(section string) (columns []render.Column[row]) {
	for _, k := range cc.Keys(section) {
		columns = append(columns, keyColumn(k.Name))
	}
	return columns
}

func keyColumn(key string) render.Column[row] {
	return render.TextColumn(strings.ToUpper(key), func(r row) string { return render.OrAbsent(r.values[key]) })
}

func numbers(head string) render.Column[row] {
	return render.TextColumn(head, func(r row) string { return r.numbers })
}

// sls is the column of the service levels that slow down.
func sls() render.Column[row] {
	return render.TextColumn("SLS", func(r row) string {
		if r.Adapter == nil {
			return render.Absent
		}
		var on []int
		for sl, s := range r.Adapter.SLs {
			if s.Increase > 0 {
				on = append(on, sl)
			}
		}
		if on == nil {
			return "none"
		}
		return ranges.Format(on)
	})
}

// entries is the column of the number of entries of a table.
func entries() render.Column[row] {
	return render.TextColumn("CCT", func(r row) string {
		if r.Table == nil {
			return render.Absent
		}
		return plural.Count(len(r.Table), "entry", "entries")
	})
}

func (v *view) findings() render.Column[row] {
	return render.TextColumn("FINDING", func(r row) string {
		var kinds []string
		for _, f := range r.Findings {
			if kind := v.colour.Bad(string(f.Kind)); !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
		return render.OrAbsent(strings.Join(kinds, " "))
	})
}

// groups returns rows for ports or service levels with the same settings.
func groups(agents []row) (rows []row) {
	for _, a := range agents {
		for _, g := range a.Groups() {
			rows = append(rows, row{a.Agent, ranges.Format(g.Numbers), g.Values})
		}
	}
	return rows
}

// tableRows returns rows for parts of the tables of adapters.
func tableRows(adapters []row) (rows []row) {
	const perRow = 16
	for _, a := range adapters {
		if a.Table == nil {
			continue
		}
		at := 0
		for part := range slices.Chunk(strings.Split(a.values["cct"], ","), perRow) {
			rows = append(rows, row{a.Agent, fmt.Sprintf("%d-%d", at, at+len(part)-1), map[string]string{"cct": strings.Join(part, ",")}})
			at += perRow
		}
	}
	return rows
}

// summary prints the findings and their number.
func (v *view) summary() {
	supported, on, found := 0, 0, 0
	for _, a := range v.session.Agents {
		if a.IsSupported() {
			supported++
		}
		if a.IsOn() {
			on++
		}
		for _, f := range a.Findings {
			found++
			fmt.Fprintf(v.out, "%s %s: %s\n", v.colour.Bad(string(f.Kind)+":"), v.name(a), f.Detail)
		}
	}
	verdict, mark := "no problems found", v.colour.Good
	if supported == 0 {
		verdict, mark = "no agent to compare", v.colour.Warn
	}
	if found > 0 {
		verdict, mark = plural.Count(found, "problem", "problems"), v.colour.Bad
	}
	if v.session.Partial() {
		verdict, mark = cmdutil.PartialVerdict(v.session.Fabric.Blind(), found, verdict), v.colour.Bad
	}
	fmt.Fprintf(v.out, "%s: %d with congestion control, %d have it on: %s\n", plural.Count(len(v.session.Agents), "agent", "agents"), supported, on, mark(verdict))
}

// plan prints the differences by node.
func (v *view) plan(p *cc.Plan) {
	for _, st := range p.Steps {
		fmt.Fprintf(v.out, "%s (%v, LID %d)\n", v.name(st.Agent), st.Agent.Port.GUID, st.Agent.Port.LID())
		if st.Err != nil {
			fmt.Fprintf(v.out, "  error: %v\n", st.Err)
		}
		for _, e := range st.Edits {
			from, to := e.Short()
			fmt.Fprintf(v.out, "  %s: %s → %s\n", e.Name, render.OrAbsent(from), render.OrAbsent(to))
		}
	}
	fmt.Fprintf(v.out, "%s to change, %d with these settings\n", plural.Count(len(p.Steps), "node", "nodes"), p.Same)
}

// outcomes prints the results of a change.
func (v *view) outcomes(p *cc.Plan) {
	changed := 0
	for _, st := range p.Steps {
		if st.Outcome.Applied() {
			changed++
		}
		fmt.Fprintf(v.out, "%s: %v\n", v.name(st.Agent), st.Outcome)
	}
	fmt.Fprintf(v.out, "changed %d of %s\n", changed, plural.Count(len(p.Steps), "node", "nodes"))
}
