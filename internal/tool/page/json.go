package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/top"
	"github.com/ibkit/ibkit/internal/tool/watch"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/report"
)

// A document returns a JSON document, and the count of the rows of which it has a part. A
// document that is a list of events has a line for each.
type document func(ctx context.Context, s *state, q query) (value any, count int, err error)

// json returns a handler that serves a document. The header X-Total-Count has the row count,
// and Link the address of the next rows (RFC 8288).
func (p *Page) json(d document) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := p.state.Load()
		if s == nil {
			w.Header().Set("Retry-After", "5")
			http.Error(w, "the first sweep has not ended yet", http.StatusServiceUnavailable)
			return
		}
		q, err := parseQuery(r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		value, count, err := d(r.Context(), s, q)
		if err != nil {
			http.Error(w, err.Error(), statusOf(w, err))
			return
		}
		kind, text, err := encode(value)
		if err != nil {
			http.Error(w, "encode document: "+err.Error(), http.StatusInternalServerError)
			return
		}
		h := w.Header()
		h.Set("Cache-Control", "no-cache")
		if count > 0 {
			h.Set("X-Total-Count", strconv.Itoa(count))
		}
		if next := q.start + q.limit; next < count {
			h.Set("Link", fmt.Sprintf("<%s>; rel=\"next\"", q.with(r.URL.Path, "start", strconv.Itoa(next))))
		}
		send(w, r, kind, http.StatusOK, text)
	}
}

// errNotFound is the error for an address of a node or port that the last sweep lacks.
var errNotFound = errors.New("the last sweep has no such node or port")

// statusOf returns the status for an error, and sets the header for requests that may be
// repeated.
func statusOf(w http.ResponseWriter, err error) int {
	switch {
	case errors.Is(err, errNotFound):
		return http.StatusNotFound
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", "5")
		return http.StatusServiceUnavailable
	}
	return http.StatusBadGateway
}

// encode returns the media type and the JSON form of a document.
func encode(value any) (kind string, text []byte, err error) {
	all, isList := value.([]*watch.Event)
	if !isList {
		text, err = json.Marshal(value)
		return "application/json", append(text, '\n'), err
	}
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	for _, e := range all {
		if err := lines.Encode(e); err != nil {
			return "", nil, err
		}
	}
	return "application/x-ndjson", b.Bytes(), nil
}

func (p *Page) summaryJSON(_ context.Context, s *state, _ query) (any, int, error) {
	return &s.report, 0, nil
}

// linksJSON is the screen links of ibkit top.
func (p *Page) linksJSON(_ context.Context, s *state, q query) (any, int, error) {
	m := q.monitor(s.sample)
	r := m.ReportLinks(q.start + q.limit)
	r.Links = rowsOf(q, r.Links)
	return r, len(m.Rows()), nil
}

// portJSON is the screen port of ibkit top, with the history of the last sweeps.
func (p *Page) portJSON(_ context.Context, s *state, q query) (any, int, error) {
	r := q.monitor(s.sample).ReportPort(q.guid, uint8(q.port))
	if r == nil {
		return nil, 0, errNotFound
	}
	p.mu.Lock()
	points := p.history.of(q.guid, uint8(q.port))
	p.mu.Unlock()
	r.Port.History = top.ReportPoints(points)
	for i := range r.Port.Ends {
		if e := s.registers(s.port(&r.Port.Ends[i].NodePort)); e != nil {
			r.Port.Ends[i].PHY = s.sweep.PHY.ReportLink(e)
		}
	}
	return r, 0, nil
}

// nodeJSON is the screen node of ibkit top.
func (p *Page) nodeJSON(_ context.Context, s *state, q query) (any, int, error) {
	if r := q.monitor(s.sample).ReportNode(q.guid); r != nil {
		return r, 0, nil
	}
	return nil, 0, errNotFound
}

// linkinfoJSON is the document of ibkit linkinfo, for some of the nodes.
func (p *Page) linkinfoJSON(_ context.Context, s *state, q query) (any, int, error) {
	f := s.sweep.Result.Fabric
	nodes := rowsOf(q, f.Nodes)
	ends := linkinfo.Ends(f, nodes)
	o := linkinfo.ReportOptions{Names: s.sweep.Names}
	d := linkinfo.NewReport(&linkinfo.Result{Began: s.sweep.Result.Began, Fabric: f}, nodes, ends, o)
	d.Findings = slices.AppendSeq(d.Findings, linkinfo.Findings(ends, o.Names))
	rest := ends
	for _, n := range nodes {
		count := 0
		for count < len(rest) && rest[count].Port.Node == n {
			count++
		}
		d.Nodes = append(d.Nodes, linkinfo.NewReportNode(n, rest[:count], o))
		rest = rest[count:]
	}
	for _, l := range linkinfo.Links(ends) {
		if l.Near.Port.Peer != nil || len(l.Near.Findings) > 0 {
			d.Links = append(d.Links, linkinfo.NewReportLink(l, o.Names))
		}
	}
	return d, len(f.Nodes), nil
}

// countersJSON is the document of ibkit counters, for some of the nodes. Its nodes are
// encoded by package counters, which is faster: a switch has hundreds of values.
func (p *Page) countersJSON(_ context.Context, s *state, q query) (any, int, error) {
	r := s.sweep.Result
	o := counters.ReportOptions{Names: s.sweep.Names}
	var ports []*counters.Port
	nodes := []json.RawMessage{}
	for _, n := range rowsOf(q, r.Nodes) {
		ports = append(ports, n.Ports...)
		nodes = append(nodes, r.AppendNodeJSON(nil, n, n.Ports, o))
	}
	return &struct {
		report.Head
		counters.ReportWindow
		Nodes []json.RawMessage `json:"nodes"`
	}{r.Head(ports, s.sweep.Names), r.Window(s.sample.Window), nodes}, len(r.Nodes), nil
}

// eventsJSON is the lines of ibkit watch, the newest first.
func (p *Page) eventsJSON(_ context.Context, _ *state, q query) (any, int, error) {
	all := p.recent(q.acceptsEvent)
	return rowsOf(q, all), len(all), nil
}
