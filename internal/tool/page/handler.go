package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"

	"github.com/ibkit/ibkit/internal/tool/exporter"
)

// files are the style, the script and the icon. The pages load nothing else.
//
//go:embed static
var files embed.FS

// policy permits the style, the script and the icon of this server, and requests to it.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP implements [http.Handler].
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY") // for browsers without frame-ancestors
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	p.mux.ServeHTTP(w, r)
}

// handler returns the handler for all paths.
func (p *Page) handler() http.Handler {
	mux := http.NewServeMux()
	for path, view := range map[string]view{
		"/{$}": p.overview, "/links": p.links, "/link": p.link, "/nodes": p.nodes, "/node": p.node, "/events": p.eventList,
	} {
		mux.HandleFunc("GET "+path, p.html(view))
	}
	for path, document := range map[string]document{
		"summary": p.summaryJSON, "links": p.linksJSON, "port": p.portJSON, "node": p.nodeJSON,
		"linkinfo": p.linkinfoJSON, "counters": p.countersJSON, "events": p.eventsJSON,
	} {
		mux.HandleFunc("GET /api/"+path, p.json(document))
	}
	mux.HandleFunc("GET /api/stream", p.stream)
	if p.opts.Visit != nil {
		mux.HandleFunc("GET /routes", p.html(p.routePage))
		mux.HandleFunc("GET /api/route", p.json(p.routeJSON))
	}
	for name, kind := range map[string]string{
		"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
	} {
		mux.HandleFunc("GET /"+name, static(name, kind))
	}
	return mux
}

// static returns a handler for a file. Its address has the file's hash as its query, so that
// browsers need not ask again.
func static(name, kind string) http.HandlerFunc {
	text, _ := files.ReadFile(path.Join("static", name)) // embedded
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=86400")
		send(w, r, kind, http.StatusOK, text)
	}
}

// versioned returns the address of a file.
func versioned(name string) string {
	text, _ := files.ReadFile(path.Join("static", name)) // embedded
	sum := sha256.Sum256(text)
	return name + "?v=" + hex.EncodeToString(sum[:4])
}

// send sends a response, compressed if the client accepts that.
func send(w http.ResponseWriter, r *http.Request, kind string, status int, text []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Vary", "Accept-Encoding")
	if !exporter.AcceptsGzip(r) {
		w.WriteHeader(status)
		_, _ = w.Write(text) // the client may have gone away
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	z := exporter.NewGzip(w)
	defer exporter.FreeGzip(z)
	_, _ = z.Write(text)
	_ = z.Close()
}
