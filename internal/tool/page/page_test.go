package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/exporter"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

const interval = time.Minute

// A site is the pages of a simulated fabric that an exporter sweeps.
type site struct {
	*Page
	t        *testing.T
	sim      *sim.Fabric
	exporter *exporter.Exporter
}

// begin begins sweeps in a synctest bubble, with other options, and waits for the first.
func begin(t *testing.T, description string, configure ...func(*exporter.Options)) *site {
	t.Helper()
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, sim: f}
	s.Page = New(Options{Interval: interval, Version: "1.2.3", Visit: func(ctx context.Context, do func(context.Context, *umad.Client) error) error {
		return s.exporter.Visit(ctx, do)
	}})
	o := exporter.Options{Interval: interval, Observe: s.Swept, Swept: s.Failed}
	o.Fabric.Source.OpenPort = f.Opener("")
	o.Fabric.Limits = counters.Limits{Thresholds: counters.RecommendedThresholds(), Wait: counters.DefaultWait}
	for _, c := range configure {
		c(&o)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	s.exporter = exporter.New(o)
	go func() { ended <- s.exporter.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	time.Sleep(interval / 2)
	synctest.Wait()
	return s
}

// record returns the pages after some sweeps, each with its commands before it. Subtests are
// not possible in a bubble.
func record(t *testing.T, description string, sweeps ...[]string) *site {
	t.Helper()
	var s *site
	synctest.Test(t, func(t *testing.T) {
		s = begin(t, description)
		for _, commands := range sweeps {
			s.next(commands...)
		}
	})
	s.t = t
	return s
}

// next applies commands to the fabric and waits for the next sweep. The commands run as a
// visit does, because the sweeps use the fabric at other times.
func (s *site) next(commands ...string) {
	s.t.Helper()
	err := s.exporter.Visit(s.t.Context(), func(context.Context, *umad.Client) error {
		for _, text := range commands {
			c, err := s.sim.ParseCommand("test", 1, text)
			if err == nil {
				err = s.sim.Do(c, io.Discard)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	time.Sleep(interval)
	synctest.Wait()
}

// get returns a response.
func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w
}

// body returns the body of a response with the status OK.
func (s *site) body(path string) string {
	s.t.Helper()
	w := get(s.t, s, path)
	if w.Code != http.StatusOK {
		s.t.Fatalf("%s: got status %d: %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// guidOf returns a node's GUID.
func (s *site) guidOf(name string) string {
	s.t.Helper()
	for i := range s.state.Load().sample.Nodes {
		if n := &s.state.Load().sample.Nodes[i]; n.Name == name {
			return n.GUID.String()
		}
	}
	s.t.Fatalf("got no node %s", name)
	return ""
}

// TestPage_Pages checks the parts of each page on a fabric with problems.
func TestPage_Pages(t *testing.T) {
	s := record(t, "demo", nil, []string{"unlink node06[1]", "rate leaf2[3] SymbolErrorCounter 40"}, nil)
	leaf2 := s.guidOf("leaf2")
	for _, test := range []struct {
		path string
		want []string
	}{
		{"/", []string{
			">8 problems</h1>", ">narrow</b> 2X, but both ends have 4X enabled<", "SymbolErrorCounter +2400", "<dt>Hosts</dt><dd><a href=\"nodes?type=ca\">15</a>",
			">Missing nodes</h2>", ">leaf2[4]</td>", ">Subnet managers</h2>", ">master</td>", "then: ibkit linkinfo --node leaf1<", "search the log of the subnet manager on node01 for ", "Partial: 1 request without a valid reply",
		}},
		{"/links", []string{">23 links</h1>", ">leaf2[3]</span> – <span>node05[1]</span>", "aria-sort=\"descending\"", ">40.0<"}},
		{"/links?q=SPINE1&sort=name", []string{">4 links</h1>", "spine1[4]", "aria-sort=\"ascending\""}},
		{"/links?problems=1", []string{">5 links</h1>", "checked=\"checked\""}},
		{"/link?port=3&node=" + leaf2, []string{
			">leaf2[3] – node05[1]</h1>", ">Errors per second<", "counter-raised", ">SymbolErrorCounter</th><td class=\"number\">", "<polyline", "Best rate of both ends",
		}},
		{"/nodes", []string{">21 nodes</h1>", ">leaf2</a>"}},
		{"/nodes?type=switch", []string{">6 nodes</h1>"}},
		{"/nodes?q=node1", []string{">7 nodes</h1>"}},
		{"/node?node=" + leaf2, []string{">leaf2</h1>", "link-down", ">leaf2[5]</span>"}},
		{"/events", []string{"link-down", "node-removed", "counter-raised", "peer node06[1]: was 4X NDR Active"}},
		{"/events?q=node-removed", []string{">1 event</h1>", ">node06<"}},
		{"/picture", []string{`<a href="./">Overview</a>`, `<a href="picture" aria-current="page">Picture</a>`, `"narrow: 2X, but both ends have 4X enabled"`, `<script src="picture.js?v=`}},
		{"/picture?colour=errors", []string{`aria-current="true">errors</a>`, `"40.0 errors per second"`, `"1 error and more per second"`, `src="picture.svg?colour=errors"`, `<div id="still">Fabric swept at 00:03:00, partial. `}},
		{"/picture.json?colour=utilization", []string{`"nouns":["link in use","links in use"]`, `"others":[]`}},
		{"/picture.svg", []string{"<svg", "narrow: 2X, but both ends have 4X enabled"}},
		{"/api/links?limit=1", []string{`"missing_nodes":["node06"]`}},
		{"/picture.js", []string{"drawLinks"}},
		{"/picture.css", []string{"canvas"}},
		{"/live.js", []string{"EventSource"}},
		{"/page.css", []string{"prefers-color-scheme"}},
		{"/page.js", []string{"EventSource"}},
		{"/icon.svg", []string{"<svg"}},
	} {
		t.Run(test.path, func(t *testing.T) {
			body := s.body(test.path)
			for _, want := range test.want {
				if !strings.Contains(body, want) {
					t.Errorf("got no %q in\n%s", want, body)
				}
			}
		})
	}
}

// TestPage_Requests checks the responses to requests without a page, and the headers of all
// responses.
func TestPage_Requests(t *testing.T) {
	s := record(t, "single-switch:hosts=2")
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{http.MethodHead, "/", http.StatusOK},
		{http.MethodPost, "/", http.StatusMethodNotAllowed},
		{http.MethodDelete, "/api/links", http.StatusMethodNotAllowed},
		{http.MethodGet, "/other", http.StatusNotFound},
		{http.MethodGet, "/static/page.css", http.StatusNotFound},
		{http.MethodGet, "/links?sort=colour", http.StatusBadRequest},
		{http.MethodGet, "/links?start=-1", http.StatusBadRequest},
		{http.MethodGet, "/picture?colour=red", http.StatusBadRequest},
		{http.MethodGet, "/picture.json?colour=red", http.StatusBadRequest},
		{http.MethodGet, "/api/links?limit=1001", http.StatusBadRequest},
		{http.MethodGet, "/link?port=256", http.StatusBadRequest},
		{http.MethodGet, "/link?node=%3Cscript%3E", http.StatusBadRequest},
		{http.MethodGet, "/link?node=0x1&port=1", http.StatusNotFound},
		{http.MethodGet, "/node?node=0x1", http.StatusNotFound},
		{http.MethodGet, "/api/port?node=0x1&port=1", http.StatusNotFound},
		{http.MethodGet, "/api/node?node=0x1", http.StatusNotFound},
		{http.MethodGet, "/links?start=1000", http.StatusOK},
	} {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), test.method, test.path, nil))
			if w.Code != test.status {
				t.Errorf("got status %d, want %d", w.Code, test.status)
			}
			policy := w.Header().Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none'; ") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
				t.Errorf("got the policy %q", policy)
			}
			for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("got %s %q, want %q", name, got, want)
				}
			}
			if strings.Contains(w.Body.String(), "<script>") {
				t.Errorf("got a text that is not escaped:\n%s", w.Body)
			}
		})
	}
}

