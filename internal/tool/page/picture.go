package page

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/topology"
)

// picture serves the picture of the topology, coloured by findings.
func (p *Page) picture(w http.ResponseWriter, r *http.Request) {
	s := p.state.Load()
	if s == nil {
		p.html(nil)(w, r)
		return
	}
	text, err := s.picture()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	send(w, r, "text/html; charset=utf-8", http.StatusOK, text)
}

// drawPicture returns the picture's page.
func (s *state) drawPicture() ([]byte, error) {
	d := topology.NewPicture(s.sweep.Result.Fabric, s.sample.Names, s.marks())
	d.Source = "swept at " + s.sample.Time.Format("15:04:05")
	if s.report.Partial {
		d.Source += ", partial"
	}
	for _, f := range s.report.Findings {
		if f.Port == nil && f.Severity.IsProblem() {
			d.Others = append(d.Others, f)
		}
	}
	var head, header, scripts markup
	head.begin("link", "rel", "stylesheet", "href", versioned("picture.css"))
	head.begin("link", "rel", "icon", "type", "image/svg+xml", "href", versioned("icon.svg"))
	header.link("./", "Overview")
	n := &s.report.Sweep
	header.put("span", "", "id", "live", "role", "status", "data-problems", fmt.Sprint(n.Errors, n.Warnings, n.Events),
		"data-at", strconv.FormatInt(s.sample.Time.UnixMilli(), 10), "data-interval", strconv.Itoa(int(s.report.Interval*1000)))
	for _, name := range []string{"picture.js", "live.js"} {
		scripts.begin("script", "src", versioned(name))
		scripts.end("script")
	}
	var page bytes.Buffer
	err := d.WriteServed(&page, head.String(), header.String(), scripts.String())
	return page.Bytes(), err
}

// marks returns the worst problem of each port.
func (s *state) marks() map[*fabric.Port]topology.Mark {
	marks := map[*fabric.Port]topology.Mark{}
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
