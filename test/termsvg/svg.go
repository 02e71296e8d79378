package termsvg

import (
	"bytes"
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Character sizes in the font below, in pixels: monospaced fonts are 0.6 as wide as high.
const (
	fontSize   = 13
	charWidth  = 7.8
	lineHeight = 18
	margin     = 16
	titleBar   = 30
)

// A style is a selection by terminal control sequences.
type style struct {
	bold, faint, underline, reverse bool
	colour                          int // 30 to 37, 90 to 97; 0: plain text colour
}

// colours are for a terminal with a dark background.
var colours = map[int]string{
	31: "#ff6b68", 32: "#7ec77b", 33: "#e5c07b", 34: "#6cb0f5", 35: "#d19ae6", 36: "#56c8d8", 90: "#8a919e", 91: "#ff6b68", 92: "#7ec77b", 93: "#e5c07b",
}

// The plain text and background colours.
const (
	foreground = "#d7dae0"
	background = "#1e2127"
)

// Draw draws terminal lines as SVG, under a title. It knows the control sequences for
// bold, faint, underlined, reversed and coloured text, and returns an error for others.
func Draw(title, text string) ([]byte, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var body bytes.Buffer
	columns := 0
	var s style
	for i, line := range lines {
		y := titleBar + margin + i*lineHeight + fontSize
		var spans bytes.Buffer
		width, err := drawLine(&body, &spans, line, y, &s)
		if err != nil {
			return nil, fmt.Errorf("draw line %d: %w", i+1, err)
		}
		fmt.Fprintf(&body, `<text x="%d" y="%d" xml:space="preserve">%s</text>`+"\n", margin, y, &spans)
		columns = max(columns, width)
	}
	width := 2*margin + int(float64(columns)*charWidth+1)
	height := titleBar + 2*margin + len(lines)*lineHeight
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img">
<title>%[3]s</title>
<rect width="%[1]d" height="%[2]d" rx="8" fill="%[5]s"/>
<circle cx="18" cy="16" r="5" fill="#ff6b68"/><circle cx="36" cy="16" r="5" fill="#e5c07b"/><circle cx="54" cy="16" r="5" fill="#7ec77b"/>
<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="%[4]d" fill="%[6]s">
`, width, height, html.EscapeString(title), fontSize, background, foreground)
	out.Write(body.Bytes())
	out.WriteString("</g>\n</svg>\n")
	return out.Bytes(), nil
}

// drawLine draws the spans in a line at y, which begins in a style, and the background
// behind reversed text. It returns the number of columns.
func drawLine(behind, out *bytes.Buffer, line string, y int, s *style) (columns int, err error) {
	for line != "" {
		text, rest, isControl := strings.Cut(line, "\x1b[")
		if text != "" && s.reverse {
			fmt.Fprintf(behind, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n",
				margin+float64(columns)*charWidth, y-fontSize, float64(utf8.RuneCountInString(text))*charWidth, lineHeight, foreground)
		}
		if text != "" {
			fmt.Fprintf(out, `<tspan%s textLength="%.1f">%s</tspan>`, s.attributes(), float64(utf8.RuneCountInString(text))*charWidth, html.EscapeString(text))
			columns += utf8.RuneCountInString(text)
		}
		if !isControl {
			break
		}
		codes, after, isColour := strings.Cut(rest, "m")
		if !isColour || s.change(codes) != nil {
			return 0, fmt.Errorf("unknown control sequence %q", rest[:min(len(rest), 8)])
		}
		line = after
	}
	return columns, nil
}

// change applies the numbers in a Select Graphic Rendition sequence (ECMA-48, 8.3.117).
func (s *style) change(codes string) error {
	for code := range strings.SplitSeq(codes, ";") {
		n, err := strconv.Atoi(code)
		if err != nil && code != "" {
			return err
		}
		switch {
		case n == 0:
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.faint = true
		case n == 4:
			s.underline = true
		case n == 7:
			s.reverse = true
		case n == 22:
			s.bold, s.faint = false, false
		case n == 24:
			s.underline = false
		case n == 27:
			s.reverse = false
		case n == 39:
			s.colour = 0
		case n == 49: // default background: there is no other
		case colours[n] != "":
			s.colour = n
		default:
			return fmt.Errorf("unknown style %d", n)
		}
	}
	return nil
}

func (s *style) attributes() string {
	var a string
	switch {
	case s.reverse:
		a += ` fill="` + background + `"`
	case s.colour != 0:
		a += ` fill="` + colours[s.colour] + `"`
	}
	if s.bold {
		a += ` font-weight="bold"`
	}
	if s.faint {
		a += ` opacity="0.6"`
	}
	if s.underline {
		a += ` text-decoration="underline"`
	}
	return a
}
