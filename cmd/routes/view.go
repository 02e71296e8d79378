package routes

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/report"
)

// A view prints a part of a routing.
type view struct {
	*command
	head    report.Head
	routing *route.Routing
	partial bool
	groups  []route.PortGroup // of --balance

	owners []*route.Port // by LID
	texts  []string      // of owners, as owner returns them
}

func (v *view) print(out *render.Output) {
	v.findOwners()
	switch {
	case v.json:
		v.printJSON(out)
	case v.link != nil:
		v.printUses(out)
	case v.balance:
		v.printBalance(out)
	case v.csv:
		v.printCSV(out)
	default:
		for i, n := range v.nodes {
			if i > 0 {
				out.WriteByte('\n')
			}
			v.printSwitch(out, n)
		}
	}
	if v.partial && !v.json && !v.csv {
		fmt.Fprintln(out, "\npartial result: tables or nodes are missing")
	}
}

// findOwners finds the port of each LID; of several ports the first.
func (v *view) findOwners() {
	v.owners = make([]*route.Port, int(ib.MaxUnicastLID)+1)
	for _, n := range v.routing.Nodes {
		for i := range n.Ports {
			p := &n.Ports[i]
			for k := range 1 << p.LMC {
				if lid := int(p.LID) + k; p.LID.IsUnicast() && lid < len(v.owners) && v.owners[lid] == nil {
					v.owners[lid] = p
				}
			}
		}
	}
}

func (v *view) name(n *route.Node) string { return v.names.LabelOf(n.GUID, n.Desc) }

// port names a port.
func (v *view) port(p *route.Port) string {
	if p == nil {
		return render.Absent
	}
	return fabric.PortName(v.name(p.Node), int(p.Number))
}

// owner names the port of a LID. That of a switch has no number. Each name is formatted
// once: all tables of a large fabric have millions of entries.
func (v *view) owner(lid ib.LID) string {
	if v.texts == nil {
		v.texts = make([]string, len(v.owners))
	}
	if v.texts[lid] == "" {
		if p := v.owners[lid]; p != nil && p.Node.IsSwitch() {
			v.texts[lid] = v.name(p.Node)
		} else {
			v.texts[lid] = v.port(p)
		}
	}
	return v.texts[lid]
}

// outputNames returns the names of the other ends of all output ports.
func (v *view) outputNames(n *route.Node) (names [256]string) {
	for port := range names {
		names[port] = v.output(n, uint8(port))
	}
	return names
}

// peer returns the port at the other end of an output port, nil without a link.
func peer(n *route.Node, port uint8) *route.Port {
	if int(port) >= len(n.Ports) {
		return nil
	}
	return n.Ports[port].Peer
}

// output names the other end of an output port. Port 0 leads to the switch itself.
func (v *view) output(n *route.Node, port uint8) string {
	if port == 0 {
		return v.name(n)
	}
	return v.port(peer(n, port))
}

func portText(port uint8) string {
	if port == route.NoRoute {
		return render.Absent
	}
	return strconv.Itoa(int(port))
}

// printSwitch prints a table of a switch.
func (v *view) printSwitch(out *render.Output, n *route.Node) {
	fmt.Fprintf(out, "%s (%v), LID %s: ", v.name(n), n.GUID, lidText(n.Ports[0].LID))
	t := n.Tables
	switch {
	case v.isUnknown(n):
		fmt.Fprintln(out, "unknown table")
		return
	case v.multicast:
		groups := t.Groups(&v.filter)
		fmt.Fprintf(out, "%s; size of the table: %s\n", plural.Count(len(groups), "multicast entry", "multicast entries"), size(t.MulticastCap))
		printRows(out, []render.Column[route.Group]{
			render.TextColumn("LID", func(g route.Group) string { return fmt.Sprintf("0x%x", uint16(g.LID)) }),
			render.TextColumn("PORTS", func(g route.Group) string { return v.outputs(n, g) }),
		}, groups)
	default:
		entries, outputs := t.Entries(&v.filter), v.outputNames(n)
		fmt.Fprintf(out, "%s; highest LID in use: %d, size of the table: %s\n", plural.Count(len(entries), "entry", "entries"), t.Top, size(t.Cap))
		printRows(out, []render.Column[route.Entry]{
			{Header: "LID", Append: func(b []byte, e route.Entry) []byte { return strconv.AppendUint(b, uint64(e.LID), 10) }},
			render.TextColumn("PORT", func(e route.Entry) string { return portText(e.Port) }),
			render.TextColumn("TO", func(e route.Entry) string { return outputs[e.Port] }),
			render.TextColumn("DESTINATION", func(e route.Entry) string { return v.owner(e.LID) }),
		}, entries)
	}
	for _, r := range t.Ranges() {
		fmt.Fprintf(out, "LIDs %d to %d could not be read\n", r.First, r.Last)
	}
}

