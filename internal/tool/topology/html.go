package topology

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/ibkit/ibkit/fabric"
)

// The page's script and style. The page loads nothing else.
var (
	//go:embed page/page.js
	pageScript string
	//go:embed page/page.css
	pageStyle string
)

// pageData is the page's data. A node is an array with name, GUID, kind, LID, place and
// the index of the switch above it, a cable an array with both ends' node and port, rate
// and mark; -1 stands for none. Labels are port labels, by node and port number.
type pageData struct {
	Summary    string   `json:"summary"`
	Folded     bool     `json:"folded"`
	Width      float64  `json:"width"`
	Height     float64  `json:"height"`
	BoxWidth   float64  `json:"boxWidth"`
	BoxHeight  float64  `json:"boxHeight"`
	NodeHeight float64  `json:"nodeHeight"`
	Kinds      []string `json:"kinds"`
	Rates      []string `json:"rates"`
	Marks      []string `json:"marks"`
	MarkClass  []int    `json:"markClass"` // by mark: its class index
	Nodes      [][]any  `json:"nodes"`
	Cables     [][6]int `json:"cables"`

	Labels  map[int]map[uint8]string `json:"labels"`
	Classes []findingClass           `json:"classes"`
}

// WriteHTML writes the picture as a page with search and node details. The page is a
// single file and makes no network request.
func (p *Picture) WriteHTML(w io.Writer) error {
	data, err := json.Marshal(p.data())
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src %s; style-src %s">
<title>Fabric</title>
<style>%s</style>
</head>
<body>
<canvas></canvas>
<header><h1>Fabric</h1><input type="search" placeholder="find a node" aria-label="find a node"><ul></ul></header>
<aside hidden></aside>
<noscript>The picture requires JavaScript.</noscript>
<script id="data" type="application/json">`, sourceHash(pageScript), sourceHash(pageStyle), pageStyle)
	out.Write(data) // encoding/json escapes <, > and &
	fmt.Fprintf(out, "</script>\n<script>%s</script>\n</body>\n</html>\n", pageScript)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// sourceHash returns an inline source's hash for the Content-Security-Policy.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func (p *Picture) data() pageData {
	d := pageData{
		Summary: p.Summary(), Folded: p.Folded(), Width: math.Round(p.width), Height: math.Round(p.depth),
		BoxWidth: boxWidth, BoxHeight: boxHeight, NodeHeight: nodeHeight,
		Kinds: []string{"channel adapter", "switch", "router"}, Nodes: [][]any{}, Cables: [][6]int{},
		Labels: map[int]map[uint8]string{}, Classes: findingClasses, MarkClass: []int{},
	}
	index := make(map[*fabric.Node]int, len(p.Fabric.Nodes))
	for i, n := range p.Fabric.Nodes {
		index[n] = i
	}
	kinds := map[string]int{"ca": 0, "switch": 1, "router": 2}
	for i, n := range p.Fabric.Nodes {
		owner := -1
		if s := p.owner[n]; s != nil {
			owner = index[s]
		}
		lid := 0
		for _, port := range n.Ports {
			if port != nil {
				lid = int(port.LID())
				break
			}
		}
		if labels := labelsOf(n); len(labels) > 0 {
			d.Labels[i] = labels
		}
		at := p.at[n]
		d.Nodes = append(d.Nodes, []any{p.Names.Name(n), n.GUID, kinds[kindOf(n)], lid, math.Round(at.x), math.Round(at.y), owner})
	}
	rates, marks := texts{}, texts{}
	for _, c := range Cables(p.Fabric) {
		w, s := c.Rate()
		mark := p.mark(c)
		text := marks.add(mark.Text)
		if text == len(d.MarkClass) {
			d.MarkClass = append(d.MarkClass, mark.class())
		}
		d.Cables = append(d.Cables, [6]int{
			index[c.A.Node], int(c.A.Number), index[c.B.Node], int(c.B.Number),
			rates.add(strings.TrimSpace(textOf(w) + " " + textOf(s))), text,
		})
	}
	d.Rates, d.Marks = rates.list, marks.list
	return d
}

// labelsOf returns the labels of a node's ports with a link.
func labelsOf(n *fabric.Node) map[uint8]string {
	labels := map[uint8]string{}
	for _, port := range linked(n) {
		if port.Label != "" {
			labels[port.Number] = port.Label
		}
	}
	return labels
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

// texts numbers texts.
type texts struct {
	list  []string
	index map[string]int
}

// add returns a text's number, -1 for "".
func (t *texts) add(s string) int {
	if s == "" {
		return -1
	}
	if t.index == nil {
		t.index = map[string]int{}
	}
	i, known := t.index[s]
	if !known {
		i = len(t.list)
		t.index[s] = i
		t.list = append(t.list, s)
	}
	return i
}
