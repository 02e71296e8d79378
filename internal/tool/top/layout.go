package top

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/report"
)

// A Layout is a scan's nodes and links. The samples until the next scan share it. It does
// not change.
type Layout struct {
	Names   *fabric.NameMap
	Fabric  *fabric.Fabric
	Summary linkinfo.Summary
	Nodes   []Node
	Ports   []Port // from all nodes, without management ports
	Links   []Link
	Widest  int // length of the longest link name in characters
	Missing []MissingNode

	byKey  map[portKey]int32 // index in Ports
	byGUID map[ib.GUID]int32 // index in Nodes
}

// A Node is a node in a layout.
type Node struct {
	*fabric.Node
	Name        string
	First, Last int32 // its ports: Ports[First:Last]
}

// A Port is a port with its link up, or with a problem.
type Port struct {
	*fabric.Port
	Node     int32
	Peer     int32   // index in Ports; -1: unknown
	Rate     float64 // link rate in bits per second, without the line code; 0: down
	Speed    string  // "4X HDR"; "": down
	Findings []report.Finding
	Link     int32 // index in Links
}

// A Link is a link, or a port without a known peer.
type Link struct {
	Near, Far int32  // indices in Ports; Far is -1 without a peer
	Name      string // "leaf1[3] - node06[1]"
	lower     string // the name in lower case, for filters
	rank      int32  // place in name order
	Problems  int    // findings that are problems, from both ends
}

type portKey struct {
	guid ib.GUID
	port uint8
}

// newLayout returns a scan's layout.
func newLayout(f *fabric.Fabric, names *fabric.NameMap) *Layout {
	l := &Layout{Names: names, Fabric: f, byKey: map[portKey]int32{}, byGUID: make(map[ib.GUID]int32, len(f.Nodes))}
	ends := linkinfo.Ends(f, f.Nodes)
	l.Summary = linkinfo.Summarize(f.Nodes, ends, linkinfo.Links(ends))
	for _, n := range f.Nodes {
		l.byGUID[n.GUID] = int32(len(l.Nodes))
		l.Nodes = append(l.Nodes, Node{Node: n, Name: names.Name(n)})
	}
	l.addPorts(ends)
	l.addLinks()
	return l
}

// A MissingNode was in an earlier layout, and is not in the current layout.
type MissingNode struct {
	GUID ib.GUID
	Name string
}

// compare adds the nodes that are missing since earlier scans.
func (l *Layout) compare(before *Layout, names *fabric.NameMap) {
	for _, m := range before.Missing {
		if _, back := l.byGUID[m.GUID]; !back {
			l.Missing = append(l.Missing, m)
		}
	}
	for _, lack := range l.Fabric.Lacks(before.Fabric) {
		l.Missing = append(l.Missing, MissingNode{lack.Node.GUID, names.Name(lack.Node)})
	}
}

// addPorts adds the ports of ends, which are in node order.
func (l *Layout) addPorts(ends []linkinfo.End) {
	node := int32(-1)
	for i := range ends {
		e := &ends[i]
		for node < 0 || l.Nodes[node].Node != e.Port.Node {
			node++
			l.Nodes[node].First, l.Nodes[node].Last = int32(len(l.Ports)), int32(len(l.Ports))
		}
		if (e.Port.Info == nil || e.Down()) && !e.HasProblem() {
			continue
		}
		p := Port{Port: e.Port, Node: node, Peer: -1, Link: -1, Rate: counters.DataRate(e.Port), Findings: e.Findings}
		if e.Width != 0 && e.Speed != 0 {
			p.Speed = e.Width.String() + " " + e.Speed.String()
		}
		l.byKey[portKey{e.Port.Node.GUID, e.Port.Number}] = int32(len(l.Ports))
		l.Ports = append(l.Ports, p)
		l.Nodes[node].Last++
	}
}

// addLinks pairs the ports. The near end is the switch, if only a single end is a switch.
func (l *Layout) addLinks() {
	for i := range l.Ports {
		p := &l.Ports[i]
		if q := p.Port.Peer; q != nil {
			if peer, ok := l.byKey[portKey{q.Node.GUID, q.Number}]; ok {
				p.Peer = peer
			}
		}
	}
	l.Links = make([]Link, 0, len(l.Ports)/2)
	for i := range l.Ports {
		p := &l.Ports[i]
		if p.Link >= 0 {
			continue
		}
		link := Link{Near: int32(i), Far: -1}
		p.Link = int32(len(l.Links))
		if q := p.Peer; q >= 0 && q != int32(i) && l.Ports[q].Peer == int32(i) {
			link.Far = q
			l.Ports[q].Link = p.Link
			if !l.Ports[link.Near].Port.Node.IsSwitch() && l.Ports[link.Far].Port.Node.IsSwitch() {
				link.Near, link.Far = link.Far, link.Near
			}
		}
		link.Name = l.PortName(link.Near) + " - " + l.peerName(link)
		link.lower = strings.ToLower(link.Name)
		link.Problems = problems(l.Ports[link.Near].Findings)
		if link.Far >= 0 {
			link.Problems += problems(l.Ports[link.Far].Findings)
		}
		l.Widest = max(l.Widest, utf8.RuneCountInString(link.Name))
		l.Links = append(l.Links, link)
	}
	l.rank()
}

// rank sorts the link names.
func (l *Layout) rank() {
	order := make([]int32, len(l.Links))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(l.Links[a].lower, l.Links[b].lower) })
	for place, i := range order {
		l.Links[i].rank = int32(place)
	}
}

func problems(findings []report.Finding) (n int) {
	for _, f := range findings {
		if f.Severity.IsProblem() {
			n++
		}
	}
	return n
}

// PortName returns a port's name, for example "leaf1[3]".
func (l *Layout) PortName(port int32) string {
	p := &l.Ports[port]
	return l.Nodes[p.Node].Name + "[" + strconv.Itoa(int(p.Number)) + "]"
}

// peerName returns the name of a link's far end.
func (l *Layout) peerName(link Link) string {
	if link.Far < 0 {
		return "?"
	}
	return l.PortName(link.Far)
}

// Port returns a port's index, -1 if the layout does not have it.
func (l *Layout) Port(guid ib.GUID, number uint8) int32 {
	if i, ok := l.byKey[portKey{guid, number}]; ok {
		return i
	}
	return -1
}

// Node returns a node's index, -1 if the layout does not have it.
func (l *Layout) Node(guid ib.GUID) int32 {
	if i, ok := l.byGUID[guid]; ok {
		return i
	}
	return -1
}

// size returns the memory for the layout and its fabric in bytes: about 1 kB per port,
// measured with 62,400 ports.
func (l *Layout) size() int { return len(l.Ports) << 10 }
