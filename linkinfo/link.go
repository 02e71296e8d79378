package linkinfo

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/report"
)

// A Link is a link or a port without one, as far as a report contains it.
type Link struct {
	Near *End
	Far  *End // nil: the report does not contain the peer
}

// Links pairs the ends of links. A link has the place of the first of its ends,
// which is its near end.
func Links(ends []End) []Link {
	index := newEndIndex(ends)
	links := make([]Link, 0, len(ends))
	for i := range ends {
		near := &ends[i]
		far := index.peer(near.Port)
		switch {
		case far < 0:
			links = append(links, Link{Near: near})
		case far > i:
			links = append(links, Link{near, &ends[far]})
		}
	}
	return links
}

// String returns the ports, the near end first: "leaf1[1] - spine1[1]", or "leaf1[7]" for a port
// without a link.
func (l Link) String() string {
	p := l.Near.Port
	if p.Peer == nil {
		return p.String()
	}
	return p.String() + " - " + p.Peer.String()
}

// HasProblem reports whether any finding at either end is a problem.
func (l Link) HasProblem() bool {
	return l.Near.HasProblem() || l.Far != nil && l.Far.HasProblem()
}

// Located returns the findings of both ends with the ports as their places. Of two findings of
// the same kind it has the near end's.
func (l Link) Located(names *fabric.NameMap) []report.Finding {
	located := l.Near.Located(names)
	if far := l.FarFindings(); len(far) > 0 {
		end := End{Port: l.Far.Port, Findings: far}
		located = append(located, end.Located(names)...)
	}
	return located
}

// FarFindings returns the findings of the far end whose kind the near end lacks:
// both ends of a narrow link report the same.
func (l Link) FarFindings() []report.Finding {
	if l.Far == nil {
		return nil
	}
	var far []report.Finding
	for _, f := range l.Far.Findings {
		if !l.Near.Has(f.Kind) {
			far = append(far, f)
		}
	}
	return far
}

// An endIndex finds the ends of ports. It holds an entry per port in one slice,
// which takes a tenth of the memory of a map of ports.
type endIndex struct {
	ends  []End
	first map[*fabric.Node]int // index in at of port 0
	at    []int32              // index in ends plus 1; 0: the port is not in ends
}

func newEndIndex(ends []End) *endIndex {
	x := &endIndex{ends: ends, first: map[*fabric.Node]int{}}
	for i := range ends {
		p := ends[i].Port
		first, ok := x.first[p.Node]
		if !ok {
			first = len(x.at)
			x.first[p.Node] = first
			x.at = append(x.at, make([]int32, len(p.Node.Ports))...)
		}
		x.at[first+int(p.Number)] = int32(i + 1)
	}
	return x
}

// peer returns the index of the other end of a port's link, -1 if the report does
// not contain it or it has another peer.
func (x *endIndex) peer(p *fabric.Port) int {
	if p.Peer == nil || p.Peer == p || p.Peer.Peer != p {
		return -1
	}
	first, ok := x.first[p.Peer.Node]
	if !ok {
		return -1
	}
	return int(x.at[first+int(p.Peer.Number)]) - 1
}
