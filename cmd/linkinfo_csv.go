package cmd

import (
	"encoding/csv"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
)

// linkColumns are the columns of the CSV, each with what a port has there; ""
// is for what is not known or does not exist.
var linkColumns = []struct {
	name  string
	value func(*linkinfo.End, *fabric.NameMap) string
}{
	{"node_guid", func(e *linkinfo.End, _ *fabric.NameMap) string { return guidText(e.Port.Node.GUID) }},
	{"node_type", func(e *linkinfo.End, _ *fabric.NameMap) string { return e.Port.Node.Info.NodeType.String() }},
	{"node", func(e *linkinfo.End, names *fabric.NameMap) string { return names.Name(e.Port.Node) }},
	{"port_guid", func(e *linkinfo.End, _ *fabric.NameMap) string { return guidText(e.Port.GUID) }},
	{"lid", func(e *linkinfo.End, _ *fabric.NameMap) string { return strconv.Itoa(int(e.Port.LID())) }},
	{"port", func(e *linkinfo.End, _ *fabric.NameMap) string { return strconv.Itoa(int(e.Port.Number)) }},
	{"state", func(e *linkinfo.End, _ *fabric.NameMap) string {
		return ofInfo(e.Port, func(i *mad.PortInfo) string { return i.State.String() })
	}},
	{"phys_state", func(e *linkinfo.End, _ *fabric.NameMap) string {
		return ofInfo(e.Port, func(i *mad.PortInfo) string { return i.PhysState.String() })
	}},
	{"width", func(e *linkinfo.End, _ *fabric.NameMap) string { return text(e.Width) }},
	{"speed", func(e *linkinfo.End, _ *fabric.NameMap) string { return text(e.Speed) }},
	{"gbps", func(e *linkinfo.End, _ *fabric.NameMap) string {
		if e.Width == 0 || e.Speed == 0 {
			return ""
		}
		return strconv.FormatFloat(ib.LinkGbps(e.Width, e.Speed), 'f', -1, 64)
	}},
	{"best_width", func(e *linkinfo.End, _ *fabric.NameMap) string { return text(e.BestWidth) }},
	{"best_speed", func(e *linkinfo.End, _ *fabric.NameMap) string { return text(e.BestSpeed) }},
	{"peer_node_guid", func(e *linkinfo.End, _ *fabric.NameMap) string {
		return ofPeer(e.Port, func(p *fabric.Port) string { return guidText(p.Node.GUID) })
	}},
	{"peer_node", func(e *linkinfo.End, names *fabric.NameMap) string {
		return ofPeer(e.Port, func(p *fabric.Port) string { return names.Name(p.Node) })
	}},
	{"peer_lid", func(e *linkinfo.End, _ *fabric.NameMap) string {
		return ofPeer(e.Port, func(p *fabric.Port) string { return strconv.Itoa(int(p.LID())) })
	}},
	{"peer_port", func(e *linkinfo.End, _ *fabric.NameMap) string {
		return ofPeer(e.Port, func(p *fabric.Port) string { return strconv.Itoa(int(p.Number)) })
	}},
	{"findings", func(e *linkinfo.End, _ *fabric.NameMap) string {
		var kinds []string
		for _, f := range e.Findings {
			kinds = append(kinds, string(f.Kind))
		}
		return strings.Join(kinds, " ")
	}},
}

// writeLinksCSV writes a header and one record a port. Errors stay with out.
func writeLinksCSV(out *output, ends []linkinfo.End, names *fabric.NameMap) {
	w := csv.NewWriter(out)
	record := make([]string, len(linkColumns))
	for i, c := range linkColumns {
		record[i] = c.name
	}
	_ = w.Write(record)
	for i := range ends {
		for k, c := range linkColumns {
			record[k] = c.value(&ends[i], names)
		}
		_ = w.Write(record)
	}
	w.Flush()
}

func guidText(g ib.GUID) string { return string(appendGUID(nil, g)) }

func ofInfo(p *fabric.Port, value func(*mad.PortInfo) string) string {
	if p.Info == nil {
		return ""
	}
	return value(p.Info)
}

func ofPeer(p *fabric.Port, value func(*fabric.Port) string) string {
	if p.Peer == nil {
		return ""
	}
	return value(p.Peer)
}

// text returns the text of a value, "" for no value.
func text[T interface {
	comparable
	String() string
}](v T) string {
	if s := unlessZero(v); s != nil {
		return *s
	}
	return ""
}
