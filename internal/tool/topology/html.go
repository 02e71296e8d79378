package topology

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"strings"
)

// The page's scripts, joined in name order, and its style. The page loads nothing else.
var (
	//go:embed page/*.js
	pageScripts embed.FS
	//go:embed page/page.css
	pageStyle string
)

// WriteHTML writes the picture as a page with search and node details. The page is a
// single file and makes no network request.
func (p *Picture) WriteHTML(w io.Writer) error {
	script := pageScript()
	return p.writePage(w, "The picture requires JavaScript.", fmt.Sprintf(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src %s; style-src %s">
<style>%s</style>`, sourceHash(script), sourceHash(pageStyle), pageStyle), "", "<script>"+script+"</script>")
}

// WriteServed writes the picture as a page of a server that has [PageScript] and [PageStyle]
// as files. head has elements that load the style, header elements to add to the page's,
// scripts elements that load the script and others after it, and still elements for browsers
// without scripts.
func (p *Picture) WriteServed(w io.Writer, head, header, scripts, still string) error {
	return p.writePage(w, still, head, header, scripts)
}

// WritePaint writes the part of the page's data that changes between scans, for its script.
func (p *Picture) WritePaint(w io.Writer) error {
	paint, err := p.paint()
	if err == nil {
		err = json.NewEncoder(w).Encode(paint)
	}
	return err
}

// PageScript returns the script of the page.
func PageScript() []byte { return []byte(pageScript()) }

// PageStyle returns the style of the page.
func PageStyle() []byte { return []byte(pageStyle) }

// writePage writes the page with elements in place of its script, for its style, before its
// header's, and for its script.
func (p *Picture) writePage(w io.Writer, still, style, header, script string) error {
	layout, _, err := p.layout()
	if err != nil {
		return err
	}
	served := ""
	if header != "" {
		served = " data-served"
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>%s</title>
%s
</head>
<body%s>
<header>
%s<nav id="place" aria-label="Place"></nav>
<div id="search"><input type="search" placeholder="find a node" aria-label="find a node"><ul></ul></div>
<div id="zoom"><button title="zoom in">+</button><button title="zoom out">−</button><button title="show all">fit</button></div>
<div id="legend"></div>
<div id="summary"></div>
</header>
<main><canvas></canvas><div id="hover" hidden></div></main>
<aside hidden></aside>
<noscript>%s</noscript>
<script id="data" type="application/json">{"paint":`, html.EscapeString(p.pageTitle()), style, served, header, still)
	if err := p.WritePaint(out); err != nil { // encoding/json escapes <, > and &
		return err
	}
	out.WriteByte(',')
	out.Write(layout[1:])
	fmt.Fprintf(out, "</script>\n%s\n</body>\n</html>\n", script)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// pageScript returns the scripts.
func pageScript() string {
	var b strings.Builder
	files, _ := fs.Glob(pageScripts, "page/*.js")
	for _, name := range files {
		text, _ := pageScripts.ReadFile(name)
		b.Write(text)
	}
	return b.String()
}

// pageTitle returns the page's title.
func (p *Picture) pageTitle() string {
	if p.Source == "" {
		return "Fabric"
	}
	return "Fabric: " + p.Source
}

// verdict describes a picture without marks.
func (p *Picture) verdict() string {
	if p.Scale.verdict != "" {
		return p.Scale.verdict
	}
	verdict := "no problems found"
	if p.Fabric.Partial() {
		verdict = "partial result, " + verdict
	}
	if unjudged := p.Fabric.Unjudged(); unjudged != "" {
		verdict += "; not judged: " + unjudged
	}
	return verdict
}

// sourceHash returns an inline source's hash for the Content-Security-Policy.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Summary returns a line about the fabric.
func (p *Picture) Summary() string {
	s := Summarize(p.Fabric, 0)
	text := fmt.Sprintf("switches: %d, channel adapters: %d, routers: %d, cables: %d", s.Switches, s.CAs, s.Routers, s.Cables)
	if p.Shape.Name != "" {
		text = p.Shape.Name + "; " + text
	}
	return text
}