// printRows prints a table if it has rows.
func printRows[Row any](out *render.Output, columns []render.Column[Row], rows []Row) {
	if len(rows) > 0 {
		render.Columns(out, columns, rows)
	}
}

func lidText(lid ib.LID) string {
	if lid == 0 {
		return render.Absent
	}
	return strconv.Itoa(int(lid))
}

func size(entries uint16) string {
	if entries == 0 {
		return render.Absent
	}
	return strconv.Itoa(int(entries))
}

// outputs lists the output ports of a multicast LID with their peers.
func (v *view) outputs(n *route.Node, g route.Group) string {
	var ports []string
	for _, number := range g.Numbers() {
		ports = append(ports, fmt.Sprintf("%d → %s", number, v.output(n, uint8(number))))
	}
	return strings.Join(ports, ", ")
}

// printUses prints the LIDs that cross a link.
func (v *view) printUses(out *render.Output) {
	uses := route.Uses(v.link)
	if v.csv {
		w := textfile.NewCSV(out, "switch_guid", "switch", "port", "lid", "destination_guid", "destination")
		for _, u := range uses {
			for _, lid := range u.LIDs {
				guid, name := v.ownerFields(lid)
				w.Write(u.Output.Node.GUID.String(), v.name(u.Output.Node), strconv.Itoa(int(u.Output.Number)), strconv.Itoa(int(lid)), guid, name)
			}
		}
		_ = w.Flush()
		return
	}
	for i, u := range uses {
		if i > 0 {
			out.WriteByte('\n')
		}
		fmt.Fprintf(out, "%s → %s: %s\n", v.port(u.Output), v.port(u.Output.Peer), plural.Count(len(u.LIDs), "LID", "LIDs"))
		render.Columns(out, []render.Column[ib.LID]{
			render.TextColumn("LID", func(lid ib.LID) string { return strconv.Itoa(int(lid)) }),
			render.TextColumn("DESTINATION", v.owner),
		}, u.LIDs)
	}
}

// printBalance prints the loads of groups of links.
func (v *view) printBalance(out *render.Output) {
	to := func(g route.PortGroup) string {
		if g.To == nil {
			return "up-links"
		}
		return v.name(g.To)
	}
	loads := func(g route.PortGroup) string {
		var ports []string
		for _, l := range g.Ports {
			ports = append(ports, fmt.Sprintf("%d:%d", l.Port.Number, l.LIDs))
		}
		return strings.Join(ports, " ")
	}
	finding := func(g route.PortGroup) string {
		if g.Uneven() {
			return "uneven"
		}
		return ""
	}
	if v.csv {
		w := textfile.NewCSV(out, "switch_guid", "switch", "level", "to_guid", "to", "port", "lids", "paths", "mean_lids", "finding")
		for _, g := range v.groups {
			guid, name := "", ""
			if g.To != nil {
				guid, name = g.To.GUID.String(), v.name(g.To)
			}
			for _, l := range g.Ports {
				w.Write(g.Switch.GUID.String(), v.name(g.Switch), strconv.Itoa(g.Level), guid, name, strconv.Itoa(int(l.Port.Number)),
					strconv.Itoa(l.LIDs), strconv.FormatUint(l.Paths, 10), strconv.FormatFloat(g.Mean, 'f', 2, 64), finding(g))
			}
		}
		_ = w.Flush()
		return
	}
	render.Columns(out, []render.Column[route.PortGroup]{
		render.TextColumn("SWITCH", func(g route.PortGroup) string { return v.name(g.Switch) }),
		render.TextColumn("LEVEL", func(g route.PortGroup) string { return strconv.Itoa(g.Level) }),
		render.TextColumn("TO", to),
		render.TextColumn("LEAST", func(g route.PortGroup) string { return strconv.Itoa(g.Least) }),
		render.TextColumn("MEAN", func(g route.PortGroup) string { return strconv.FormatFloat(g.Mean, 'f', 1, 64) }),
		render.TextColumn("MOST", func(g route.PortGroup) string { return strconv.Itoa(g.Most) }),
		render.TextColumn("FINDING", func(g route.PortGroup) string { return render.OrAbsent(finding(g)) }),
		render.TextColumn("PORT:LIDS", loads),
	}, v.groups)
}

