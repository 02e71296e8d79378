package page

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/topology"
)

// keepLost is the time for which a picture has the places of links that later sweeps lack.
const keepLost = 24 * time.Hour

// pictures draw sweeps at the same places as long as these have places for all links: then a
// change is small.
type pictures struct {
	mu    sync.Mutex
	last  *topology.Picture
	since time.Time // of its places
}

// draw returns a sweep's picture without marks.
func (d *pictures) draw(s *state) *topology.Picture {
	d.mu.Lock()
	defer d.mu.Unlock()
	var next *topology.Picture
	if d.last != nil && d.last.Names == s.sample.Names {
		next = d.last.Update(s.sweep.Result.Fabric)
	}
	if next == nil || next.Lost() > 0 && s.sample.Time.Sub(d.since) > keepLost {
		next, d.since = topology.NewPicture(s.sweep.Result.Fabric, s.sample.Names, nil), s.sample.Time
	}
	d.last = next
	return next
}

// A pictureForm writes a picture in a form.
type pictureForm struct {
	path, kind string
	write      func(*Page, *state, *topology.Picture, io.Writer) error
}

// pictureForms are the page, the part of its data that changes, and a picture for browsers
// without scripts.
var pictureForms = []pictureForm{
	{"/picture", "text/html; charset=utf-8", (*Page).writePicture},
	{"/picture.json", "application/json", func(_ *Page, _ *state, d *topology.Picture, w io.Writer) error { return d.WritePaint(w) }},
	{"/picture.svg", "image/svg+xml", func(_ *Page, _ *state, d *topology.Picture, w io.Writer) error { return d.WriteSVG(w) }},
}

// picture returns a handler that serves a sweep's picture in a form. It keeps the last.
func (p *Page) picture(form pictureForm) http.HandlerFunc {
	type key struct {
		state *state
		scale *topology.Scale
	}
	var mu sync.Mutex
	kept := map[key][]byte{}
	render := func(s *state, scale *topology.Scale) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		if text := kept[key{s, scale}]; text != nil {
			return text, nil
		}
		maps.DeleteFunc(kept, func(k key, _ []byte) bool { return k.state != s })
		var b bytes.Buffer
		err := form.write(p, s, s.paint(p.pictures.draw(s), scale), &b)
		if err == nil {
			kept[key{s, scale}] = b.Bytes()
		}
		return b.Bytes(), err
	}
	return func(w http.ResponseWriter, r *http.Request) {
		s, scale := p.state.Load(), scaleOf(r.URL.Query().Get("colour"))
		switch {
		case s == nil:
			p.html(nil)(w, r)
			return
		case scale == nil:
			http.Error(w, "invalid colour: want "+strings.Join(scaleNames(), ", "), http.StatusBadRequest)
			return
		}
		text, err := render(s, scale)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		send(w, r, form.kind, http.StatusOK, text)
	}
}

// scaleOf returns the scale with a name, the first for no name, nil for another name.
func scaleOf(name string) *topology.Scale {
	if name == "" {
		return topology.Scales[0]
	}
	if i := slices.Index(scaleNames(), name); i >= 0 {
		return topology.Scales[i]
	}
	return nil
}

func scaleNames() (names []string) {
	for _, s := range topology.Scales {
		names = append(names, s.Name)
	}
	return names
}

// paint returns a copy of a picture with a sweep's marks.
func (s *state) paint(d *topology.Picture, scale *topology.Scale) *topology.Picture {
	q := *d
	q.Scale, q.Marks = scale, s.marks(scale)
	q.Source = "swept at " + s.sample.Time.Format("15:04:05")
	if s.report.Partial {
		q.Source += ", partial"
	}
	if scale != topology.Findings {
		if s.sample.Window == 0 {
			q.Source += "; rates need two sweeps"
		}
		return &q
	}
	for _, f := range s.report.Findings {
		if f.Port == nil && f.Severity.IsProblem() {
			q.Others = append(q.Others, f)
		}
	}
	return &q
}

// writePicture writes the picture's page.
func (p *Page) writePicture(s *state, d *topology.Picture, w io.Writer) error {
	var head, header, scripts, still markup
	head.begin("link", "rel", "stylesheet", "href", versioned("picture.css"))
	head.begin("link", "rel", "icon", "type", "image/svg+xml", "href", versioned("icon.svg"))
	head.begin("noscript")
	head.begin("meta", "http-equiv", "refresh", "content", strconv.Itoa(max(5, int(s.report.Interval))))
	head.end("noscript")
	p.writeMenu(&header, "picture")
	header.put("span", "", "id", "live", "role", "status",
		"data-at", strconv.FormatInt(s.sample.Time.UnixMilli(), 10), "data-interval", strconv.Itoa(int(s.report.Interval*1000)))
	header.begin("span", "id", "colours", "role", "group", "aria-label", "Colours")
	header.text("Colours:")
	for _, scale := range topology.Scales {
		current := ""
		if scale == d.Scale {
			current = "true"
		}
		header.put("a", scale.Name, "href", "picture?colour="+scale.Name, "aria-current", current)
	}
	header.end("span")
	for _, name := range []string{"picture.js", "live.js"} {
		scripts.begin("script", "src", versioned(name))
		scripts.end("script")
	}
	still.begin("div", "id", "still")
	still.text("Fabric " + d.Source + ". Search and details require JavaScript; the lists do not: ")
	still.link("links", "Links")
	still.text(", ")
	still.link("nodes", "Nodes")
	still.begin("img", "src", "picture.svg?colour="+d.Scale.Name, "alt", "Fabric, coloured by "+d.Scale.Name+": "+d.Summary())
	still.end("div")
	return d.WriteServed(w, head.String(), header.String(), scripts.String(), still.String())
}

// marks returns the worst problem of each port, or the links' values on another scale.
func (s *state) marks(scale *topology.Scale) map[*fabric.Port]topology.Mark {
	marks := map[*fabric.Port]topology.Mark{}
	if scale != topology.Findings {
		for i := range s.sample.Links {
			v := s.sample.Link(int32(i))
			value, text := float64(v.Errors), significant(float64(v.Errors))+" errors per second"
			if scale == topology.Utilization {
				value = max(float64(v.Xmit), float64(v.Rcv))
				text = fmt.Sprintf("%.0f %% of the rate", value*100)
			}
			marks[s.sample.Ports[s.sample.Links[i].Near].Port] = scale.Mark(value, text)
		}
		return marks
	}
	for i := range slices.Backward(s.report.Findings) { // the worst are first
		f := &s.report.Findings[i]
		if f.NodeGUID == nil || f.Port == nil || *f.Port > 255 || !f.Severity.IsProblem() {
			continue
		}
		if port := s.sample.Port(*f.NodeGUID, uint8(*f.Port)); port >= 0 {
			marks[s.sample.Ports[port].Port] = topology.Mark{Kind: f.Kind, Severity: f.Severity, Text: f.Brief()}
		}
	}
	return marks
}
