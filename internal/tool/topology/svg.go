package topology

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strconv"

	"github.com/ibkit/ibkit/fabric"
)

// Cable and node colours.
const (
	colourCable   = "#9aa5b1"
	colourSwitch  = "#dbe9f6"
	colourHost    = "#f3f4f6"
	colourBadHost = "#fecaca"
)

// WriteSVG writes the picture as an SVG file.
func (p *Picture) WriteSVG(w io.Writer) error {
	out := bufio.NewWriter(w)
	const margin = 20
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="%d %d %.0f %.0f" font-family="sans-serif" font-size="11">`+"\n",
		-margin, -margin, p.width+2*margin, p.depth+2*margin)
	fmt.Fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", -margin, -margin)
	fmt.Fprintf(out, "<g stroke=\"%s\" stroke-width=\"1\">\n", colourCable)
	for _, g := range p.bundles() {
		p.svgBundle(out, g)
	}
	out.WriteString("</g>\n")
	for _, n := range p.Fabric.Nodes {
		p.svgNode(out, n)
	}
	out.WriteString("</svg>\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write picture: %w", err)
	}
	return nil
}

// A bundle is the cables between two nodes that a picture shows as a single line.
type bundle struct {
	a, b   *fabric.Node
	cables []Cable
}

// bundles groups the cables by their nodes, without cables between an end node and the
// switch above it, for which the end node stands. If the picture is folded, the switch
// stands for the end node.
func (p *Picture) bundles() []bundle {
	index := map[[2]*fabric.Node]int{}
	var list []bundle
	for _, c := range Cables(p.Fabric) {
		a, b := c.A.Node, c.B.Node
		for _, n := range []**fabric.Node{&a, &b} {
			if p.Folded() && p.owner[*n] != nil {
				*n = p.owner[*n]
			}
		}
		if a == b || p.owner[a] == b || p.owner[b] == a {
			continue
		}
		key := [2]*fabric.Node{a, b}
		i, known := index[key]
		if !known {
			i = len(list)
			index[key], index[[2]*fabric.Node{b, a}] = i, i
			list = append(list, bundle{a: a, b: b})
		}
		list[i].cables = append(list[i].cables, c)
	}
	return list
}

func (p *Picture) svgBundle(out *bufio.Writer, g bundle) {
	a, b := p.at[g.a], p.at[g.b]
	style, title, worst := "", "", -1
	for _, c := range g.cables {
		w, s := c.Rate()
		line := portText(c.A, p.Names) + " - " + portText(c.B, p.Names) + " " + textOf(w) + " " + textOf(s)
		if m := p.mark(c); m != (Mark{}) {
			worst = max(worst, m.class())
			line += ": " + m.Text
		}
		title += line + "\n"
	}
	if worst >= 0 {
		style = ` stroke="` + findingClasses[worst].Colour + `" stroke-width="2.5"`
	}
	fmt.Fprintf(out, `<line x1="%.0f" y1="%.0f" x2="%.0f" y2="%.0f"%s><title>%s</title></line>`+"\n", a.x, a.y, b.x, b.y, style, html.EscapeString(title))
}

func (p *Picture) svgNode(out *bufio.Writer, n *fabric.Node) {
	at, name := p.at[n], p.Names.Name(n)
	title := html.EscapeString(name + "\n" + n.GUID.String())
	if p.owner[n] != nil {
		if p.Folded() {
			return
		}
		fill := colourHost
		for _, port := range linked(n) {
			if m := p.mark(Cable{port, port.Peer}); m != (Mark{}) {
				fill = colourBadHost
				title += html.EscapeString("\n" + m.Text)
			}
		}
		fmt.Fprintf(out, `<g><title>%s</title><rect x="%.0f" y="%.1f" width="%.0f" height="%.0f" fill="%s"/><text x="%.0f" y="%.1f">%s</text></g>`+"\n",
			title, at.x-boxWidth/2, at.y-nodeHeight/2, boxWidth, nodeHeight-1, fill, at.x-boxWidth/2+3, at.y+4, html.EscapeString(short(name)))
		return
	}
	fmt.Fprintf(out, `<g><title>%s</title><rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="3" fill="%s" stroke="#4b5563"/><text x="%.0f" y="%.0f" text-anchor="middle">%s</text></g>`+"\n",
		title, at.x-boxWidth/2, at.y-boxHeight/2, boxWidth, boxHeight, colourSwitch, at.x, at.y+4, html.EscapeString(short(name)))
	if count := len(p.below[n]); p.Folded() && count > 0 {
		fmt.Fprintf(out, `<text x="%.0f" y="%.0f" text-anchor="middle" fill="#4b5563">%s</text>`+"\n", at.x, at.y+boxHeight+4, strconv.Itoa(count)+" end nodes")
	}
}

// short returns a name that fits a box.
func short(name string) string {
	const most = 15
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}
