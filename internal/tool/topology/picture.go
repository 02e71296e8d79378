package topology

import (
	"cmp"
	"math"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// A Picture is a fabric drawing: switches by level or in their shape's order, with
// their end nodes below them.
type Picture struct {
	Fabric *fabric.Fabric
	Names  *fabric.NameMap
	Shape  Shape
	Levels Layout

	Marks map[*fabric.Port]Mark // colour the ports' cables

	at    map[*fabric.Node]point
	owner map[*fabric.Node]*fabric.Node // switch above an end node
	below map[*fabric.Node][]*fabric.Node
	width float64
	depth float64
}

// A Mark is a port finding: from package linkinfo or from this package.
type Mark struct {
	Kind report.Kind // selects the colour
	Text string
}

// A point is a place in a picture, in pixels at scale 1.
type point struct{ x, y float64 }

// A picture's measures in pixels.
const (
	columnWidth = 120.0 // for a switch with its end nodes' names
	nodeHeight  = 14.0  // for an end node's name
	levelHeight = 140.0
	boxWidth    = 104.0
	boxHeight   = 20.0
)

// foldAbove is the node count above which a picture shows a switch's end node count
// instead of the end nodes.
const foldAbove = 1500

// A findingClass is findings with the same colour in pictures.
type findingClass struct {
	Colour string `json:"colour"`
	Text   string `json:"text"`
	kinds  []report.Kind
}

// findingClasses are ordered by severity. The last class has all other findings.
var findingClasses = []findingClass{
	{"#d97706", "slower than possible or planned", []report.Kind{report.Slow, report.Narrow, report.Slower}},
	{"#7c3aed", "not cabled as planned", []report.Kind{report.MissingCable, report.WrongPeer, report.Swapped, report.UnexpectedCable}},
	{"#d62728", "other problem", nil},
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
		at: map[*fabric.Node]point{}, owner: map[*fabric.Node]*fabric.Node{}, below: map[*fabric.Node][]*fabric.Node{},
	}
	p.assignEndNodes()
	switch p.Shape.Name {
	case "torus":
		p.placeGrid()
	case "dragonfly":
		p.placeGroups()
	default:
		p.placeLevels()
	}
	p.placeEndNodes()
	for _, at := range p.at {
		p.width, p.depth = max(p.width, at.x+columnWidth/2), max(p.depth, at.y+boxHeight)
	}
	return p
}

// Folded reports whether the picture omits end nodes.
func (p *Picture) Folded() bool { return len(p.Fabric.Nodes) > foldAbove }

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
		slices.SortStableFunc(nodes, func(a, b *fabric.Node) int { return cmp.Compare(p.Names.Name(a), p.Names.Name(b)) })
	}
}

// most returns the largest end node count below a switch.
func (p *Picture) most() float64 {
	most := 0
	for _, nodes := range p.below {
		most = max(most, len(nodes))
	}
	return float64(most)
}

// placeLevels places the switches in rows, the leaves at the bottom. Each row is in the
// order that its neighbours have in the row below, so that cables cross less.
func (p *Picture) placeLevels() {
	rows := make([][]*fabric.Node, p.Levels.Count)
	for _, n := range p.Fabric.Nodes {
		if n.IsSwitch() {
			level := p.Levels.Level[n]
			rows[level] = append(rows[level], n)
		}
	}
	if len(rows) == 0 {
		return
	}
	byName := func(a, b *fabric.Node) int { return cmp.Compare(p.Names.Name(a), p.Names.Name(b)) }
	pods := p.pods()
	slices.SortStableFunc(rows[0], func(a, b *fabric.Node) int { return cmp.Or(cmp.Compare(pods[a], pods[b]), byName(a, b)) })
	width := float64(len(rows[0])) * columnWidth
	for _, row := range rows {
		width = max(width, float64(len(row))*columnWidth)
	}
	gap := max(levelHeight, width*0.4/float64(len(rows)))
	for level, row := range rows {
		if level > 0 {
			centre := map[*fabric.Node]float64{}
			for _, n := range row {
				centre[n] = p.centre(n, level)
			}
			slices.SortStableFunc(row, func(a, b *fabric.Node) int { return cmp.Or(cmp.Compare(centre[a], centre[b]), byName(a, b)) })
		}
		step := width / float64(len(row))
		for i, n := range row {
			p.at[n] = point{step * (float64(i) + 0.5), gap*float64(len(rows)-1-level) + boxHeight}
		}
	}
}

