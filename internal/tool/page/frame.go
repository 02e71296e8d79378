package page

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/internal/plural"
)

// A content is the part of a page that differs from other pages.
type content struct {
	title, path string // path is the current entry of the menu
	status      int    // 0: OK
	body        func(*markup)
}

// A view returns a page's content for a request.
type view func(ctx context.Context, s *state, q query) content

// menu returns the entries of the menu: path and title.
func (p *Page) menu() [][2]string {
	all := [][2]string{{"./", "Overview"}, {"links", "Links"}, {"nodes", "Nodes"}, {"events", "Events"}, {"picture", "Picture"}}
	if p.opts.Visit != nil {
		all = append(all, [2]string{"routes", "Routes"})
	}
	if p.plan.Load() != nil {
		all = append(all, [2]string{"plan", "Plan"})
	}
	return all
}

// writeMenu writes the menu with the current entry.
func (p *Page) writeMenu(m *markup, path string) {
	m.begin("nav", "aria-label", "Pages")
	m.put("strong", "ibkit")
	for _, entry := range p.menu() {
		current := ""
		if entry[0] == path {
			current = "page"
		}
		m.put("a", entry[1], "href", entry[0], "aria-current", current)
	}
	m.end("nav")
}

// html returns a handler that serves a view.
func (p *Page) html(v view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := p.state.Load()
		q, err := parseQuery(r.URL.Query())
		var c content
		switch {
		case err != nil:
			c = message(http.StatusBadRequest, "Invalid address", err.Error())
		case s == nil:
			c = p.waiting()
		default:
			c = v(r.Context(), s, q)
		}
		if c.status == 0 {
			c.status = http.StatusOK
		}
		var m markup
		p.frame(&m, s, c)
		w.Header().Set("Cache-Control", "no-cache")
		send(w, r, "text/html; charset=utf-8", c.status, []byte(m.String()))
	}
}

// message returns a page with a single text.
func message(status int, title, text string) content {
	return content{title: title, status: status, body: func(m *markup) {
		m.put("h1", title)
		m.put("p", text)
	}}
}

// waiting returns the page before the first sweep.
func (p *Page) waiting() content {
	text := "The first sweep of the fabric has not ended yet."
	if err := p.failure.Load(); err != nil {
		text = "No sweep had a result yet. The last error: " + *err
	}
	return message(http.StatusServiceUnavailable, "No data yet", text)
}

// frame writes a whole page. s is nil before the first sweep.
func (p *Page) frame(m *markup, s *state, c content) {
	m.WriteString("<!DOCTYPE html>\n")
	m.begin("html", "lang", "en")
	m.begin("head")
	m.begin("meta", "charset", "utf-8")
	m.begin("meta", "name", "viewport", "content", "width=device-width, initial-scale=1")
	m.begin("meta", "name", "color-scheme", "content", "light dark")
	m.put("title", c.title+" · ibkit")
	m.begin("link", "rel", "stylesheet", "href", versioned("page.css"))
	m.begin("link", "rel", "icon", "type", "image/svg+xml", "href", versioned("icon.svg"))
	m.begin("noscript")
	m.begin("meta", "http-equiv", "refresh", "content", strconv.Itoa(max(5, int(p.opts.Interval.Seconds()))))
	m.end("noscript")
	m.begin("script", "src", versioned("page.js"), "defer", "defer")
	m.end("script", "head")
	m.begin("body")
	m.put("a", "Skip to content", "class", "skip", "href", "#main")
	m.begin("header")
	p.writeMenu(m, c.path)
	m.begin("form", "action", "links", "role", "search")
	m.begin("input", "type", "search", "name", "q", "placeholder", "Find a link by name", "aria-label", "Find a link by name", "maxlength", "200")
	m.put("button", "Find")
	m.end("form", "header")
	p.statusLine(m, s)
	m.begin("main", "id", "main", "tabindex", "-1")
	c.body(m)
	m.end("main")
	m.begin("footer")
	m.link("metrics", "Metrics")
	m.text(" · ")
	m.link("api/summary", "JSON")
	m.text(" · ibkit " + p.opts.Version)
	m.end("footer", "body", "html")
}

// statusLine writes the age of the data, and the reason why it is incomplete or old.
func (p *Page) statusLine(m *markup, s *state) {
	failure := p.failure.Load()
	class, text := "", ""
	if s != nil {
		age := time.Since(s.sample.Time)
		switch blind := s.sweep.Result.Fabric.Blind(); {
		case failure != nil:
			class, text = "bad", "The last sweep failed: "+*failure
		case blind != nil:
			class, text = "bad", "The last sweep found no other node: "+blind.Error()
		case s.report.Partial:
			class, text = "warn", "Partial: "+plural.Count(len(s.report.Failures), "request", "requests")+" without a valid reply"
		default:
			text = "Complete"
		}
		m.begin("div", "class", "status "+class, "role", "status", "id", "status",
			"data-at", strconv.FormatInt(s.sample.Time.UnixMilli(), 10), "data-now", strconv.FormatInt(time.Now().UnixMilli(), 10),
			"data-interval", strconv.Itoa(int(p.opts.Interval.Milliseconds())))
		m.text("Swept at ")
		m.put("time", s.sample.Time.Format("15:04:05"), "datetime", s.sample.Time.Format(time.RFC3339), "title", s.sample.Time.Format(time.RFC1123Z))
		m.text(", ")
		m.put("span", duration(age)+" ago", "id", "age")
		m.text(", in " + duration(s.sweep.Took) + ". ")
		m.put("span", text, "id", "sweep")
	} else {
		m.begin("div", "class", "status warn", "role", "status", "id", "status")
		m.put("span", "No data yet", "id", "sweep")
	}
	m.put("span", "", "id", "connection")
	m.end("div")
}

// duration returns a duration in its largest units.
func duration(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", max(d, 0).Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}
