package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/report"
)

// printTable writes the table of findings, nodes, ports or cables, and a summary.
func (c *command) printTable(out *render.Output, f *fabric.Fabric, findings []report.Finding) {
	switch {
	case c.check || c.plan != "":
		c.printFindings(out, findings)
	case c.types != nil:
		c.printNodes(out, f)
	case c.ports:
		var rows []topology.Cable
		for _, n := range c.selected(f) {
			for _, p := range n.Ports {
				if p != nil && !p.IsManagement() {
					rows = append(rows, topology.Cable{A: p, B: p.Peer})
				}
			}
		}
		c.printCables(out, rows)
	default:
		c.printCables(out, c.cables(f))
	}
	s := topology.Summarize(f, len(findings))
	colour := render.NewPalette(c.env.Out, c.env.Getenv)
	fmt.Fprintf(out, "%s, %s, %s, %s", plural.Count(s.Switches, "switch", "switches"), plural.Count(s.CAs, "channel adapter", "channel adapters"),
		plural.Count(s.Routers, "router", "routers"), plural.Count(s.Cables, "cable", "cables"))
	switch {
	case !c.check && c.plan == "":
	case len(findings) > 0:
		fmt.Fprint(out, ": ", colour.Bad(plural.Count(len(findings), "finding", "findings")))
	case f.Blind() == nil:
		fmt.Fprint(out, ": ", colour.Good(c.verdict()))
	}
	if c.isPartial(f) {
		fmt.Fprint(out, colour.Bad(" (partial result)"))
	}
	fmt.Fprintln(out)
}

// verdict describes a result without findings.
func (c *command) verdict() string {
	switch {
	case c.plan == "":
		return "no problems found"
	case c.damaged:
		return "no differences from the part of the plan that was read"
	case c.check:
		return "as planned, no problems found"
	}
	return "as planned"
}

// printPunchList writes a line for each job.
func (c *command) printPunchList(out *render.Output, f *fabric.Fabric, findings []report.Finding) {
	for _, f := range findings {
		fmt.Fprintln(out, f.Hint)
	}
	if len(findings) == 0 && !c.isPartial(f) {
		fmt.Fprintln(out, "as planned")
	}
}

func (c *command) printFindings(out *render.Output, findings []report.Finding) {
	if len(findings) == 0 {
		return
	}
	colour := render.NewPalette(c.env.Out, c.env.Getenv)
	render.Columns(out, []render.Column[report.Finding]{
		column("FINDING", func(f report.Finding) string { return colour.Bad(string(f.Kind)) }),
		column("DETAIL", func(f report.Finding) string { return f.Detail }),
	}, findings)
}

func (c *command) printNodes(out *render.Output, f *fabric.Fabric) {
	levels := topology.Levels(f)
	var nodes []topology.ReportNode
	for _, kind := range c.types {
		for _, n := range c.selected(f) {
			if n.Info.NodeType == kind {
				nodes = append(nodes, topology.NewReportNode(n, levels, c.names))
			}
		}
	}
	columns := []render.Column[topology.ReportNode]{
		column("TYPE", func(n topology.ReportNode) string { return n.Type }),
		column("GUID", func(n topology.ReportNode) string { return n.GUID.String() }),
		column("LID", func(n topology.ReportNode) string { return render.Show(n.LID) }),
		column("PORTS", func(n topology.ReportNode) string { return strconv.Itoa(n.Ports) }),
		column("LINKS", func(n topology.ReportNode) string { return strconv.Itoa(n.Links) }),
		column("LEVEL", func(n topology.ReportNode) string { return render.Show(n.Level) }),
		column("NAME", func(n topology.ReportNode) string { return cmp.Or(n.Name, render.Absent) }),
	}
	if slices.ContainsFunc(nodes, func(n topology.ReportNode) bool { return n.System != nil }) {
		columns = append(columns, column("CHASSIS", chassis))
	}
	if len(nodes) > 0 {
		render.Columns(out, columns, nodes)
	}
}

func chassis(n topology.ReportNode) string {
	switch {
	case n.System == nil:
		return render.Absent
	case n.System.Slot == "":
		return strconv.Itoa(n.System.Number)
	}
	return fmt.Sprintf("%d %s", n.System.Number, n.System.Slot)
}

func (c *command) printCables(out *render.Output, cables []topology.Cable) {
	if len(cables) == 0 {
		return
	}
	render.Columns(out, []render.Column[topology.Cable]{
		column("NODE", func(r topology.Cable) string { return cmp.Or(c.names.Name(r.A.Node), render.Absent) }),
		column("PORT", func(r topology.Cable) string { return topology.PortLabel(r.A) }),
		column("PEER", c.ofPeer(func(p *fabric.Port) string { return c.names.Name(p.Node) })),
		column("PEER PORT", c.ofPeer(topology.PortLabel)),
		column("WIDTH", func(r topology.Cable) string {
			w, _ := r.Rate()
			return cmp.Or(render.Text(w), render.Absent)
		}),
		column("SPEED", func(r topology.Cable) string {
			_, s := r.Rate()
			return cmp.Or(render.Text(s), render.Absent)
		}),
	}, cables)
}

func (c *command) ofPeer(text func(*fabric.Port) string) func(topology.Cable) string {
	return func(r topology.Cable) string {
		if r.B == nil {
			return render.Absent
		}
		return cmp.Or(text(r.B), render.Absent)
	}
}

// column returns a column with the texts of a function.
func column[Row any](header string, text func(Row) string) render.Column[Row] {
	return render.Column[Row]{Header: header, Append: func(b []byte, r Row) []byte { return append(b, text(r)...) }}
}
