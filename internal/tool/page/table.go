package page

import (
	"cmp"
	"strconv"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/top"
	"github.com/ibkit/ibkit/report"
)

// table begins a table with column titles in a box that scrolls. A title that begins with #
// is of a number column.
func (m *markup) table(class string, titles ...string) {
	m.begin("div", "class", "scroll")
	m.begin("table", "class", class)
	m.begin("thead")
	m.begin("tr")
	for _, t := range titles {
		m.column(t, "", "")
	}
	m.end("tr", "thead")
	m.begin("tbody")
}

// column writes a column title: with an address a link, and with its order.
func (m *markup) column(title, to, order string) {
	class := ""
	if title[0] == '#' {
		title, class = title[1:], "number"
	}
	m.begin("th", "scope", "col", "class", class, "aria-sort", order)
	switch {
	case to != "":
		m.link(to, title)
	default:
		m.text(title)
	}
	m.end("th")
}

// number writes a cell of a number column. Narrow screens show the column's title before it.
func (m *markup) number(title, text string) {
	m.put("td", text, "class", "number", "data-title", title)
}

// pager writes the place in a list and the links to the rows before and after.
func (q query) pager(m *markup, path string, count int) {
	if count <= q.limit && q.start == 0 {
		return
	}
	m.begin("nav", "class", "pager", "aria-label", "Rows")
	m.text(grouped(min(q.start+1, count)) + " to " + grouped(min(q.start+q.limit, count)) + " of " + grouped(count) + " ")
	if q.start > 0 {
		m.put("a", "Previous", "href", q.with(path, "start", offset(max(0, q.start-q.limit))), "rel", "prev")
		m.text(" ")
	}
	if q.start+q.limit < count {
		m.put("a", "Next", "href", q.with(path, "start", strconv.Itoa(q.start+q.limit)), "rel", "next")
	}
	m.end("nav")
}

// offset returns a row number, "" for the first.
func offset(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// linkColumns are the columns of link tables with their orders; -1: no order.
var linkColumns = []struct {
	title string
	order int
}{
	{"Link", int(top.ByName)}, {"Rate", -1}, {"State", -1}, {"#Errors/s", int(top.ByErrors)},
	{"#Out %", int(top.ByUtilization)}, {"#In %", -1}, {"#Waiting %", int(top.ByWait)}, {"Finding", int(top.BySeverity)},
}

// linkTable writes a table of links. With an address the columns sort it.
func (s *state) linkTable(m *markup, q query, path string, links []top.ReportLink) {
	m.begin("div", "class", "scroll")
	m.begin("table", "class", "links")
	m.begin("thead")
	m.begin("tr")
	for _, c := range linkColumns {
		to, order := "", ""
		if path != "" && c.order >= 0 {
			reverse := ""
			if top.Order(c.order) == q.order {
				if order = "descending"; q.reverse != (q.order == top.ByName) {
					order = "ascending"
				}
				if !q.reverse {
					reverse = "1"
				}
			}
			to = q.with(path, "sort", top.Orders[c.order], "reverse", reverse)
		}
		m.column(c.title, to, order)
	}
	m.end("tr", "thead")
	m.begin("tbody")
	for i := range links {
		s.linkRow(m, &links[i])
	}
	m.end("tbody", "table", "div")
}

func (s *state) linkRow(m *markup, l *top.ReportLink) {
	m.begin("tr")
	m.begin("th", "scope", "row")
	m.begin("a", "href", addressOf(l.Near.NodeGUID, int(l.Near.Port)))
	m.put("span", portName(&l.Near))
	m.text(" – ")
	if l.Far != nil {
		m.put("span", portName(l.Far))
	} else {
		m.text("?")
	}
	m.end("a", "th")
	m.put("td", orAbsent(l.Rate), "class", "rate")
	m.put("td", orAbsent(l.State), "class", "state")
	m.number("Errors/s", perSecond(l.Errors))
	m.number("Out %", percent(l.Transmit))
	m.number("In %", percent(l.Receive))
	m.number("Waiting %", percent(l.Wait))
	m.begin("td", "class", "long")
	if i := s.sample.Port(l.Near.NodeGUID, l.Near.Port); i >= 0 {
		m.severity(s.sample.Severity(s.sample.Ports[i].Link))
	}
	for i, f := range l.Findings {
		if i > 0 {
			m.text("; ")
		}
		m.text(f)
	}
	m.end("td", "tr")
}

// portName returns, for example, "leaf1[3]".
func portName(p *report.NodePort) string {
	return fabric.PortName(cmp.Or(p.Name, p.NodeGUID.String()), int(p.Port))
}
