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

	Marks  map[*fabric.Port]Mark // colour the ports' cables
	Others []report.Finding      // findings that the page lists without a cable
	Source string                // the fabric's source and time, which the page shows

	cables  []Cable
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

// A Mark is a port finding: from package linkinfo or from this package.
type Mark struct {
	Kind     report.Kind // selects the colour
	Severity report.Severity
	Text     string
}

// The counts above which a picture shows groups in place of nodes.
const (
	foldNodes    = 500
	foldSwitches = 100
)

// A findingClass is findings with the same colour, line pattern and sign in pictures.
type findingClass struct {
	Colour string    `json:"colour"`
	Dark   string    `json:"dark"` // colour on a dark background
	Fill   string    `json:"-"`    // end node background
	Dash   []float64 `json:"dash"` // line pattern; none: solid
	Sign   string    `json:"sign"`
	Text   string    `json:"text"`
	kinds  []report.Kind
}

// findingClasses are ordered by severity. The last class has all other findings.
var findingClasses = []findingClass{
	{"#d97706", "#fbbf24", "#fde68a", []float64{9, 3}, "▲", "slower than possible or planned", []report.Kind{report.Slow, report.Narrow, report.Slower}},
	{"#7c3aed", "#a78bfa", "#ddd6fe", []float64{2, 3}, "◆", "not cabled as planned", []report.Kind{report.MissingCable, report.WrongPeer, report.Swapped, report.UnexpectedCable}},
	{"#b91c1c", "#f87171", "#fecaca", []float64{}, "●", "other problem", nil},
}

// class returns a mark's class index.
func (m Mark) class() int {
	other := len(findingClasses) - 1
	if i := slices.IndexFunc(findingClasses[:other], func(c findingClass) bool { return slices.Contains(c.kinds, m.Kind) }); i >= 0 {
		return i
	}
	return other
}

// NewPicture lays out a fabric.
func NewPicture(f *fabric.Fabric, names *fabric.NameMap, marks map[*fabric.Port]Mark) *Picture {
	p := &Picture{
		Fabric: f, Names: names, Shape: RecognizeShape(f), Levels: Levels(f), Marks: marks,
		cables: Cables(f), cableOf: map[*fabric.Node][]int{}, short: map[*fabric.Node]string{},
		owner: map[*fabric.Node]*fabric.Node{}, below: map[*fabric.Node][]*fabric.Node{},
	}
	for i, c := range p.cables {
		p.cableOf[c.A.Node] = append(p.cableOf[c.A.Node], i)
		if c.B.Node != c.A.Node {
			p.cableOf[c.B.Node] = append(p.cableOf[c.B.Node], i)
		}
	}
	p.addRates()
	p.assignEndNodes()
	p.fold()
	p.shorten()
	p.drawings = append(p.drawings, p.drawAll())
	for _, g := range p.groups {
		p.drawings = append(p.drawings, p.drawGroup(g))
	}
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

// mark returns a cable's finding, the zero Mark without a finding.
func (p *Picture) mark(c Cable) Mark { return cmp.Or(p.Marks[c.A], p.Marks[c.B]) }

// worst returns the worst class of cables' findings, -1 without findings, and the
// number of cables with findings.
func (p *Picture) worst(cables []int) (class, count int) {
	class = -1
	for _, i := range cables {
		if m := p.mark(p.cables[i]); m != (Mark{}) {
			class = max(class, m.class())
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
