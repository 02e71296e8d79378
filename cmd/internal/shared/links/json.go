package links

import (
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/linkinfo"
)

// WriteJSON writes a [linkinfo.Report], a node at a time: the report on a large
// fabric would not fit into memory. ends are in the order of nodes.
func WriteJSON(out *render.Output, f *fabric.Fabric, nodes []*fabric.Node, ends []linkinfo.End, o linkinfo.ReportOptions) {
	head := linkinfo.NewReportHead(f)
	head.Partial = head.Partial || o.Partial
	render.WriteMembers(out, '{', head)
	rest := ends
	render.AppendArray(out, "nodes", nodes, func(b []byte, n *fabric.Node) []byte {
		count := 0
		for count < len(rest) && rest[count].Port.Node == n {
			count++
		}
		own := rest[:count]
		rest = rest[count:]
		return linkinfo.AppendNodeJSON(b, n, own, o)
	})
	render.WriteArray(out, "failures", f.Failures, func(f fabric.Failure) any { return linkinfo.NewReportFailure(f) })
	render.WriteArray(out, "conflicts", f.Conflicts, func(c fabric.Conflict) any { return linkinfo.NewReportConflict(c) })
	summary := linkinfo.Summarize(nodes, ends, linkinfo.Links(ends))
	render.WriteMembers(out, ',', linkinfo.NewReportTail(f, summary))
	out.WriteString("\n}\n")
}