// TestPage_NoSelection checks that a page for one link or node names its parameters.
func TestPage_NoSelection(t *testing.T) {
	s := record(t, "single-switch:hosts=2")
	for path, want := range map[string]string{
		"/link":            "It ends with ?node=GUID&amp;port=NUMBER;",
		"/paths":           "It ends with ?node=GUID&amp;port=NUMBER;",
		"/node":            "It ends with ?node=GUID;",
		"/link?node=0x1":   "The last sweep has no port 0 with a link on the node 0x0000000000000001.",
		"/paths?node=0x1":  "The last sweep has no port 0 with a link on the node 0x0000000000000001.",
		"/node?node=0x2":   "The last sweep has no node 0x0000000000000002.",
		"/link?port=1&q=x": "It ends with ?node=GUID&amp;port=NUMBER;",
	} {
		t.Run(path, func(t *testing.T) {
			if w := get(t, s, path); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), want) {
				t.Errorf("got status %d and\n%s\nwant %d and %q", w.Code, w.Body, http.StatusNotFound, want)
			}
		})
	}
}

// TestPage_ReadOnly checks that each path refuses requests that could change something.
func TestPage_ReadOnly(t *testing.T) {
	s := record(t, "single-switch:hosts=2")
	for _, path := range []string{
		"/", "/links", "/link", "/nodes", "/node", "/events", "/routes", "/paths", "/plan", "/picture", "/picture.json", "/picture.svg", "/page.js",
		"/api/summary", "/api/links", "/api/port", "/api/node", "/api/linkinfo", "/api/counters", "/api/events", "/api/stream", "/api/route",
	} {
		t.Run(path, func(t *testing.T) {
			for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace} {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
				if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
					t.Errorf("%s: got status %d and %v, want 405", method, w.Code, w.Header())
				}
			}
		})
	}
}

