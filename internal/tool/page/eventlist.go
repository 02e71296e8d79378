package page

import (
	"context"
	"strings"

	"github.com/ibkit/ibkit/internal/tool/watch"
)

// eventList is the list of events, the newest first.
func (p *Page) eventList(_ context.Context, _ *state, q query) content {
	return content{title: "Events", path: "events", body: func(m *markup) {
		all := p.recent(q.acceptsEvent)
		m.put("h1", countOf(len(all), "event", "events"))
		m.begin("form", "action", "events", "class", "filter")
		m.filterText(q)
		m.put("button", "Filter")
		m.end("form")
		m.put("p", "Differences between sweeps, the newest first.", "class", "note")
		m.eventTable(rowsOf(q, all))
		q.pager(m, "events", len(all))
	}}
}

// acceptsEvent reports whether the text is part of an event's kind or of a name in it.
func (q query) acceptsEvent(e *watch.Event) bool {
	text := string(e.Kind) + " " + e.Subject
	if e.Data.Peer != nil {
		text += " " + e.Data.Peer.String()
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(q.text))
}

// eventSection writes the last events of a node or link.
func (m *markup) eventSection(all []*watch.Event) {
	const most = 50
	m.begin("section", "aria-labelledby", "events")
	m.put("h2", "Events", "id", "events")
	if len(all) == 0 {
		m.put("p", "No event since the start.", "class", "note")
	} else {
		m.eventTable(all[:min(most, len(all))])
	}
	m.end("section")
}

func (m *markup) eventTable(all []*watch.Event) {
	m.table("", "Time", "Severity", "Event", "Place", "Details")
	for _, e := range all {
		m.begin("tr")
		m.begin("td", "class", "time")
		m.since(e.Time)
		m.end("td")
		m.begin("td")
		m.severity(e.Severity)
		m.end("td")
		m.put("td", string(e.Kind))
		m.begin("th", "scope", "row")
		switch {
		case e.NodeGUID == nil:
			m.text(e.Subject)
		case e.Port == nil:
			m.link(addressOf(*e.NodeGUID, -1), e.Subject)
		default:
			m.link(addressOf(*e.NodeGUID, *e.Port), e.Subject)
		}
		m.end("th")
		detail := e.Detail
		if peer := e.Data.Peer; peer != nil {
			detail = "peer " + peer.String() + ": " + detail
		}
		m.put("td", detail, "class", "long")
		m.end("tr")
	}
	m.end("tbody", "table", "div")
}
