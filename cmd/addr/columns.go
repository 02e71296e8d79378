package addr

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A portLine is a port of a target.
type portLine struct {
	target lookup.Address
	*lookup.Port
	names *fabric.NameMap
}

// A column is a property of a port. "" stands for a value that is unknown or does not
// exist.
type column struct {
	name  string
	value func(*portLine) string
}

var allColumns = []column{
	{"target", func(l *portLine) string { return l.target.String() }},
	{"name", (*portLine).name},
	{"type", func(l *portLine) string {
		return ofNode(l, func(n *mad.NodeInfo) string { return n.NodeType.String() })
	}},
	{"port", func(l *portLine) string {
		if n, ok := l.Number(); ok {
			return strconv.Itoa(int(n))
		}
		return ""
	}},
	{"lid", func(l *portLine) string {
		first, _ := l.LIDs()
		return numberUnlessZero(first)
	}},
	{"lids", func(l *portLine) string {
		first, last := l.LIDs()
		if first == last {
			return numberUnlessZero(first)
		}
		return fmt.Sprintf("%d-%d", first, last)
	}},
	{"lid-hex", func(l *portLine) string {
		if first, _ := l.LIDs(); first != 0 {
			return fmt.Sprintf("0x%04x", first)
		}
		return ""
	}},
	{"gid", func(l *portLine) string {
		if gids := l.GIDs(); len(gids) > 0 {
			return gids[0].String()
		}
		return ""
	}},
	{"gids", func(l *portLine) string {
		var all []string
		for _, g := range l.GIDs() {
			all = append(all, g.String())
		}
		return strings.Join(all, ",")
	}},
	{"port-guid", func(l *portLine) string {
		return ofNode(l, func(n *mad.NodeInfo) string { return n.PortGUID.String() })
	}},
	{"node-guid", func(l *portLine) string {
		return ofNode(l, func(n *mad.NodeInfo) string { return n.NodeGUID.String() })
	}},
	{"system-guid", func(l *portLine) string {
		return ofNode(l, func(n *mad.NodeInfo) string { return n.SystemGUID.String() })
	}},
	{"state", func(l *portLine) string {
		if l.Info == nil {
			return ""
		}
		return l.Info.State.String()
	}},
	{"sm-lid", func(l *portLine) string {
		if l.Info == nil {
			return ""
		}
		return numberUnlessZero(l.Info.SMLID)
	}},
	{"route", func(l *portLine) string {
		if l.Host != nil || l.To.LID != 0 || l.To.Route.IsNone() {
			return ""
		}
		return l.To.Route.String()
	}},
	{"ip", func(l *portLine) string {
		return ofHost(l, func(h *lookup.Host) string { return textOf(h.IP) })
	}},
	{"link-address", func(l *portLine) string {
		return ofHost(l, func(h *lookup.Host) string { return h.LinkAddr.String() })
	}},
	{"netdev", func(l *portLine) string {
		return ofHost(l, func(h *lookup.Host) string { return h.Netdev })
	}},
	{"gateway", func(l *portLine) string {
		return ofHost(l, func(h *lookup.Host) string { return textOf(h.Gateway) })
	}},
	{"gid-type", func(l *portLine) string {
		return ofHost(l, func(h *lookup.Host) string {
			if len(h.Paths) == 0 {
				return ""
			}
			return h.Paths[0].Type
		})
	}},
	{"device", func(l *portLine) string {
		return ofHost(l, func(h *lookup.Host) string {
			if len(h.Paths) == 0 {
				return ""
			}
			return h.Paths[0].Device
		})
	}},
	{"found-by", func(l *portLine) string { return l.FoundBy.String() }},
	{"described-by", func(l *portLine) string { return l.DescribedBy.String() }},
	{"finding", func(l *portLine) string {
		var kinds []string
		for _, f := range l.Findings {
			kinds = append(kinds, string(f.Kind))
		}
		return strings.Join(kinds, " ")
	}},
}

// The default columns.
var (
	infinibandColumns = []string{"target", "name", "type", "port", "lids", "port-guid", "gid", "state", "finding"}
	ethernetColumns   = []string{"target", "ip", "gids", "gid-type", "device", "link-address", "netdev", "gateway"}
)

func columnNames() []string {
	var names []string
	for _, c := range allColumns {
		names = append(names, c.name)
	}
	return names
}

// problems returns the findings in words.
func (l *portLine) problems() string {
	var all []string
	for _, f := range l.Findings {
		all = append(all, fmt.Sprintf("%s: %s", f.Kind, f.Detail))
	}
	return strings.Join(all, "; ")
}

func (l *portLine) name() string {
	if l.Node == nil || l.Description == nil {
		return ""
	}
	return l.names.NameOf(l.Node.NodeGUID, *l.Description)
}

func ofNode(l *portLine, value func(*mad.NodeInfo) string) string {
	if l.Node == nil {
		return ""
	}
	return value(l.Node)
}

func ofHost(l *portLine, value func(*lookup.Host) string) string {
	if l.Host == nil {
		return ""
	}
	return value(l.Host)
}

// textOf returns the text of an IP address, "" for the zero value.
func textOf(v interface {
	IsValid() bool
	String() string
}) string {
	if !v.IsValid() {
		return ""
	}
	return v.String()
}

func numberUnlessZero(n ib.LID) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(int(n))
}
