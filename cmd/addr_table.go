package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/render"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/resolve"
	"github.com/ibkit/ibkit/umad"
)

// addrView shows what was found.
type addrView struct {
	env     *environment
	names   *fabric.NameMap
	local   umad.PortAttr
	answers []addrAnswer
	columns []string
}

// An addrLine is a port for a target.
type addrLine struct {
	target resolve.Address
	*resolve.Port
	names *fabric.NameMap
}

// addrColumns are what can be shown of a port, each with what it has there; "" is
// for what is not known or does not exist.
var addrColumns = []struct {
	name  string
	value func(*addrLine) string
}{
	{"target", func(l *addrLine) string { return l.target.String() }},
	{"name", (*addrLine).name},
	{"type", func(l *addrLine) string {
		return ofNode(l, func(n *mad.NodeInfo) string { return n.NodeType.String() })
	}},
	{"port", func(l *addrLine) string {
		if n, ok := l.Number(); ok {
			return strconv.Itoa(int(n))
		}
		return ""
	}},
	{"lid", func(l *addrLine) string {
		first, _ := l.LIDs()
		return numberUnlessZero(first)
	}},
	{"lids", func(l *addrLine) string {
		first, last := l.LIDs()
		if first == last {
			return numberUnlessZero(first)
		}
		return fmt.Sprintf("%d-%d", first, last)
	}},
	{"lid-hex", func(l *addrLine) string {
		if first, _ := l.LIDs(); first != 0 {
			return fmt.Sprintf("0x%04x", first)
		}
		return ""
	}},
	{"gid", func(l *addrLine) string {
		if gids := l.GIDs(); len(gids) > 0 {
			return gids[0].String()
		}
		return ""
	}},
	{"gids", func(l *addrLine) string {
		var all []string
		for _, g := range l.GIDs() {
			all = append(all, g.String())
		}
		return strings.Join(all, ",")
	}},
	{"port-guid", func(l *addrLine) string {
		return ofNode(l, func(n *mad.NodeInfo) string { return guidText(n.PortGUID) })
	}},
	{"node-guid", func(l *addrLine) string {
		return ofNode(l, func(n *mad.NodeInfo) string { return guidText(n.NodeGUID) })
	}},
	{"system-guid", func(l *addrLine) string {
		return ofNode(l, func(n *mad.NodeInfo) string { return guidText(n.SystemGUID) })
	}},
	{"state", func(l *addrLine) string {
		if l.Info == nil {
			return ""
		}
		return l.Info.State.String()
	}},
	{"sm-lid", func(l *addrLine) string {
		if l.Info == nil {
			return ""
		}
		return numberUnlessZero(l.Info.SMLID)
	}},
	{"route", func(l *addrLine) string {
		if l.Host != nil || l.To.LID != 0 {
			return ""
		}
		return l.To.Route.String()
	}},
	{"ip", func(l *addrLine) string {
		return ofHost(l, func(h *resolve.Host) string { return textOf(h.IP) })
	}},
	{"link-address", func(l *addrLine) string {
		return ofHost(l, func(h *resolve.Host) string { return h.LinkAddr.String() })
	}},
	{"netdev", func(l *addrLine) string {
		return ofHost(l, func(h *resolve.Host) string { return h.Netdev })
	}},
	{"gateway", func(l *addrLine) string {
		return ofHost(l, func(h *resolve.Host) string { return textOf(h.Gateway) })
	}},
	{"gid-type", func(l *addrLine) string {
		return ofHost(l, func(h *resolve.Host) string {
			if len(h.Ways) == 0 {
				return ""
			}
			return h.Ways[0].Type
		})
	}},
	{"found-by", func(l *addrLine) string { return l.FoundBy.String() }},
	{"described-by", func(l *addrLine) string { return l.DescribedBy.String() }},
	{"finding", func(l *addrLine) string {
		var kinds []string
		for _, f := range l.Findings {
			kinds = append(kinds, string(f.Kind))
		}
		return strings.Join(kinds, " ")
	}},
}

// Columns that are shown unless others are asked for.
var (
	infinibandColumns = []string{"target", "name", "type", "port", "lids", "port-guid", "gid", "state", "finding"}
	ethernetColumns   = []string{"target", "ip", "gids", "gid-type", "link-address", "netdev", "gateway"}
)

func addrColumnNames() []string {
	var names []string
	for _, c := range addrColumns {
		names = append(names, c.name)
	}
	return names
}

func (l *addrLine) name() string {
	if l.Node == nil || l.Description == nil {
		return ""
	}
	return l.names.NameOf(l.Node.NodeGUID, *l.Description)
}

func ofNode(l *addrLine, value func(*mad.NodeInfo) string) string {
	if l.Node == nil {
		return ""
	}
	return value(l.Node)
}

func ofHost(l *addrLine, value func(*resolve.Host) string) string {
	if l.Host == nil {
		return ""
	}
	return value(l.Host)
}

// textOf writes an IP address; "" where there is none.
func textOf(v interface {
	IsValid() bool
	String() string
}) string {
	if !v.IsValid() {
		return ""
	}
	return v.String()
}

func numberUnlessZero(n uint16) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(int(n))
}

// shown returns the columns to show.
func (v *addrView) shown() []string {
	switch {
	case len(v.columns) > 0:
		return v.columns
	case v.local.LinkLayer == "Ethernet":
		return ethernetColumns
	}
	return infinibandColumns
}

// rows returns what is in the columns, a row a port. A port that nothing is known
// of is told of elsewhere.
func (v *addrView) rows(columns []string) [][]string {
	var rows [][]string
	for _, a := range v.answers {
		for _, p := range a.ports {
			if p.Node == nil && p.Host == nil {
				continue
			}
			l := &addrLine{a.target, p, v.names}
			var row []string
			for _, name := range columns {
				i := slices.IndexFunc(addrColumns, func(c struct {
					name  string
					value func(*addrLine) string
				}) bool {
					return c.name == name
				})
				row = append(row, cmp.Or(addrColumns[i].value(l), absent))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// plain writes a line a port with tabs between columns.
func (v *addrView) plain(out *output) {
	for _, row := range v.rows(v.shown()) {
		fmt.Fprintln(out, strings.Join(row, "\t"))
	}
}

// table writes a table, and below it what is wrong. Columns that nobody asked for
// and that have nothing in them are left out.
func (v *addrView) table(out *output) {
	columns := v.shown()
	rows := v.rows(columns)
	if len(rows) == 0 {
		return
	}
	var header []string
	kept := make([][]string, len(rows))
	for i, name := range columns {
		empty := !slices.ContainsFunc(rows, func(row []string) bool { return row[i] != absent })
		if len(v.columns) == 0 && empty {
			continue
		}
		header = append(header, strings.ToUpper(strings.ReplaceAll(name, "-", " ")))
		for j, row := range rows {
			kept[j] = append(kept[j], row[i])
		}
	}
	// The table writes to a buffer, whose errors Flush returns.
	_ = render.Table(out, header, kept)
	colour := render.NewPalette(v.env.out, v.env.getenv)
	for _, a := range v.answers {
		for _, p := range a.ports {
			for _, f := range p.Findings {
				fmt.Fprintf(out, "%s %s: %s\n", colour.Bad("problem:"), a.target, f.Detail)
			}
		}
	}
}
