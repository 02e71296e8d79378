package chart

import (
	"fmt"
	"html"
	"strings"
)

// SVG returns charts below each other as an SVG document.
func SVG(charts []Chart) string {
	var b svgCanvas
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif">`+"\n", width, height*len(charts))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#ffffff"/>`+"\n")
	drawAll(&b, charts)
	b.WriteString("</svg>\n")
	return b.String()
}

// HTML returns charts as an HTML page.
func HTML(title string, charts []Chart) string {
	return fmt.Sprintf("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s</title>\n</head>\n<body>\n%s</body>\n</html>\n",
		html.EscapeString(title), SVG(charts))
}

// svgCanvas draws SVG.
type svgCanvas struct{ strings.Builder }

func (s *svgCanvas) line(points []Point, width float64, colour string) {
	if len(points) == 0 {
		return
	}
	var all []string
	for _, p := range points {
		all = append(all, fmt.Sprintf("%.1f,%.1f", p.X, p.Y))
	}
	fmt.Fprintf(s, `<polyline points="%s" fill="none" stroke="%s" stroke-width="%g"/>`+"\n", strings.Join(all, " "), colour, width)
}

// dot draws a dot with a tooltip.
func (s *svgCanvas) dot(at Point, radius float64, colour, about string) {
	fmt.Fprintf(s, `<circle cx="%.1f" cy="%.1f" r="%g" fill="%s"><title>%s</title></circle>`+"\n", at.X, at.Y, radius, colour, html.EscapeString(about))
}

func (s *svgCanvas) text(at Point, size int, a align, upright bool, text string) {
	anchor := [...]string{atStart: "start", atMiddle: "middle", atEnd: "end"}[a]
	turn := ""
	if upright {
		turn = fmt.Sprintf(` transform="rotate(-90 %g %g)"`, at.X, at.Y)
	}
	fmt.Fprintf(s, `<text x="%.1f" y="%.1f" font-size="%d" text-anchor="%s"%s>%s</text>`+"\n", at.X, at.Y, size, anchor, turn, html.EscapeString(text))
}