// ownerFields returns the fields of the GUID of the node with a LID and its name, "" if it is
// unknown.
func (v *view) ownerFields(lid ib.LID) (guid, name string) {
	p := v.owners[lid]
	if p == nil {
		return "", ""
	}
	return p.Node.GUID.String(), v.owner(lid)
}

// printCSV prints one line per entry.
func (v *view) printCSV(out *render.Output) {
	columns := []string{"switch_guid", "switch", "lid", "port", "peer_guid", "peer", "destination_guid", "destination"}
	if v.multicast {
		columns = []string{"switch_guid", "switch", "lid", "ports"}
	}
	w := textfile.NewCSV(out, columns...)
	for _, n := range v.nodes {
		guid, name := n.GUID.String(), v.name(n)
		if v.multicast {
			for _, g := range n.Tables.Groups(&v.filter) {
				w.Write(guid, name, fmt.Sprintf("0x%x", uint16(g.LID)), strings.Trim(fmt.Sprint(g.Numbers()), "[]"))
			}
			continue
		}
		peers := make([][2]string, len(n.Ports)) // by port
		for i := range n.Ports {
			if p := n.Ports[i].Peer; p != nil {
				peers[i] = [2]string{p.Node.GUID.String(), v.port(p)}
			}
		}
		for _, e := range n.Tables.Entries(&v.filter) {
			port, to := "", [2]string{}
			if e.Port != route.NoRoute {
				port = strconv.Itoa(int(e.Port))
			}
			if int(e.Port) < len(peers) {
				to = peers[e.Port]
			}
			owner, destination := v.ownerFields(e.LID)
			w.Write(guid, name, strconv.Itoa(int(e.LID)), port, to[0], to[1], owner, destination)
		}
	}
	_ = w.Flush()
}

// printJSON prints a [route.ReportTables], the tables of one switch at a time.
func (v *view) printJSON(out *render.Output) {
	render.WriteMembers(out, '{', v.head)
	shown := make([]bool, int(ib.MaxUnicastLID)+1)
	member := func(name string, value any) { fmt.Fprintf(out, ",\n%q:%s", name, render.MustMarshal(value)) }
	switch {
	case v.link != nil:
		uses := route.Uses(v.link)
		for _, u := range uses {
			for _, lid := range u.LIDs {
				shown[lid] = true
			}
		}
		member("switches", nil)
		member("use", route.NewReportUses(uses, v.names))
		member("balance", nil)
	case v.balance:
		member("switches", nil)
		member("use", nil)
		render.WriteArray(out, "balance", v.groups, func(g route.PortGroup) any { return route.NewReportBalance(&g, v.names) })
	default:
		render.WriteArray(out, "switches", v.nodes, func(n *route.Node) any {
			r := route.NewReportSwitch(n, &v.filter, v.multicast, v.names)
			for _, e := range r.Unicast {
				shown[e.LID] = true
			}
			return r
		})
		member("use", nil)
		member("balance", nil)
	}
	owners := route.NewReportOwners(v.routing, func(lid ib.LID) bool { return lid.IsUnicast() && shown[lid] }, v.names)
	render.WriteArray(out, "destinations", owners, func(o route.ReportOwner) any { return o })
	out.WriteString("\n}\n")
}
