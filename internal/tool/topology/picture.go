package topology

import (
	"cmp"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/hostlist"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// A Picture is a fabric drawing: switches by level or in their shape's order, with
// their end nodes. In a large fabric it shows groups, each with its own drawing.
type Picture struct {
	Fabric *fabric.Fabric
	Names  *fabric.NameMap
	Shape  Shape
	Levels Layout

	Scale  *Scale                // meaning of the marks
	Marks  map[*fabric.Port]Mark // colour the ports' cables
	Others []report.Finding      // findings that the page lists without a cable
	Source string                // the fabric's source and time, which the page shows

	nodes   []*fabric.Node // at their places
	cables  []Cable        // between them
	current []Cable        // the cables of the last scan, without ports if it lacks the cable
	layout  func() (text []byte, id string, err error)

	rates   []rateClass                     // the fastest first
	rateOf  []int                           // index in rates by cable
	cableOf map[*fabric.Node][]int          // cable indexes
	owner   map[*fabric.Node]*fabric.Node   // switch above an end node
	below   map[*fabric.Node][]*fabric.Node // end nodes in name order
	short   map[*fabric.Node]string         // name without the prefix of its neighbours

	groups   []*group
	groupOf  map[*fabric.Node]*group
	drawings []*drawing // the whole fabric, then each group
}

// A Mark is a port finding, from package linkinfo or from this package, or a value on a scale
// ([Scale.Mark]).
type Mark struct {
	Kind     report.Kind // selects the colour
	Severity report.Severity
	Text     string

	value float64 // 0: a finding
}

// The counts above which a picture shows groups in place of nodes.
const (
	foldNodes    = 500
	foldSwitches = 100
)

// NewPicture lays out a fabric. Its scale is [Findings].
func NewPicture(f *fabric.Fabric, names *fabric.NameMap, marks map[*fabric.Port]Mark) *Picture {
	p := &Picture{
		Fabric: f, Names: names, Shape: RecognizeShape(f), Levels: Levels(f), Scale: Findings, Marks: marks,
		nodes: f.Nodes, cables: Cables(f), cableOf: map[*fabric.Node][]int{}, short: map[*fabric.Node]string{},
		owner: map[*fabric.Node]*fabric.Node{}, below: map[*fabric.Node][]*fabric.Node{},
	}
	for i, c := range p.cables {
		p.cableOf[c.A.Node] = append(p.cableOf[c.A.Node], i)
		if c.B.Node != c.A.Node {
			p.cableOf[c.B.Node] = append(p.cableOf[c.B.Node], i)
		}
	}
	p.current = p.cables
	p.addRates()
	p.assignEndNodes()
	p.fold()
	p.shorten()
	p.drawings = append(p.drawings, p.drawAll())
	for _, g := range p.groups {
		p.drawings = append(p.drawings, p.drawGroup(g))
	}
	p.layout = p.onceLayout()
	return p
}

// Folded reports whether the picture shows groups in place of nodes.
func (p *Picture) Folded() bool { return len(p.groups) > 0 }

// assignEndNodes assigns each end node to the first switch that it is linked to.
func (p *Picture) assignEndNodes() {
	for _, n := range p.Fabric.Nodes {
		if n.IsSwitch() {
			continue
		}
		for _, port := range n.Ports {
			if port != nil && port.Peer != nil && port.Peer.Node.IsSwitch() {
				p.owner[n] = port.Peer.Node
				p.below[port.Peer.Node] = append(p.below[port.Peer.Node], n)
				break
			}
		}
	}
	for _, nodes := range p.below {
		slices.SortStableFunc(nodes, p.byName)
	}
}

func (p *Picture) byName(a, b *fabric.Node) int {
	return hostlist.Compare(p.Names.Name(a), p.Names.Name(b))
}

// switches returns the fabric's switches in name order.
func (p *Picture) switches() []*fabric.Node {
	all := slices.DeleteFunc(slices.Clone(p.Fabric.Nodes), func(n *fabric.Node) bool { return !n.IsSwitch() })
	slices.SortStableFunc(all, p.byName)
	return all
}

// mark returns a cable's mark, the zero Mark without one.
func (p *Picture) mark(cable int) Mark {
	c := p.current[cable]
	if c == (Cable{}) && p.Scale == Findings {
		return Mark{Kind: report.NotActive, Severity: report.Error, Text: "the last scan has no such link"}
	}
	return cmp.Or(p.Marks[c.A], p.Marks[c.B])
}

// worst returns the worst class of cables' marks, -1 without marks, and the number of cables
// with marks.
func (p *Picture) worst(cables []int) (class, count int) {
	class = -1
	for _, i := range cables {
		if m := p.mark(i); m != (Mark{}) {
			class = max(class, p.Scale.class(m))
			count++
		}
	}
	return class, count
}

// kindOf returns a node's class in pictures.
func kindOf(n *fabric.Node) string {
	switch n.Info.NodeType {
	case mad.NodeTypeSwitch:
		return "switch"
	case mad.NodeTypeRouter:
		return "router"
	}
	return "ca"
}
