// Package render draws for people: tables, colour, a line of progress. It is
// the only user of the libraries that do it.
package render

import (
	"io"
	"strings"

	"github.com/fatih/color"
	"golang.org/x/term"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// A Palette colours text, or leaves it as it is.
type Palette struct {
	bad, warn, good, faint *color.Color
}

// NewPalette returns colours for a terminal. For other writers and if NO_COLOR is set
// (https://no-color.org), all text stays without colour.
func NewPalette(w io.Writer, getenv func(string) string) *Palette {
	p := &Palette{
		bad:   color.New(color.FgRed, color.Bold),
		warn:  color.New(color.FgYellow),
		good:  color.New(color.FgGreen),
		faint: color.New(color.Faint),
	}
	// The library decides once, by os.Stdout, but w may be another writer.
	on := IsTerminal(w) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	for _, c := range []*color.Color{p.bad, p.warn, p.good, p.faint} {
		if on {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
	}
	return p
}

// Bad marks errors.
func (p *Palette) Bad(s string) string { return p.bad.Sprint(s) }

// Warn marks warnings.
func (p *Palette) Warn(s string) string { return p.warn.Sprint(s) }

// Good marks good states.
func (p *Palette) Good(s string) string { return p.good.Sprint(s) }

// Faint marks less important text.
func (p *Palette) Faint(s string) string { return p.faint.Sprint(s) }

// Table writes rows under a header, columns two blanks apart and without lines,
// so that cut and awk can read it. A row may be shorter than the header. The lines of a
// cell are joined.
func Table(w io.Writer, header []string, rows [][]string) error {
	columns := make([]Column[[]string], len(header))
	for i, name := range header {
		columns[i] = Column[[]string]{name, func(b []byte, row []string) []byte {
			if i >= len(row) {
				return b
			}
			return append(b, strings.ReplaceAll(row[i], "\n", "; ")...)
		}}
	}
	out := NewOutput(w)
	Columns(out, columns, rows)
	return out.Flush()
}
