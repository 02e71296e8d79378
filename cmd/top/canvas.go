package top

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
)

// A role is the meaning of a text, which decides its style.
type role uint8

const (
	plain  role = iota
	header      // of columns
	title       // first line of the screen
	chosen      // the selected row
	bad
	warn
	faint
)

// A canvas is cells on which a screen is drawn: those of a terminal, or of memory.
type canvas interface {
	Size() (width, height int)
	SetContent(x, y int, primary rune, combining []rune, style tcell.Style)
}

// styles are the styles of roles. Without colour they differ by attributes of text.
type styles [faint + 1]tcell.Style

func newStyles(colour bool) *styles {
	s := tcell.StyleDefault
	all := &styles{plain: s, header: s.Bold(true).Underline(true), title: s.Bold(true), chosen: s.Reverse(true), bad: s.Bold(true), warn: s, faint: s}
	if colour {
		all[bad] = s.Foreground(tcell.ColorRed).Bold(true)
		all[warn] = s.Foreground(tcell.ColorYellow)
		all[faint] = s.Foreground(tcell.ColorGray)
	}
	return all
}

// A pen draws on a canvas.
type pen struct {
	canvas
	styles *styles
}

// text writes a text from x up to end, and returns the column behind it.
func (p *pen) text(x, y, end int, text string, style tcell.Style) int {
	for len(text) > 0 {
		cluster, rest, width, _ := uniseg.FirstGraphemeClusterInString(text, -1)
		if width == 0 || x+width > end {
			break
		}
		runes := []rune(cluster)
		p.SetContent(x, y, runes[0], runes[1:], style)
		x += width
		text = rest
	}
	return x
}

// put writes a text in the style of a role, up to the end of the line.
func (p *pen) put(x, y int, text string, r role) int {
	width, _ := p.Size()
	return p.text(x, y, width, text, p.styles[r])
}

// blank clears a part of a line.
func (p *pen) blank(x, y, end int, style tcell.Style) {
	for ; x < end; x++ {
		p.SetContent(x, y, ' ', nil, style)
	}
}

// A page is a canvas in memory, without styles.
type page struct {
	width, height int
	cells         [][]string
}

func newPage(width, height int) *page {
	p := &page{width: width, height: height, cells: make([][]string, height)}
	for y := range p.cells {
		p.cells[y] = make([]string, width)
	}
	return p
}

// Size implements canvas.
func (p *page) Size() (width, height int) { return p.width, p.height }

// SetContent implements canvas.
func (p *page) SetContent(x, y int, primary rune, combining []rune, _ tcell.Style) {
	if x >= 0 && x < p.width && y >= 0 && y < p.height {
		p.cells[y][x] = string(primary) + string(combining)
	}
}

// String returns the lines without trailing blanks.
func (p *page) String() string {
	var b strings.Builder
	for _, row := range p.cells {
		var line strings.Builder
		for x := 0; x < len(row); x++ {
			cell := row[x]
			if cell == "" {
				cell = " "
			}
			line.WriteString(cell)
			if w := uniseg.StringWidth(cell); w > 1 {
				x += w - 1
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}
