package topology

import (
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/topology"
)

// writeJSON writes a [topology.Report], one node or cable at a time.
func writeJSON(out *render.Output, r *topology.Report, f *fabric.Fabric, names *fabric.NameMap) {
	levels := topology.Levels(f)
	render.WriteHead(out, &r.Head)
	render.WriteMembers(out, ',', struct {
		Start *ib.GUID `json:"start"`
	}{r.Start})
	render.WriteArray(out, "nodes", f.Nodes, func(n *fabric.Node) any { return topology.NewReportNode(n, levels, names) })
	render.WriteArray(out, "cables", topology.Cables(f), func(c topology.Cable) any { return topology.NewReportCable(c, names) })
	render.WriteMembers(out, ',', struct {
		Summary topology.Summary `json:"summary"`
	}{r.Summary})
	out.WriteString("\n}\n")
}
