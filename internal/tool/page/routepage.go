package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/top"
)

// routePage shows the paths between two nodes.
func (p *Page) routePage(ctx context.Context, s *state, q query) content {
	ends := [2]string{q.values.Get("from"), q.values.Get("to")}
	c := content{title: "Routes", path: "routes"}
	var r *top.Report
	var err error
	if ends[0] != "" && ends[1] != "" {
		if r, err = p.paths(ctx, s, ends); errors.Is(err, errNotFound) {
			c.status = http.StatusNotFound
		}
	}
	c.body = func(m *markup) {
		m.put("h1", "Paths between two nodes")
		m.begin("form", "action", "routes", "class", "filter")
		for i, name := range []string{"From", "To"} {
			m.begin("label")
			m.text(name + " ")
			m.begin("input", "name", []string{"from", "to"}[i], "value", ends[i], "maxlength", "200", "required", "required")
			m.end("label")
		}
		m.put("button", "Show")
		m.end("form")
		m.put("p", "Names or GUIDs of nodes, or ports as in node01[1]. The page reads the entries of the forwarding tables between two sweeps.", "class", "note")
		switch {
		case err != nil:
			m.put("p", err.Error(), "class", "verdict bad")
		case r != nil:
			s.pathSection(m, q, "Forward", &r.Path.Forward)
			if r.Path.Reverse != nil {
				s.pathSection(m, q, "Reverse", r.Path.Reverse)
			}
			m.begin("p", "class", "note")
			m.text("Tables read at ")
			m.since(r.Path.Read)
			m.end("p")
			m.commands(fmt.Sprintf("ibkit route %v %v", s.endPort(ends[0]).Node.GUID, s.endPort(ends[1]).Node.GUID))
		}
	}
	return c
}

// pathSection writes a path with its links.
func (s *state) pathSection(m *markup, q query, title string, path *top.PathLinks) {
	m.put("h2", title+": "+path.From+" to "+path.To+", LID "+lidText(path.LID)+", "+plural.Count(len(path.Links), "link", "links"))
	switch {
	case path.Arrives == nil:
		m.put("p", "Incomplete: "+orAbsent(path.Cause), "class", "verdict warn")
	case !*path.Arrives:
		m.put("p", "Does not arrive: "+orAbsent(path.Cause), "class", "verdict bad")
	}
	s.linkTable(m, q, "", path.Links)
}

// routeJSON is the screen path of ibkit top.
func (p *Page) routeJSON(ctx context.Context, s *state, q query) (any, int, error) {
	r, err := p.paths(ctx, s, [2]string{q.values.Get("from"), q.values.Get("to")})
	if err != nil {
		return nil, 0, err
	}
	return r, 0, nil
}