// pods numbers the leaf switches by their connected parts below the top level.
func (p *Picture) pods() map[*fabric.Node]int {
	pod := map[*fabric.Node]int{}
	count := 0
	for _, first := range p.Fabric.Nodes {
		if _, known := pod[first]; known || !first.IsSwitch() || p.Levels.Level[first] == p.Levels.Count-1 {
			continue
		}
		count++
		queue := []*fabric.Node{first}
		pod[first] = count
		for i := 0; i < len(queue); i++ {
			for _, port := range linked(queue[i]) {
				n := port.Peer.Node
				if _, known := pod[n]; !known && n.IsSwitch() && p.Levels.Level[n] < p.Levels.Count-1 {
					pod[n] = count
					queue = append(queue, n)
				}
			}
		}
	}
	return pod
}

// centre returns the mean place of a switch's neighbours in lower rows.
func (p *Picture) centre(n *fabric.Node, level int) float64 {
	sum, count := 0.0, 0
	for _, port := range linked(n) {
		if m := port.Peer.Node; m.IsSwitch() && p.Levels.Level[m] < level {
			sum += p.at[m].x
			count++
		}
	}
	if count == 0 {
		return 0
	}
	return sum / float64(count)
}

// placeGrid places the switches of a torus; the planes of a third dimension are side by
// side.
func (p *Picture) placeGrid() {
	columns := 0
	for _, c := range p.Shape.Grid {
		columns = max(columns, c[0]+1)
	}
	height := levelHeight + p.most()*nodeHeight
	for n, c := range p.Shape.Grid {
		plane := 0.0
		if len(c) > 2 {
			plane = float64(c[2]) * (float64(columns) + 1) * columnWidth * 1.2
		}
		p.at[n] = point{plane + (float64(c[0])+0.5)*columnWidth*1.2, boxHeight + float64(c[1])*height}
	}
}

// placeGroups places a dragonfly's groups in rows.
func (p *Picture) placeGroups() {
	groups := p.Shape.Groups
	columns := int(math.Ceil(math.Sqrt(float64(len(groups)))))
	size := float64(len(groups[0]))
	height := levelHeight + p.most()*nodeHeight
	for i, members := range groups {
		x, y := float64(i%columns)*(size+1)*columnWidth, boxHeight+float64(i/columns)*height
		for k, n := range members {
			p.at[n] = point{x + (float64(k)+0.5)*columnWidth, y + float64(k%2)*boxHeight*1.5}
		}
	}
}

// placeEndNodes places the end nodes below their switch, and nodes without a switch in
// a column on the left.
func (p *Picture) placeEndNodes() {
	row := 0.0
	for _, n := range p.Fabric.Nodes {
		if _, placed := p.at[n]; !placed && p.owner[n] == nil {
			p.at[n] = point{columnWidth / 2, row*nodeHeight*2 + boxHeight}
			row++
		}
	}
	for s, nodes := range p.below {
		for i, n := range nodes {
			p.at[n] = point{p.at[s].x, p.at[s].y + boxHeight + nodeHeight*(float64(i)+0.5)}
		}
	}
}

// mark returns a cable's finding, the zero Mark without a finding.
func (p *Picture) mark(c Cable) Mark { return cmp.Or(p.Marks[c.A], p.Marks[c.B]) }

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
