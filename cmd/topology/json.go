package topology

import (
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/topology"
)

// writeJSON writes a [topology.Report], one node or cable at a time.
func writeJSON(out *render.Output, f *fabric.Fabric, names *fabric.NameMap, findings []topology.Finding) {
	levels := topology.Levels(f)
	render.WriteMembers(out, '{', topology.NewReportHead(f))
	render.WriteArray(out, "nodes", f.Nodes, func(n *fabric.Node) any { return topology.NewReportNode(n, levels, names) })
	render.WriteArray(out, "cables", topology.Cables(f), func(c topology.Cable) any { return topology.NewReportCable(c, names) })
	render.WriteArray(out, "findings", findings, func(f topology.Finding) any { return f })
	render.WriteMembers(out, ',', topology.ReportTail{Summary: topology.Summarize(f, len(findings))})
	out.WriteString("\n}\n")
}
