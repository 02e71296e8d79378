package links

import (
	"encoding/csv"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
)

// columns are the columns of the CSV, each with what a port has there; ""
// is for what is not known or does not exist.
var columns = []struct {
	name  string
	value func(*linkinfo.End, *fabric.NameMap) string
}{
	{"node_guid", func(e *linkinfo.End, _ *fabric.NameMap) string { return e.Port.Node.GUID.String() }},
	{"node_type", func(e *linkinfo.End, _ *fabric.NameMap) string { return e.Port.Node.Info.NodeType.String() }},
	{"node", func(e *linkinfo.End, names *fabric.NameMap) string { return names.Name(e.Port.Node) }},
	{"port_guid", func(e *linkinfo.End, _ *fabric.NameMap) string { return e.Port.GUID.String() }},
	{"lid", func(e *linkinfo.End, _ *fabric.NameMap) string { return strconv.Itoa(int(e.Port.LID())) }},
	{"port", func(e *linkinfo.End, _ *fabric.NameMap) string { return strconv.Itoa(int(e.Port.Number)) }},
	{"state", func(e *linkinfo.End, _ *fabric.NameMap) string {
		return OfInfo(e.Port, func(i *mad.PortInfo) string { return i.State.String() })
	}},
	{"phys_state", func(e *linkinfo.End, _ *fabric.NameMap) string {
		return OfInfo(e.Port, func(i *mad.PortInfo) string { return i.PhysState.String() })
	}},
	{"width", func(e *linkinfo.End, _ *fabric.NameMap) string { return render.Text(e.Width) }},
	{"speed", func(e *linkinfo.End, _ *fabric.NameMap) string { return render.Text(e.Speed) }},
	{"gbps", func(e *linkinfo.End, _ *fabric.NameMap) string {
		if e.Width == 0 || e.Speed == 0 {
			return ""
		}
		return strconv.FormatFloat(ib.LinkGbps(e.Width, e.Speed), 'f', -1, 64)
	}},
	{"best_width", func(e *linkinfo.End, _ *fabric.NameMap) string { return render.Text(e.BestWidth) }},
	{"best_speed", func(e *linkinfo.End, _ *fabric.NameMap) string { return render.Text(e.BestSpeed) }},
	{"peer_node_guid", func(e *linkinfo.End, _ *fabric.NameMap) string {
		return OfPeer(e.Port, func(p *fabric.Port) string { return p.Node.GUID.String() })
	}},
	{"peer_node", func(e *linkinfo.End, names *fabric.NameMap) string {
		return OfPeer(e.Port, func(p *fabric.Port) string { return names.Name(p.Node) })
	}},
	{"peer_lid", func(e *linkinfo.End, _ *fabric.NameMap) string {
		return OfPeer(e.Port, func(p *fabric.Port) string { return strconv.Itoa(int(p.LID())) })
	}},
	{"peer_port", func(e *linkinfo.End, _ *fabric.NameMap) string {
		return OfPeer(e.Port, func(p *fabric.Port) string { return strconv.Itoa(int(p.Number)) })
	}},
	{"findings", func(e *linkinfo.End, _ *fabric.NameMap) string {
		var kinds []string
		for _, f := range e.Findings {
			kinds = append(kinds, string(f.Kind))
		}
		return strings.Join(kinds, " ")
	}},
}

// WriteCSV writes a header and one record a port. Errors stay with out.
func WriteCSV(out *render.Output, ends []linkinfo.End, names *fabric.NameMap) {
	w := csv.NewWriter(out)
	record := make([]string, len(columns))
	for i, c := range columns {
		record[i] = c.name
	}
	_ = w.Write(record)
	for i := range ends {
		for k, c := range columns {
			record[k] = c.value(&ends[i], names)
		}
		_ = w.Write(record)
	}
	w.Flush()
}

func OfInfo(p *fabric.Port, value func(*mad.PortInfo) string) string {
	if p.Info == nil {
		return ""
	}
	return value(p.Info)
}

func OfPeer(p *fabric.Port, value func(*fabric.Port) string) string {
	if p.Peer == nil {
		return ""
	}
	return value(p.Peer)
}