// TestAssets_Size checks that style, scripts and icon are small, and name no other host.
func TestAssets_Size(t *testing.T) {
	const most = 150_000 // compressed
	size := 0
	for name, a := range assets() {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(a.text); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		size += b.Len()
		if text := strings.ReplaceAll(string(a.text), `xmlns="http://www.w3.org/2000/svg"`, ""); strings.Contains(text, "//www") || strings.Contains(text, "http") {
			t.Errorf("%s: got the address of another host", name)
		}
	}
	if size > most || len(assets()) != 6 {
		t.Errorf("got %d compressed bytes in %d files, want 6 files with at most %d", size, len(assets()), most)
	}
	t.Logf("%d compressed bytes", size)
}

// TestPage_Early checks the responses before the first sweep, and after a sweep that failed.
func TestPage_Early(t *testing.T) {
	p := New(Options{Interval: interval})
	if w := get(t, p, "/"); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "The first sweep of the fabric has not ended yet.") {
		t.Errorf("got status %d and\n%s", w.Code, w.Body)
	}
	if w := get(t, p, "/api/links"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("got status %d and %v", w.Code, w.Header())
	}
	p.Failed(nil)
	p.Failed(io.ErrUnexpectedEOF)
	if w := get(t, p, "/links"); !strings.Contains(w.Body.String(), "The last error: unexpected EOF") {
		t.Errorf("got no error in\n%s", w.Body)
	}
}

// TestPage_Failed checks that the data of the last sweep remain, with the error, until the
// next sweep.
func TestPage_Failed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, "demo")
		s.Failed(io.ErrUnexpectedEOF)
		if body := s.body("/"); !strings.Contains(body, "The last sweep failed: unexpected EOF") || !strings.Contains(body, "narrow") {
			t.Errorf("got\n%s", body)
		}
		s.next()
		if body := s.body("/"); strings.Contains(body, "The last sweep failed") {
			t.Errorf("got the old error in\n%s", body)
		}
	})
}

