package page

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/watch"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// nodeTypes are the values of the parameter type.
var nodeTypes = map[string]mad.NodeType{"ca": mad.NodeTypeCA, "switch": mad.NodeTypeSwitch, "router": mad.NodeTypeRouter}

// nodes is the list of nodes.
func (p *Page) nodes(_ context.Context, s *state, q query) content {
	return content{title: "Nodes", path: "nodes", body: func(m *markup) {
		rows := s.selectNodes(q)
		m.put("h1", countOf(len(rows), "node", "nodes"))
		m.begin("form", "action", "nodes", "class", "filter")
		m.filterText(q)
		m.begin("label")
		m.text("Type ")
		m.begin("select", "name", "type")
		for _, o := range [][2]string{{"", "all"}, {"ca", "hosts"}, {"switch", "switches"}, {"router", "routers"}} {
			attributes := []string{"value", o[0]}
			if o[0] == q.values.Get("type") {
				attributes = append(attributes, "selected", "selected")
			}
			m.put("option", o[1], attributes...)
		}
		m.end("select", "label")
		m.put("button", "Filter")
		m.end("form")
		m.table("", "Node", "Type", "#LID", "GUID", "#Links", "#Errors/s", "Severity")
		for _, r := range rowsOf(q, rows) {
			r.write(m)
		}
		m.end("tbody", "table", "div")
		q.pager(m, "nodes", len(rows))
	}}
}

// selectNodes returns the nodes that the parameters select, in name order, nodes with
// findings first if the parameter sort is severity.
func (s *state) selectNodes(q query) []nodeRow {
	kind, hasKind := nodeTypes[q.values.Get("type")]
	text := strings.ToLower(q.text)
	var rows []nodeRow
	for _, r := range s.nodes() {
		if hasKind && r.node.Info.NodeType != kind {
			continue
		}
		if text == "" || strings.Contains(strings.ToLower(r.node.Name), text) || strings.Contains(r.node.GUID.String(), text) {
			rows = append(rows, r)
		}
	}
	if q.values.Get("sort") == "severity" {
		severities := append(report.Severities(), "")
		slices.SortStableFunc(rows, func(a, b nodeRow) int {
			return cmp.Compare(slices.Index(severities, a.severity), slices.Index(severities, b.severity))
		})
	}
	return rows
}

func (r *nodeRow) write(m *markup) {
	m.begin("tr")
	m.begin("th", "scope", "row")
	m.link(addressOf(r.node.GUID, -1), cmp.Or(r.node.Name, r.node.GUID.String()))
	m.end("th")
	m.put("td", r.node.Info.NodeType.String())
	m.number("LID", lidText(r.lid))
	m.put("td", r.node.GUID.String(), "class", "code")
	m.number("Links", grouped(r.links))
	m.number("Errors/s", significant(r.errors))
	m.begin("td")
	m.severity(r.severity)
	m.end("td", "tr")
}

// node is a node's page.
func (p *Page) node(_ context.Context, s *state, q query) content {
	r := q.monitor(s.sample).ReportNode(q.guid)
	if r == nil {
		return q.noNode()
	}
	n := r.Node
	title := cmp.Or(n.Name, n.GUID.String())
	return content{title: title, path: "", body: func(m *markup) {
		m.put("h1", title)
		m.begin("p", "class", "note")
		m.text(n.Type + ", " + plural.Count(n.Ports, "port", "ports") + ", GUID ")
		m.put("span", n.GUID.String(), "class", "code")
		if n.LID != nil {
			m.text(", LID " + lidText(*n.LID))
		}
		m.end("p")
		m.findingList(s, func(f *report.Finding) bool { return f.NodeGUID != nil && *f.NodeGUID == n.GUID })
		m.put("h2", "Links")
		s.linkTable(m, q, "", n.Links)
		m.eventSection(p.recent(func(e *watch.Event) bool { return isAt(e, portKey{guid: n.GUID}, -1) }))
		m.commands("ibkit linkinfo --node "+n.GUID.String(), fmt.Sprintf("ibkit ping --via sma %v", n.GUID))
	}}
}

func lidText(lid ib.LID) string {
	if lid == 0 {
		return absent
	}
	return fmt.Sprint(uint16(lid))
}

// rateText returns, for example, "4X HDR".
func rateText(width ib.LinkWidth, speed ib.Speed) string {
	if width == 0 || speed == 0 {
		return absent
	}
	return width.String() + " " + speed.String()
}
