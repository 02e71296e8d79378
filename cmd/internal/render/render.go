// Package render draws for people: tables, colour, a progress line. It is the only user
// of the libraries that do it.
package render

import (
	"bytes"
	"io"

	"github.com/fatih/color"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
	"golang.org/x/term"

	"github.com/ibkit/ibkit/report"
)

// IsTerminal reports whether a reader or writer is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
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

// OfSeverity marks text about a finding or an event.
func (p *Palette) OfSeverity(severity report.Severity, text string) string {
	switch severity {
	case report.Error:
		return p.Bad(text)
	case report.Warning, report.Unknown:
		return p.Warn(text)
	case report.Recovery:
		return p.Good(text)
	}
	return text
}

// Faint marks less important text.
func (p *Palette) Faint(s string) string { return p.faint.Sprint(s) }

// Table writes rows under a header, columns two blanks apart and without lines,
// so that cut and awk can read it.
func Table(w io.Writer, header []string, rows [][]string) error {
	t := tablewriter.NewTable(trimmer{w},
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Settings: tw.Settings{
				Separators: tw.SeparatorsNone,
				Lines:      tw.LinesNone,
			},
		})),
		tablewriter.WithPadding(tw.Padding{Right: "  ", Overwrite: true}),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithRowAlignment(tw.AlignLeft),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
	)
	t.Header(header)
	if err := t.Bulk(rows); err != nil {
		return err
	}
	return t.Render()
}

// A trimmer takes the blanks off line ends, with which the table fills its last column.
// The table writes whole lines.
type trimmer struct{ w io.Writer }

func (t trimmer) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		text := bytes.TrimRight(line, " \n")
		if len(text) < len(line) && line[len(line)-1] == '\n' {
			text = append(text[:len(text):len(text)], '\n')
		}
		if _, err := t.w.Write(text); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}
