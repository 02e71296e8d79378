package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"sync"

	"github.com/ibkit/ibkit/internal/tool/exporter"
	"github.com/ibkit/ibkit/internal/tool/topology"
)

// files are the style, the script and the icon. The pages load no other file.
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
		"/{$}": p.overview, "/links": p.links, "/link": p.link, "/nodes": p.nodes, "/node": p.node, "/events": p.eventList, "/plan": p.planPage,
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
		mux.HandleFunc("GET /paths", p.html(p.crossingPage))
		mux.HandleFunc("GET /api/route", p.json(p.routeJSON))
	}
	for _, form := range pictureForms {
		mux.HandleFunc("GET "+form.path, p.picture(form))
	}
	for name := range assets() {
		mux.HandleFunc("GET /"+name, serveAsset(name))
	}
	return mux
}

// An asset is a file that the pages load.
type asset struct {
	kind, version string
	text          []byte
}

// assets are all files by name.
var assets = sync.OnceValue(func() map[string]asset {
	all := map[string]asset{}
	add := func(name, kind string, text []byte) {
		sum := sha256.Sum256(text)
		all[name] = asset{kind, hex.EncodeToString(sum[:4]), text}
	}
	for name, kind := range map[string]string{
		"page.css": styleType, "page.js": scriptType, "live.js": scriptType, "icon.svg": "image/svg+xml",
	} {
		text, _ := files.ReadFile("static/" + name) // embedded
		add(name, kind, text)
	}
	add("picture.css", styleType, topology.PageStyle())
	add("picture.js", scriptType, topology.PageScript())
	return all
})

const (
	styleType  = "text/css; charset=utf-8"
	scriptType = "text/javascript; charset=utf-8"
)

// serveAsset returns a handler for a file. Its address has the file's version as its query,
// so that browsers keep it.
func serveAsset(name string) http.HandlerFunc {
	a := assets()[name]
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=86400")
		send(w, r, a.kind, http.StatusOK, a.text)
	}
}

// versioned returns the address of a file.
func versioned(name string) string { return name + "?v=" + assets()[name].version }

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
