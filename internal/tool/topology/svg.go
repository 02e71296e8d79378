package topology

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
)

// Cable and node colours.
const (
	colourCable  = "#9aa5b1"
	colourSwitch = "#dbe9f6"
	colourHost   = "#f3f4f6"
	colourFrame  = "#f8fafc"
	colourLine   = "#4b5563"
)

// mostCharacters is the label length that fits a switch; end nodes have two less.
const mostCharacters = 16

// WriteSVG writes the drawing of the whole fabric as an SVG file.
func (p *Picture) WriteSVG(w io.Writer) error {
	out := bufio.NewWriter(w)
	d := p.drawings[0]
	const margin, legend, legendWide, rateWide = 20, 24, 264.0, 150.0
	left, top, wide, high := d.least.x-margin, d.least.y-margin, d.most.x-d.least.x+2*margin, d.most.y-d.least.y+2*margin
	classes := p.classesShown()
	if len(classes) > 0 {
		wide, high = max(wide, legendWide*float64(len(classes))+margin), high+legend
	}
	rates := high - margin/2 // their y
	if len(p.rates) > 0 {
		wide, high, rates = max(wide, rateWide*float64(len(p.rates))+margin), high+legend, rates+legend
	}
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="%.0f %.0f %.0f %.0f" font-family="sans-serif" font-size="11">`+"\n", left, top, wide, high)
	fmt.Fprintf(out, "<rect x=\"%.0f\" y=\"%.0f\" width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", left, top)
	for _, f := range d.frames {
		fmt.Fprintf(out, `<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="6" fill="%s" stroke="#d1d5db"/>`+"\n", f.corner.x, f.corner.y, f.wide, f.high, colourFrame)
		f.svgTitle(out)
	}
	fmt.Fprintf(out, "<g fill=\"none\" stroke=\"%s\" stroke-width=\"1\">\n", colourCable)
	for _, l := range d.links {
		p.svgLink(out, l)
	}
	out.WriteString("</g>\n")
	for _, b := range d.boxes {
		p.svgBox(out, b)
	}
	for i, c := range classes {
		c.svgLegend(out, left+margin+legendWide*float64(i), top+rates-legend)
	}
	for i, r := range p.rates {
		r.svgLegend(out, left+margin+rateWide*float64(i), top+rates)
	}
	out.WriteString("</svg>\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write picture: %w", err)
	}
	return nil
}

// svgLegend writes a class's line, end node and text.
func (c class) svgLegend(out *bufio.Writer, x, y float64) {
	fmt.Fprintf(out, `<path d="M%.0f %.0fh36" fill="none"%s/><rect x="%.0f" y="%.0f" width="22" height="13" fill="%s"/>`, x, y-4, c.svgStroke(), x+42, y-10, c.Fill)
	fmt.Fprintf(out, `<text x="%.0f" y="%.0f">%s</text><text x="%.0f" y="%.0f">%s</text>`+"\n", x+48, y, c.Sign, x+70, y, c.Text)
}

// svgLegend writes a rate's line and text.
func (r rateClass) svgLegend(out *bufio.Writer, x, y float64) {
	fmt.Fprintf(out, `<path d="M%.0f %.0fh36" stroke="%s" stroke-width="%g"/><text x="%.0f" y="%.0f">%s: %s</text>`+"\n",
		x, y-4, colourCable, r.wide, x+42, y, r.text, plural.Count(r.cables, "cable", "cables"))
}

// classesShown returns the classes of the cables' marks.
func (p *Picture) classesShown() []class {
	used := make([]bool, len(p.Scale.classes))
	for i := range p.cables {
		if m := p.mark(i); m != (Mark{}) {
			used[p.Scale.class(m)] = true
		}
	}
	var shown []class
	for i, c := range p.Scale.classes {
		if used[i] {
			shown = append(shown, c)
		}
	}
	return shown
}

// svgTitle writes the title at the frame's top.
func (f frame) svgTitle(out *bufio.Writer) {
	y := f.corner.y + 14
	if f.atBottom {
		y = f.corner.y + f.high - 6
	}
	fmt.Fprintf(out, `<text x="%.0f" y="%.0f" font-weight="bold">%s</text>`+"\n", f.corner.x+8, y, html.EscapeString(f.title))
}

// svgStroke returns the line attributes of a class.
func (c class) svgStroke() string {
	stroke := ` stroke="` + c.Colour + `" stroke-width="2.5"`
	if len(c.Dash) > 0 {
		stroke += ` stroke-dasharray="` + strings.Trim(fmt.Sprint(c.Dash), "[]") + `"`
	}
	return stroke
}

func (p *Picture) svgLink(out *bufio.Writer, l link) {
	const most = 20 // lines in a title
	style, title := "", ""
	if class, _ := p.worst(l.cables); class >= 0 {
		style = p.Scale.classes[class].svgStroke()
	} else if wide := p.widest(l.cables); wide != narrowLine {
		style = fmt.Sprintf(` stroke-width="%g"`, wide)
	}
	for i, k := range l.cables {
		if i == most && len(l.cables) > most+1 {
			title += fmt.Sprintf("%d more\n", len(l.cables)-most)
			break
		}
		title += p.cableText(k) + "\n"
	}
	c, shape := l.curve, "line"
	if len(c.via) == 0 {
		fmt.Fprintf(out, `<line x1="%.0f" y1="%.0f" x2="%.0f" y2="%.0f"`, c.from.x, c.from.y, c.to.x, c.to.y)
	} else {
		shape = "path"
		fmt.Fprintf(out, `<path d="%s"`, c.svgPath())
	}
	fmt.Fprintf(out, "%s><title>%s</title></%s>\n", style, html.EscapeString(title), shape)
}

// svgPath returns the path data of a line that is not straight.
func (c curve) svgPath() string {
	command := "L"
	if len(c.via) == 1 {
		command = "Q"
	}
	path := fmt.Sprintf("M%.0f %.0f%s", c.from.x, c.from.y, command)
	for _, at := range append(slices.Clone(c.via), c.to) {
		path += fmt.Sprintf("%.0f %.0f ", at.x, at.y)
	}
	return strings.TrimSuffix(path, " ")
}

// cableText returns a cable's ends, rate and finding.
func (p *Picture) cableText(cable int) string {
	c := p.cables[cable]
	w, s := p.current[cable].Rate()
	text := portText(c.A, p.Names) + " - " + portText(c.B, p.Names) + " " + textOf(w) + " " + textOf(s)
	if m := p.mark(cable); m != (Mark{}) {
		text += ": " + m.Text
	}
	return text
}

func (p *Picture) svgBox(out *bufio.Writer, b box) {
	switch {
	case b.group != nil:
		p.svgGroup(out, b)
	case b.node.IsSwitch():
		b.svgRect(out, p.nodeTitle(b.node, ""), colourSwitch, `rx="3" stroke="`+colourLine+`"`, p.label(b.node, mostCharacters))
	default:
		p.svgEnd(out, b)
	}
}

// svgRect writes a box with a title and lines of text.
func (b box) svgRect(out *bufio.Writer, title, fill, style string, lines ...string) {
	wide, high := b.size()
	fmt.Fprintf(out, `<g><title>%s</title><rect x="%.0f" y="%.1f" width="%.0f" height="%.0f" fill="%s" %s/>`,
		html.EscapeString(title), b.at.x-wide/2, b.at.y-high/2, wide, high, fill, style)
	for i, line := range lines {
		y := b.at.y + 4 + 15*(float64(i)-float64(len(lines)-1)/2)
		fmt.Fprintf(out, `<text x="%.0f" y="%.1f">%s</text>`, b.at.x-wide/2+4, y, html.EscapeString(line))
	}
	out.WriteString("</g>\n")
}

func (p *Picture) nodeTitle(n *fabric.Node, findings string) string {
	return p.Names.Name(n) + "\n" + n.GUID.String() + findings
}

// svgEnd writes an end node in the colour of its cables' worst finding.
func (p *Picture) svgEnd(out *bufio.Writer, b box) {
	fill, sign, findings := colourHost, "", ""
	if class, _ := p.worst(p.cableOf[b.node]); class >= 0 {
		fill, sign = p.Scale.classes[class].Fill, p.Scale.classes[class].Sign+" "
	}
	for _, i := range p.cableOf[b.node] {
		if m := p.mark(i); m != (Mark{}) {
			findings += "\n" + m.Text
		}
	}
	b.svgRect(out, p.nodeTitle(b.node, findings), fill, "", sign+p.label(b.node, mostCharacters-2-len([]rune(sign))))
}

// svgGroup writes a group's title, node count and finding count.
func (p *Picture) svgGroup(out *bufio.Writer, b box) {
	count := plural.Count(len(b.group.ends), "end node", "end nodes")
	if len(b.group.ends) == 0 {
		count = plural.Count(len(b.group.switches), "switch", "switches")
	}
	lines, stroke := []string{cutMiddle(b.group.title, mostCharacters), count}, colourLine
	if class, count := p.worst(b.group.cables); class >= 0 {
		c := p.Scale.classes[class]
		lines, stroke = append(lines, c.Sign+" "+plural.Count(count, p.Scale.nouns[0], p.Scale.nouns[1])), c.Colour
	}
	b.svgRect(out, b.group.title, colourSwitch, `rx="6" stroke="`+stroke+`"`, lines...)
}
