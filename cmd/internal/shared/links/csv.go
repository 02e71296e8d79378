package links

import (
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
)

// columns are the columns of the CSV. "" stands for a value that is unknown or does
// not exist.
var columns = []struct {
	name  string
	value func(linkinfo.Link, *fabric.NameMap) string
}{
	{"node_guid", func(l linkinfo.Link, _ *fabric.NameMap) string { return l.Near.Port.Node.GUID.String() }},
	{"node_type", func(l linkinfo.Link, _ *fabric.NameMap) string { return l.Near.Port.Node.Info.NodeType.String() }},
	{"node", func(l linkinfo.Link, names *fabric.NameMap) string {
		return names.Name(l.Near.Port.Node)
	}},
	{"port_guid", func(l linkinfo.Link, _ *fabric.NameMap) string { return l.Near.Port.GUID.String() }},
	{"lid", func(l linkinfo.Link, _ *fabric.NameMap) string { return lidOf(l.Near.Port) }},
	{"port", func(l linkinfo.Link, _ *fabric.NameMap) string { return strconv.Itoa(int(l.Near.Port.Number)) }},
	{"state", func(l linkinfo.Link, _ *fabric.NameMap) string {
		return ofInfo(l.Near.Port, func(i *mad.PortInfo) string { return render.Text(i.State) })
	}},
	{"phys_state", func(l linkinfo.Link, _ *fabric.NameMap) string {
		return ofInfo(l.Near.Port, func(i *mad.PortInfo) string { return render.Text(i.PhysState) })
	}},
	{"width", func(l linkinfo.Link, _ *fabric.NameMap) string { return render.Text(l.Near.Width) }},
	{"speed", func(l linkinfo.Link, _ *fabric.NameMap) string { return render.Text(l.Near.Speed) }},
	{"gbps", func(l linkinfo.Link, _ *fabric.NameMap) string {
		if l.Near.Width == 0 || l.Near.Speed == 0 {
			return ""
		}
		return strconv.FormatFloat(ib.LinkGbps(l.Near.Width, l.Near.Speed), 'f', -1, 64)
	}},
	{"best_width", func(l linkinfo.Link, _ *fabric.NameMap) string { return render.Text(l.Near.BestWidth) }},
	{"best_speed", func(l linkinfo.Link, _ *fabric.NameMap) string { return render.Text(l.Near.BestSpeed) }},
	{"peer_node_guid", func(l linkinfo.Link, _ *fabric.NameMap) string {
		return ofPeer(l.Near.Port, func(p *fabric.Port) string { return p.Node.GUID.String() })
	}},
	{"peer_node", func(l linkinfo.Link, names *fabric.NameMap) string {
		return ofPeer(l.Near.Port, func(p *fabric.Port) string { return names.Name(p.Node) })
	}},
	{"peer_lid", func(l linkinfo.Link, _ *fabric.NameMap) string {
		return ofPeer(l.Near.Port, lidOf)
	}},
	{"peer_port", func(l linkinfo.Link, _ *fabric.NameMap) string {
		return ofPeer(l.Near.Port, func(p *fabric.Port) string { return strconv.Itoa(int(p.Number)) })
	}},
	{"findings", func(l linkinfo.Link, _ *fabric.NameMap) string {
		var kinds []string
		for _, f := range l.Near.Findings {
			kinds = append(kinds, string(f.Kind))
		}
		for _, f := range l.FarFindings() {
			kinds = append(kinds, string(f.Kind))
		}
		return strings.Join(kinds, " ")
	}},
}

// lidOf returns the LID of a port, "" if it is unknown.
func lidOf(p *fabric.Port) string {
	if p.Caps() == nil {
		return ""
	}
	return strconv.Itoa(int(p.LID()))
}

// A CSVColumn is a column of [WriteCSV] in addition to those of each link.
type CSVColumn struct {
	Name  string
	Value func(linkinfo.Link) string
}

// WriteCSV writes a header and one record per link, as its near end reports it.
// Errors stay with out.
func WriteCSV(out *render.Output, links []linkinfo.Link, names *fabric.NameMap, more ...CSVColumn) {
	record := make([]string, 0, len(columns)+len(more))
	for _, c := range columns {
		record = append(record, c.name)
	}
	for _, c := range more {
		record = append(record, c.Name)
	}
	w := textfile.NewCSV(out, record...)
	for _, l := range links {
		record = record[:0]
		for _, c := range columns {
			record = append(record, c.value(l, names))
		}
		for _, c := range more {
			record = append(record, c.Value(l))
		}
		w.Write(record...)
	}
	_ = w.Flush()
}

// ofInfo returns a value of the attributes of a port, or "" if they are missing.
func ofInfo(p *fabric.Port, value func(*mad.PortInfo) string) string {
	if p.Info == nil {
		return ""
	}
	return value(p.Info)
}

// ofPeer returns a value of the peer of a port, or "" without a peer.
func ofPeer(p *fabric.Port, value func(*fabric.Port) string) string {
	if p.Peer == nil {
		return ""
	}
	return value(p.Peer)
}
