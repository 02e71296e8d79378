package gpu

import (
	"fmt"
	"html"
	"io"
	"maps"
	"slices"
	"strings"
)

// A branch is a function in the drawing of the PCI Express tree, or a host bridge.
type branch struct {
	text, colour string
	below        map[string]*branch // by address
}

func (b *branch) child(name string) *branch {
	if b.below == nil {
		b.below = map[string]*branch{}
	}
	if b.below[name] == nil {
		b.below[name] = &branch{text: name, colour: "#ddd"}
	}
	return b.below[name]
}

// Sizes and colours of the drawing.
const (
	rowHeight = 26
	indent    = 28
	charWidth = 7

	gpuColour     = "#cfe8cf"
	adapterColour = "#cfe0f5"
	slowColour    = "#f5c6c0" // a finding
)

// WriteSVG draws the PCI Express tree: host bridges, bridges, GPUs and adapters, with the links.
// GPUs and adapters with a finding are red.
func (t *Topology) WriteSVG(w io.Writer) error {
	root := t.tree()
	rows, depth, length := root.size()
	box := charWidth*length + 16
	width, height := indent*depth+box+20, rowHeight*(rows-1)+20
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	row := 0
	for _, name := range slices.Sorted(maps.Keys(root.below)) {
		root.below[name].draw(&s, 0, box, &row)
	}
	s.WriteString("</svg>\n")
	_, err := io.WriteString(w, s.String())
	return err
}

// tree returns the host bridges below a root.
func (t *Topology) tree() *branch {
	bad := map[string]bool{}
	for _, f := range t.Findings {
		for name := range strings.SplitSeq(f.Subject, ", ") {
			bad[name] = true
		}
	}
	root := &branch{}
	add := func(name, more, colour string, p Position) {
		b := root.child(p.HostBridge)
		for _, address := range p.Path {
			b = b.child(address)
		}
		b = b.child(p.Address)
		b.text, b.colour = fmt.Sprintf("%s  %s  %v%s", name, p.Address, p.Link, more), colour
		if bad[name] {
			b.colour = slowColour
		}
	}
	for _, g := range t.GPUs {
		more := ""
		if len(g.Nearest) > 0 {
			more = fmt.Sprintf("  %s to %s", g.best(), strings.Join(g.Nearest, ", "))
		}
		add(g.Name, more, gpuColour, g.Position)
	}
	for _, a := range t.Adapters {
		add(a.Name, "", adapterColour, a.Position)
	}
	for _, b := range t.Bridges {
		root.describe(b)
	}
	return root
}

// describe adds type and link of a bridge to its branches.
func (b *branch) describe(bridge *Bridge) {
	for address, child := range b.below {
		if address == bridge.Address {
			child.text = strings.TrimSpace(fmt.Sprintf("%s  %s  %v", bridge.Type, bridge.Address, bridge.Link))
			if bridge.ACSRedirect != nil && *bridge.ACSRedirect {
				child.text += "  ACS"
			}
		}
		child.describe(bridge)
	}
}

// size returns the count of branches, their depth, and the length of the longest text.
func (b *branch) size() (rows, depth, length int) {
	rows, length = 1, len(b.text)
	for _, child := range b.below {
		n, d, l := child.size()
		rows, depth, length = rows+n, max(depth, d+1), max(length, l)
	}
	return rows, depth, length
}

// draw draws a branch in a row as a box with a width, and its children in the next rows.
func (b *branch) draw(s *strings.Builder, depth, width int, row *int) {
	x, y := 10+indent*depth, 10+rowHeight**row
	fmt.Fprintf(s, `<rect x="%d" y="%d" width="%d" height="%d" rx="3" fill="%s" stroke="#888"/><text x="%d" y="%d" xml:space="preserve">%s</text>`+"\n",
		x, y, width, rowHeight-6, b.colour, x+8, y+14, html.EscapeString(b.text))
	*row++
	for _, name := range slices.Sorted(maps.Keys(b.below)) {
		fmt.Fprintf(s, `<path d="M%d %dV%dH%d" fill="none" stroke="#888"/>`+"\n", x+indent/2, y+rowHeight-6, 10+rowHeight**row+(rowHeight-6)/2, x+indent)
		b.below[name].draw(s, depth+1, width, row)
	}
}
