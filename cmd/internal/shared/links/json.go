package links

import (
	"slices"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/linkinfo"
)

// WriteJSON writes a [linkinfo.Report], a node at a time: the report on a large
// fabric would not fit into memory. ends are in the order of nodes.
func WriteJSON(out *render.Output, r *linkinfo.Result, nodes []*fabric.Node, ends []linkinfo.End, o linkinfo.ReportOptions) {
	d := linkinfo.NewReport(r, nodes, ends, o)
	render.WriteHead(out, &d.Head, linkinfo.Findings(ends, o.Names))
	render.WriteMembers(out, ',', struct {
		Aborted *string `json:"aborted"`
		Start   ib.GUID `json:"start"`
	}{d.Aborted, d.Start})
	rest := ends
	render.WriteArray(out, "nodes", nodes, func(n *fabric.Node) any {
		count := 0
		for count < len(rest) && rest[count].Port.Node == n {
			count++
		}
		own := rest[:count]
		rest = rest[count:]
		return linkinfo.NewReportNode(n, own, o)
	})
	links := slices.DeleteFunc(linkinfo.Links(ends), func(l linkinfo.Link) bool { return l.Near.Port.Peer == nil && len(l.Near.Findings) == 0 })
	render.WriteArray(out, "links", links, func(l linkinfo.Link) any { return linkinfo.NewReportLink(l, o.Names) })
	render.WriteMembers(out, ',', struct {
		Stats   linkinfo.ReportStats `json:"stats"`
		Summary linkinfo.Summary     `json:"summary"`
	}{d.Stats, d.Summary})
	out.WriteString("\n}\n")
}