// TestPage_Hostile checks that node names are text on all pages.
func TestPage_Hostile(t *testing.T) {
	for name, description := range map[string]string{
		"script":  `<script>alert(1)</script>`,
		"quotes":  `"onclick='x'&lt;&#34;`,
		"long":    strings.Repeat("M", 64),
		"control": "a\x1b[2J\u202eb",
	} {
		t.Run(name, func(t *testing.T) {
			s := record(t, "demo")
			for _, n := range s.state.Load().sample.Nodes {
				copy(n.Node.Desc[:], append([]byte(description), make([]byte, 64)...))
			}
			s.Swept(s.state.Load().sweep)
			guid := s.state.Load().sample.Nodes[0].GUID.String()
			for _, path := range []string{"/", "/links", "/nodes", "/events", "/picture", "/node?node=" + guid, "/link?port=1&node=" + guid, "/links?q=%3Cscript%3E%22"} {
				body := s.body(path)
				want := 1
				if path == "/picture" {
					want = 3                                         // with its data
					body = strings.ReplaceAll(body, `\"onclick`, "") // in JSON
				}
				if n := strings.Count(body, "<script"); n != want || strings.Contains(body, `"onclick=`) || strings.ContainsAny(body, "\x1b\u202e") {
					t.Errorf("%s: got %d scripts in\n%s", path, n, body)
				}
			}
		})
	}
}

// TestPage_Documents compares the documents with the schemas of the commands.
func TestPage_Documents(t *testing.T) {
	s := record(t, "demo", []string{"unlink node06[1]"})
	guid := s.guidOf("leaf1")
	for _, test := range []struct{ path, schema string }{
		{"/api/summary", "page"},
		{"/api/links", "top"},
		{"/api/links?start=20&limit=2&sort=name", "top"},
		{"/api/port?port=1&node=" + guid, "top"},
		{"/api/node?node=" + guid, "top"},
		{"/api/linkinfo", "linkinfo"},
		{"/api/counters?limit=2", "counters"},
		{"/api/events", "watch"},
	} {
		t.Run(test.path, func(t *testing.T) {
			testenv.CheckSchema(t, "../../../schema/"+test.schema+".json", s.body(test.path))
		})
	}
}

// TestPage_Hints checks that next steps have node names.
func TestPage_Hints(t *testing.T) {
	text := record(t, "demo").body("/api/summary")
	if !strings.Contains(text, "then: ibkit linkinfo --node leaf1") || strings.Contains(text, "--node 0x") {
		t.Errorf("got %s, want next steps with names", text)
	}
}

// TestPage_Paging follows the links to the next rows.
func TestPage_Paging(t *testing.T) {
	s := record(t, "demo")
	path, seen := "/api/links?limit=7&sort=name", map[string]bool{}
	for pages := 0; path != ""; pages++ {
		w := get(t, s, path)
		var d struct {
			Links []struct {
				Near struct {
					Name string `json:"name"`
					Port int    `json:"port"`
				} `json:"near"`
			} `json:"links"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil || w.Header().Get("X-Total-Count") != "24" || pages > 3 {
			t.Fatalf("got %v, %v, page %d", w.Header(), err, pages)
		}
		for _, l := range d.Links {
			seen[l.Near.Name+string(rune('0'+l.Near.Port))] = true
		}
		next, isMore := strings.CutSuffix(w.Header().Get("Link"), `>; rel="next"`)
		if path = strings.TrimPrefix(next, "<"); !isMore {
			path = ""
		}
	}
	if len(seen) != 24 {
		t.Errorf("got %d links on all pages, want 24", len(seen))
	}
}

// TestPage_Since checks that a finding keeps the time of its first sweep until it ends.
func TestPage_Since(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, "demo")
		since := func() (found []time.Time) {
			r := &s.state.Load().report
			for i, f := range r.Findings {
				if f.Subject == "leaf2[3]" && f.Kind == report.Increased {
					found = append(found, r.Since[i])
				}
			}
			return found
		}
		if got := since(); len(got) != 0 {
			t.Errorf("got %v without errors", got)
		}
		for range 2 {
			s.next("rate leaf2[3] SymbolErrorCounter 40")
			first := s.state.Load().report.Sweep.Time
			s.next()
			if got := since(); len(got) != 1 || !got[0].Equal(first) {
				t.Errorf("got %v, want %v", got, first)
			}
			s.next("rate leaf2[3] SymbolErrorCounter 0")
			s.next()
			if got := since(); len(got) != 0 {
				t.Errorf("got %v after the errors", got)
			}
		}
	})
}
