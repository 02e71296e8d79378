package page

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/top"
	"github.com/ibkit/ibkit/internal/tool/watch"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/report"
)

// links is the list of links.
func (p *Page) links(_ context.Context, s *state, q query) content {
	return content{title: "Links", path: "links", body: func(m *markup) {
		state := q.monitor(s.sample)
		rows := state.Rows()
		m.put("h1", countOf(len(rows), "link", "links"))
		m.begin("form", "action", "links", "class", "filter")
		m.filterText(q)
		checked := ""
		if q.problems {
			checked = "checked"
		}
		m.begin("label")
		m.begin("input", "type", "checkbox", "name", "problems", "value", "1", "checked", checked)
		m.text(" only with errors or findings")
		m.end("label")
		m.hidden("sort", q.values.Get("sort"))
		m.hidden("reverse", q.values.Get("reverse"))
		m.put("button", "Filter")
		m.end("form")
		var links []top.ReportLink
		for _, i := range rowsOf(q, rows) {
			links = append(links, s.sample.ReportLink(i))
		}
		s.linkTable(m, q, "links", links)
		q.pager(m, "links", len(rows))
	}}
}

// filterText writes the input for a part of names.
func (m *markup) filterText(q query) {
	m.begin("label")
	m.text("Name ")
	m.begin("input", "type", "search", "name", "q", "value", q.text, "maxlength", "200")
	m.end("label")
}

// hidden writes a parameter that a form keeps.
func (m *markup) hidden(name, value string) {
	if value != "" {
		m.begin("input", "type", "hidden", "name", name, "value", value)
	}
}

// link is a link's page.
func (p *Page) link(_ context.Context, s *state, q query) content {
	r := q.monitor(s.sample).ReportPort(q.guid, uint8(q.port))
	if r == nil {
		return q.noLink()
	}
	l := r.Port
	title, ends := titleOf(l), s.ends(l)
	return content{title: title, path: "", body: func(m *markup) {
		m.put("h1", title)
		s.linkFindings(m, ends)
		s.endTable(m, l, ends)
		s.registerTable(m, ends)
		p.charts(m, l)
		s.counterTable(m, ends)
		k := portKey{q.guid, uint8(q.port)}
		m.eventSection(p.recent(func(e *watch.Event) bool { return isAt(e, k, q.port) }))
		if p.opts.Visit != nil {
			m.begin("p")
			m.link(fmt.Sprintf("paths?node=%v&port=%d", q.guid, q.port), "Paths through this link")
			m.end("p")
		}
		m.commands("ibkit linkinfo --node "+q.guid.String(), fmt.Sprintf("ibkit counters %v --window 10s", q.guid))
	}}
}

// titleOf returns, for example, "leaf1[3] – node06[1]".
func titleOf(l *top.ReportPort) string {
	if len(l.Ends) < 2 {
		return portName(&l.Ends[0].NodePort) + " – ?"
	}
	return portName(&l.Ends[0].NodePort) + " – " + portName(&l.Ends[1].NodePort)
}

// ends returns a link's ports.
func (s *state) ends(l *top.ReportPort) (ends []*fabric.Port) {
	for i := range l.Ends {
		ends = append(ends, s.port(&l.Ends[i].NodePort))
	}
	return ends
}

// port returns the port at a place of the last sweep.
func (s *state) port(at *report.NodePort) *fabric.Port {
	return s.sample.Ports[s.sample.Port(at.NodeGUID, at.Port)].Port
}

// linkFindings writes the findings of both ends with their times.
func (s *state) linkFindings(m *markup, ends []*fabric.Port) {
	isHere := func(f *report.Finding) bool {
		for _, p := range ends {
			if f.NodeGUID != nil && *f.NodeGUID == p.Node.GUID && f.Port != nil && *f.Port == int(p.Number) {
				return true
			}
		}
		return false
	}
	m.findingList(s, isHere)
}

// findingList writes the findings that a function selects.
func (m *markup) findingList(s *state, selected func(*report.Finding) bool) {
	isFirst := true
	for i := range s.report.Findings {
		f := &s.report.Findings[i]
		if !selected(f) {
			continue
		}
		if isFirst {
			m.begin("ul", "class", "findings")
			isFirst = false
		}
		m.begin("li")
		m.severity(f.Severity)
		m.text(f.Subject + " ")
		m.put("b", string(f.Kind))
		m.text(" " + f.Detail + ", since ")
		m.since(s.report.Since[i])
		if f.Hint != "" {
			m.put("div", s.nextStep(f), "class", "hint")
		}
		m.end("li")
	}
	if !isFirst {
		m.end("ul")
	}
}

