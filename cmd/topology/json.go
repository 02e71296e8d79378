package topology

import (
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/report"
)

// report returns the document's head, with all failures.
func (c *command) report(f *fabric.Fabric, findings []report.Finding) *topology.Report {
	r := topology.NewReport(f, c.began, findings, c.names)
	for _, err := range c.unread {
		r.Fail(fabric.ReportFailure("", err))
	}
	r.Partial = c.isPartial(f)
	return r
}

// writeJSON writes a [topology.Report] of the selected nodes, one node or cable at a time.
func (c *command) writeJSON(out *render.Output, r *topology.Report, f *fabric.Fabric) {
	levels := topology.Levels(f)
	render.WriteHead(out, &r.Head)
	render.WriteMembers(out, ',', struct {
		Start *ib.GUID `json:"start"`
	}{r.Start})
	render.WriteArray(out, "nodes", c.selected(f), func(n *fabric.Node) any { return topology.NewReportNode(n, levels, c.names) })
	render.WriteArray(out, "cables", c.cables(f), func(r topology.Cable) any { return topology.NewReportCable(r, c.names) })
	render.WriteMembers(out, ',', struct {
		Summary topology.Summary `json:"summary"`
	}{r.Summary})
	out.WriteString("\n}\n")
}
