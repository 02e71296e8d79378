package topology

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// pageData is the page's data about places. Each element is an array; script data.js names its
// members. References are indexes, -1 is no reference.
type pageData struct {
	Sizes    [3][2]float64 `json:"sizes"` // end node, switch and group
	Kinds    []string      `json:"kinds"`
	Nodes    [][]any       `json:"nodes"` // name, short name, GUID, kind, LID, switch above, group
	Groups   []pageGroup   `json:"groups"`
	Cables   [][4]int      `json:"cables"` // node and port of both ends
	Drawings []pageDrawing `json:"drawings"`

	Labels map[int]map[uint8]string `json:"labels"` // by node and port
}

// pagePaint is the part of the page's data that changes between scans.
type pagePaint struct {
	Layout  string    `json:"layout"` // identifies the other part
	Source  string    `json:"source"`
	Summary string    `json:"summary"`
	Verdict string    `json:"verdict"` // without marks
	Nouns   [2]string `json:"nouns"`   // for marks
	Rates   [][3]any  `json:"rates"`   // text, cables, line width
	RateOf  []int     `json:"rate_of"` // by cable
	Marks   [][3]any  `json:"marks"`   // text, class, order
	MarkOf  []int     `json:"mark_of"` // by cable
	Classes []class   `json:"classes"`
	Others  [][4]any  `json:"others"` // findings: node, text, class, order
}

type pageGroup struct {
	Title    string `json:"title"`
	Switches int    `json:"switches"`
	Ends     int    `json:"ends"`
}

// A pageDrawing is a drawing in the page's data. A box refers to a node, or with -1 - i
// to group i.
type pageDrawing struct {
	Area   [4]int   `json:"area"`   // left, top, width, height
	Boxes  [][3]int `json:"boxes"`  // reference, centre
	Frames [][]any  `json:"frames"` // title, left, top, width, height, title at the bottom
	Links  [][4]any `json:"links"`  // boxes, curve (ends, points between them), cables
}

// onceLayout returns a function that returns the JSON form of [pageData] and its hash, and
// keeps them.
func (p *Picture) onceLayout() func() ([]byte, string, error) {
	type layout struct {
		text []byte
		id   string
	}
	once := sync.OnceValues(func() (layout, error) {
		text, err := json.Marshal(p.data())
		sum := sha256.Sum256(text)
		return layout{text, hex.EncodeToString(sum[:8])}, err
	})
	return func() ([]byte, string, error) {
		l, err := once()
		return l.text, l.id, err
	}
}

func (p *Picture) data() pageData {
	d := pageData{
		Kinds: []string{"channel adapter", "switch", "router"},
		Sizes: [3][2]float64{{switchWide - endIndent, endHigh - 1}, {switchWide, switchHigh}, {switchWide, groupHigh}},
		Nodes: [][]any{}, Groups: []pageGroup{}, Labels: map[int]map[uint8]string{},
	}
	groups := map[*group]int{nil: -1}
	for i, g := range p.groups {
		groups[g] = i
		d.Groups = append(d.Groups, pageGroup{g.title, len(g.switches), len(g.ends)})
	}
	index := map[*fabric.Node]int{nil: -1}
	for i, n := range p.nodes {
		index[n] = i
	}
	kinds := map[string]int{"ca": 0, "switch": 1, "router": 2}
	for i, n := range p.nodes {
		if labels := labelsOf(n); len(labels) > 0 {
			d.Labels[i] = labels
		}
		d.Nodes = append(d.Nodes, []any{
			p.Names.Name(n), p.short[n], n.GUID, kinds[kindOf(n)], firstLID(n), index[p.owner[n]], groups[p.groupOf[n]],
		})
	}
	d.Cables = [][4]int{}
	for _, c := range p.cables {
		d.Cables = append(d.Cables, [4]int{index[c.A.Node], int(c.A.Number), index[c.B.Node], int(c.B.Number)})
	}
	for _, from := range p.drawings {
		d.Drawings = append(d.Drawings, from.data(index, groups))
	}
	return d
}

func (d *drawing) data(index map[*fabric.Node]int, groups map[*group]int) pageDrawing {
	whole := func(v float64) int { return int(math.Round(v)) }
	to := pageDrawing{
		Area:  [4]int{whole(d.least.x), whole(d.least.y), whole(d.most.x - d.least.x), whole(d.most.y - d.least.y)},
		Boxes: [][3]int{}, Frames: [][]any{}, Links: [][4]any{},
	}
	for _, b := range d.boxes {
		ref := index[b.node]
		if b.group != nil {
			ref = -1 - groups[b.group]
		}
		to.Boxes = append(to.Boxes, [3]int{ref, whole(b.at.x), whole(b.at.y)})
	}
	for _, f := range d.frames {
		to.Frames = append(to.Frames, []any{f.title, whole(f.corner.x), whole(f.corner.y), whole(f.wide), whole(f.high), f.atBottom})
	}
	for _, l := range d.links {
		curve := []int{whole(l.curve.from.x), whole(l.curve.from.y), whole(l.curve.to.x), whole(l.curve.to.y)}
		for _, at := range l.curve.via {
			curve = append(curve, whole(at.x), whole(at.y))
		}
		to.Links = append(to.Links, [4]any{l.a, l.b, curve, l.cables})
	}
	return to
}

// paint returns the rates and marks.
func (p *Picture) paint() (*pagePaint, error) {
	_, id, err := p.layout()
	if err != nil {
		return nil, fmt.Errorf("write page: %w", err)
	}
	var marks numbering
	d := &pagePaint{
		Layout: id, Source: p.Source, Summary: p.Summary(), Verdict: p.verdict(), Nouns: p.Scale.nouns,
		Rates: [][3]any{}, RateOf: append([]int{}, p.rateOf...), Marks: [][3]any{}, MarkOf: []int{}, Classes: p.Scale.classes, Others: p.others(),
	}
	for _, r := range p.rates {
		d.Rates = append(d.Rates, [3]any{r.text, r.cables, r.wide})
	}
	for i := range p.cables {
		m := p.mark(i)
		mark := marks.add(m.Text)
		if mark == len(d.Marks) {
			d.Marks = append(d.Marks, [3]any{m.Text, p.Scale.class(m), m.order()})
		}
		d.MarkOf = append(d.MarkOf, mark)
	}
	return d, nil
}

// others returns the findings without a cable, each with the first node that it names.
func (p *Picture) others() [][4]any {
	byGUID := map[string]int{}
	for i, n := range slices.Backward(p.nodes) {
		byGUID[n.GUID.String()] = i
	}
	list := [][4]any{}
	for _, f := range p.Others {
		node := -1
		if f.NodeGUID != nil {
			if i, known := byGUID[f.NodeGUID.String()]; known {
				node = i
			}
		}
		if data, ok := f.Data.(*FindingData); ok {
			for _, e := range slices.Backward(data.Ends) {
				if e.GUID == nil {
					continue
				}
				if i, known := byGUID[*e.GUID]; known {
					node = i
				}
			}
		}
		m := Mark{Kind: f.Kind, Severity: f.Severity}
		list = append(list, [4]any{node, f.Brief(), p.Scale.class(m), m.order()})
	}
	return list
}

// firstLID returns the LID of a node's first known port.
func firstLID(n *fabric.Node) ib.LID {
	for _, port := range n.Ports {
		if port != nil {
			return port.LID()
		}
	}
	return 0
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

// A numbering numbers texts.
type numbering struct {
	list  []string
	index map[string]int
}

// add returns a text's number, -1 for "".
func (t *numbering) add(s string) int {
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