// endTable writes the attributes of a link's ends, a column for each.
func (s *state) endTable(m *markup, l *top.ReportPort, ends []*fabric.Port) {
	titles := []string{"End"}
	checked := make([]linkinfo.End, len(ends))
	for i, p := range ends {
		titles = append(titles, portName(&l.Ends[i].NodePort))
		checked[i] = linkinfo.NewEnd(p, false)
	}
	m.table("small", titles...)
	row := func(name string, value func(i int) string) {
		m.begin("tr")
		m.put("th", name, "scope", "row")
		for i := range ends {
			m.put("td", value(i))
		}
		m.end("tr")
	}
	m.begin("tr")
	m.put("th", "Node", "scope", "row")
	for i := range ends {
		m.begin("td")
		m.link(addressOf(l.Ends[i].NodeGUID, -1), s.sample.Names.Label(ends[i].Node))
		m.end("td")
	}
	m.end("tr")
	row("Type", func(i int) string { return ends[i].Node.Info.NodeType.String() })
	row("LID", func(i int) string { return lidText(ends[i].LID()) })
	row("State", func(i int) string {
		if ends[i].Info == nil {
			return absent
		}
		return ends[i].Info.State.String() + ", " + ends[i].Info.PhysState.String()
	})
	row("Rate", func(i int) string { return rateText(checked[i].Width, checked[i].Speed) })
	row("Best rate of both ends", func(i int) string { return rateText(checked[i].BestWidth, checked[i].BestSpeed) })
	row("Sends", func(i int) string { return s.traffic(ends[i], l.Ends[i].Transmit) })
	row("Receives", func(i int) string { return s.traffic(ends[i], l.Ends[i].Receive) })
	row("Errors per second", func(i int) string { return perSecond(l.Ends[i].Errors) })
	row("Waiting %", func(i int) string { return percent(l.Ends[i].Wait) })
	m.end("tbody", "table", "div")
}

// traffic returns a share of a port's rate, with the rate.
func (s *state) traffic(p *fabric.Port, share *float64) string {
	if share == nil {
		return absent
	}
	return bits(*share*counters.DataRate(p)) + ", " + percent(share) + " %"
}

// charts writes the last rates of a link.
func (p *Page) charts(m *markup, l *top.ReportPort) {
	m.begin("section", "aria-labelledby", "history")
	m.put("h2", "Last sweeps", "id", "history")
	m.begin("dl", "class", "sums charts")
	for i := range l.Ends {
		e := &l.Ends[i]
		p.mu.Lock()
		points := p.history.of(e.NodeGUID, e.Port)
		p.mu.Unlock()
		for _, c := range []struct {
			name string
			of   func(top.Value) float32
			now  string
			most float64
		}{
			{" sends %", func(v top.Value) float32 { return v.Xmit * 100 }, percent(e.Transmit), 100},
			{" errors per second", func(v top.Value) float32 { return v.Errors }, perSecond(e.Errors), 0},
			{" waiting %", func(v top.Value) float32 { return v.Wait * 100 }, percent(e.Wait), 0},
		} {
			var values []float64
			for _, p := range points {
				values = append(values, float64(c.of(p.Value)))
			}
			name := portName(&e.NodePort) + c.name
			m.begin("div", "class", "chart")
			m.put("dt", name)
			m.begin("dd")
			m.text(c.now)
			m.spark(name+" in the last "+plural.Count(len(values), "sweep", "sweeps"), values, c.most)
			m.end("dd", "div")
		}
	}
	m.end("dl", "section")
}

// counterTable writes the counters at both ends that are not 0, with their increases.
func (s *state) counterTable(m *markup, ends []*fabric.Port) {
	titles := []string{"Counter"}
	for _, p := range ends {
		name := s.sample.Names.PortName(p)
		titles = append(titles, "#"+name, "#Increase")
	}
	m.begin("section", "aria-labelledby", "counters")
	m.put("h2", "Counters", "id", "counters")
	m.table("small", titles...)
	for _, c := range counters.Counters() {
		var cells []string
		isZero := true
		for _, p := range ends {
			value, increase, zero := counterText(s.sweep.Result.Port(p), c)
			cells = append(cells, value, increase)
			isZero = isZero && zero
		}
		if isZero {
			continue
		}
		m.begin("tr")
		m.put("th", c.String(), "scope", "row")
		for _, text := range cells {
			m.put("td", text, "class", "number")
		}
		m.end("tr")
	}
	m.end("tbody", "table", "div")
	m.put("p", "Counters that are 0 at both ends are omitted.", "class", "note")
	m.end("section")
}

// counterText returns a counter's value and increase since the sweep before.
func counterText(p *counters.Port, c counters.Counter) (value, increase string, isZero bool) {
	if p == nil || p.Now == nil {
		return absent, absent, true
	}
	v, ok := p.Now.Value(c)
	if !ok {
		return absent, absent, true
	}
	increase = absent
	if d := p.Delta(); d != nil {
		if ch, ok := d.Change(c); ok {
			increase = grouped(ch.Increase)
		}
	}
	return grouped(v.N), increase, v.N == 0
}

// commands writes commands for a closer look.
func (m *markup) commands(lines ...string) {
	m.begin("section", "aria-labelledby", "commands")
	m.put("h2", "Look closer", "id", "commands")
	for _, line := range lines {
		m.put("pre", line)
	}
	m.end("section")
}
