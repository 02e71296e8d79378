package mesh

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"

	"github.com/ibkit/ibkit/report"
)

// The size of the picture in pixels.
const (
	heatSide    = 960 // of the matrix, at least
	heatMargin  = 150 // for the names of leaf switches
	heatTop     = 60
	heatLegend  = 60
	maxHeatSide = 2048 // cells; larger matrices show the slowest flow of several
	textHeight  = 12
)

// The colours of relative speeds (ColorBrewer, OrRd: legible with colour blindness and in
// print), of failed flows and of pairs that were not measured.
var (
	heatColours = []struct {
		share  float32
		colour color.RGBA
		text   string
	}{
		{slowShare, color.RGBA{0xfe, 0xf0, 0xd9, 0xff}, "normal"},
		{0.8, color.RGBA{0xfd, 0xcc, 0x8a, 0xff}, "80 to 93 %"},
		{0.6, color.RGBA{0xfc, 0x8d, 0x59, 0xff}, "60 to 80 %"},
		{0.4, color.RGBA{0xe3, 0x4a, 0x33, 0xff}, "40 to 60 %"},
		{1e-9, color.RGBA{0x99, 0x00, 0x00, 0xff}, "below 40 %"},
		{0, color.RGBA{0x00, 0x00, 0x00, 0xff}, "failed"},
	}
	heatAbsent = color.RGBA{0xd9, 0xd9, 0xd9, 0xff}
	markColour = "#0072b2"
)

func heatColour(share float32) color.RGBA {
	if isNone(share) {
		return heatAbsent
	}
	for _, c := range heatColours {
		if share >= c.share {
			return c.colour
		}
	}
	return heatAbsent
}

// A heatPicture draws a matrix.
type heatPicture struct {
	*Heat
	step  int     // rows per cell
	cells int     // by side
	scale float64 // pixels per row
	out   bytes.Buffer
}

func newHeatPicture(h *Heat) *heatPicture {
	p := &heatPicture{Heat: h, step: max(1, (len(h.Rows)+maxHeatSide-1)/maxHeatSide)}
	p.cells = (len(h.Rows) + p.step - 1) / p.step
	p.scale = heatSide / float64(max(len(h.Rows), 1))
	return p
}

// WriteSVG writes the matrix as SVG (Scalable Vector Graphics 1.1) that needs no other
// file.
func (r *Result) WriteSVG(w io.Writer) error {
	_, err := io.WriteString(w, newHeatPicture(r.Heat()).svg())
	return err
}

func (p *heatPicture) print(format string, args ...any) { fmt.Fprintf(&p.out, format, args...) }

func (p *heatPicture) svg() string {
	const width, height = heatMargin + heatSide + 20, heatTop + heatSide + heatLegend
	p.print(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="%d">`+"\n", width, height, width, height, textHeight)
	p.print(`<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	p.print(`<image x="%d" y="%d" width="%d" height="%d" preserveAspectRatio="none" style="image-rendering:pixelated" xlink:href="data:image/png;base64,%s"/>`+"\n",
		heatMargin, heatTop, heatSide, heatSide, base64.StdEncoding.EncodeToString(p.image()))
	p.grid()
	p.markRows()
	p.legend(heatTop + heatSide + 30)
	p.out.WriteString("</svg>\n")
	return p.out.String()
}

// image returns the cells as a PNG file.
func (p *heatPicture) image() []byte {
	palette := color.Palette{heatAbsent}
	for _, c := range heatColours {
		palette = append(palette, c.colour)
	}
	picture := image.NewPaletted(image.Rect(0, 0, max(p.cells, 1), max(p.cells, 1)), palette)
	for y := range p.cells {
		for x := range p.cells {
			picture.Set(x, y, heatColour(p.least(y*p.step, x*p.step, p.step)))
		}
	}
	var b bytes.Buffer
	_ = png.Encode(&b, picture) // memory does not fail, and the size is valid
	return b.Bytes()
}

// grid draws the leaf switches' names and first rows, as far as there is space.
func (p *heatPicture) grid() {
	const end = heatMargin + heatSide
	last := float64(-2 * textHeight)
	for _, l := range p.Leaves {
		middle := float64(l.First+l.Last+1) / 2 * p.scale
		if middle-last < textHeight {
			continue // no space for its name, and too many lines hide the cells
		}
		last = middle
		at := float64(l.First) * p.scale
		p.print(`<path d="M%d %.1fH%d M%.1f %dV%d" stroke="#808080" stroke-width="0.5"/>`+"\n", heatMargin, heatTop+at, end, heatMargin+at, heatTop, heatTop+heatSide)
		name, fill := html.EscapeString(shorten(l.Name)), "#000000"
		if len(l.Marks) > 0 {
			fill = markColour
			name += "<title>" + html.EscapeString(findingTexts(l.Marks)) + "</title>"
		}
		p.print(`<text x="%d" y="%.1f" text-anchor="end" fill="%s">%s</text>`+"\n", heatMargin-14, heatTop+middle+4, fill, name)
		if float64(l.Last-l.First+1)*p.scale > 5*textHeight {
			p.print(`<text x="%.1f" y="%d" text-anchor="middle" fill="%s">%s</text>`+"\n", heatMargin+middle, heatTop-12, fill, name)
		}
	}
	p.print(`<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#808080"/>`+"\n", heatMargin, heatTop, heatSide, heatSide)
	p.print(`<text x="%d" y="16">receiver</text><text x="4" y="%d">sender</text>`+"\n", heatMargin, heatTop-12)
}

// shorten limits a name to the margin.
func shorten(name string) string {
	const most = 18
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// markRows marks the hosts with findings beside their row and column.
func (p *heatPicture) markRows() {
	for row := range p.Rows {
		marks := p.marks[row]
		if len(marks) == 0 {
			continue
		}
		at := (float64(row) + 0.5) * p.scale
		p.print(`<g fill="%s"><title>%s</title><path d="M%d %.1fl-8 -5v10z"/><path d="M%.1f %dl-5 -8h10z"/></g>`+"\n",
			markColour, html.EscapeString(findingTexts(marks)), heatMargin-2, heatTop+at, heatMargin+at, heatTop-2)
	}
}

// findingTexts returns a line for each finding.
func findingTexts(findings []report.Finding) string {
	var texts []string
	for _, f := range findings {
		texts = append(texts, f.String())
	}
	return strings.Join(texts, "\n")
}

func (p *heatPicture) legend(y int) {
	x := heatMargin
	box := func(fill color.RGBA, text string) {
		p.print(`<rect x="%d" y="%d" width="14" height="14" fill="#%02x%02x%02x" stroke="#808080"/><text x="%d" y="%d">%s</text>`+"\n", x, y-11, fill.R, fill.G, fill.B, x+20, y, text)
		x += 110
	}
	for _, c := range heatColours {
		box(c.colour, c.text)
	}
	box(heatAbsent, "not measured")
	p.print(`<text x="%d" y="%d" fill="%s">▶ host with a finding; in this colour: leaf switch with a finding</text>`+"\n", heatMargin, y+22, markColour)
}
