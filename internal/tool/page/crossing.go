package page

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/umad"
)

// tablesAge is the time for which all forwarding tables are kept: they take many requests.
const tablesAge = 10 * time.Minute

// tables are all forwarding tables at a time.
type tables struct {
	routing  *route.Routing
	channels *route.Channels
	read     time.Time
}

// allTables returns all forwarding tables, and reads them if they are old.
func (p *Page) allTables(ctx context.Context, s *state) (*tables, error) {
	if t := p.routes.tables.Load(); t != nil && time.Since(t.read) < tablesAge {
		return t, nil
	}
	end, err := p.routes.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	if t := p.routes.tables.Load(); t != nil && time.Since(t.read) < tablesAge { // by the request before
		return t, nil
	}
	t := &tables{routing: route.FromFabric(s.sweep.Result.Fabric)}
	err = p.opts.Visit(ctx, func(ctx context.Context, c *umad.Client) error {
		return route.Read(ctx, c, t.routing, route.ReadOptions{})
	})
	if err != nil {
		return nil, fmt.Errorf("read forwarding tables between two sweeps: %w", err)
	}
	t.channels, t.read = route.NewChannels(t.routing), time.Now()
	p.routes.tables.Store(t)
	return t, nil
}

// A crossing is a path through a link.
type crossing struct {
	through  *fabric.Port // output port at the link
	from, to string
	all      string // address of the path's links
}

// crossings returns the paths through a link's ends that have a text in a name, as far as they
// are on the page, and their count.
func (t *tables) crossings(s *state, ends []*fabric.Port, q query) (rows []crossing, count int) {
	names := make([]string, t.channels.Ends())
	for i := range names {
		end := t.channels.End(i)
		names[i] = end.Node.GUID.String()
		if n := s.sweep.Result.Fabric.NodeByGUID(end.Node.GUID); n != nil {
			names[i] = cmp.Or(s.sample.Names.Name(n), names[i])
		}
		names[i] = fabric.PortName(names[i], int(end.Number))
	}
	text := strings.ToLower(q.text)
	matches := func(i int) bool { return text == "" || strings.Contains(strings.ToLower(names[i]), text) }
	for _, p := range ends {
		n := t.routing.NodeByGUID(p.Node.GUID)
		if n == nil || int(p.Number) >= len(n.Ports) {
			continue
		}
		for from, to := range t.channels.Crossing(&n.Ports[p.Number]) {
			if !matches(from) && !matches(to) {
				continue
			}
			if count >= q.start && count < q.start+q.limit {
				all := url.Values{"from": {t.address(from)}, "to": {t.address(to)}}
				rows = append(rows, crossing{p, names[from], names[to], "routes?" + all.Encode()})
			}
			count++
		}
	}
	return rows, count
}

// address returns an end port's text for the page of routes.
func (t *tables) address(end int) string {
	p := t.channels.End(end)
	return fabric.PortName(p.Node.GUID.String(), int(p.Number))
}

// crossingPage lists the paths through a link.
func (p *Page) crossingPage(ctx context.Context, s *state, q query) content {
	r := q.monitor(s.sample).ReportPort(q.guid, uint8(q.port))
	if r == nil {
		return q.noLink()
	}
	ends := s.ends(r.Port)
	t, err := p.allTables(ctx, s)
	return content{title: "Paths through " + titleOf(r.Port), path: "routes", body: func(m *markup) {
		m.begin("h1")
		m.text("Paths through ")
		m.link(addressOf(q.guid, q.port), titleOf(r.Port))
		m.end("h1")
		if err != nil {
			m.put("p", err.Error(), "class", "verdict bad")
			return
		}
		m.begin("form", "action", "paths", "class", "filter")
		m.filterText(q)
		m.hidden("node", q.guid.String())
		m.hidden("port", fmt.Sprint(q.port))
		m.put("button", "Filter")
		m.end("form")
		rows, count := t.crossings(s, ends, q)
		m.begin("p", "class", "note")
		m.text(countOf(count, "path", "paths") + " between end ports, from the forwarding tables at ")
		m.since(t.read)
		if failed := len(t.routing.Failures); failed > 0 {
			m.text(", without the tables in " + countOf(failed, "request", "requests") + " without a valid reply")
		}
		m.end("p")
		s.crossingTable(m, rows)
		q.pager(m, "paths", count)
	}}
}

// crossingTable writes paths, with links to their other links.
func (s *state) crossingTable(m *markup, rows []crossing) {
	m.table("", "From", "Out of", "To", "Path")
	for _, c := range rows {
		m.begin("tr")
		m.put("th", c.from, "scope", "row")
		m.put("td", s.sample.Names.PortName(c.through))
		m.put("td", c.to)
		m.begin("td")
		m.link(c.all, "all links")
		m.end("td", "tr")
	}
	m.end("tbody", "table", "div")
}
