package topology

import (
	"cmp"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// A Cable is a link between two ports, or within a chassis. B is nil for a port
// without a link.
type Cable struct{ A, B *fabric.Port }

// Cables returns a fabric's links, each once, in node and port order.
func Cables(f *fabric.Fabric) []Cable {
	var cables []Cable
	place := make(map[*fabric.Node]int, len(f.Nodes))
	for i, n := range f.Nodes {
		place[n] = i
	}
	for i, n := range f.Nodes {
		for _, p := range n.Ports {
			if p == nil || p.Peer == nil || p.Peer.Peer != p {
				continue
			}
			if k := place[p.Peer.Node]; k > i || k == i && p.Peer.Number >= p.Number {
				cables = append(cables, Cable{p, p.Peer})
			}
		}
	}
	return cables
}

// Rate returns a cable's active width and speed, each as the first end reports it that
// knows it; 0 if it is unknown.
func (c Cable) Rate() (width ib.LinkWidth, speed ib.Speed) {
	for _, p := range []*fabric.Port{c.A, c.B} {
		if p != nil && p.Info != nil && p.Info.State != ib.PortDown && p.Info.LinkWidthActive.Lanes() > 0 {
			width, speed = cmp.Or(width, p.Info.LinkWidthActive), cmp.Or(speed, p.ActiveSpeed())
		}
	}
	return width, speed
}

// Gbps returns the cable's signalling rate in 10^9 bits per second, 0 if it is unknown.
func (c Cable) Gbps() float64 {
	w, s := c.Rate()
	if w == 0 || s == 0 {
		return 0
	}
	return ib.LinkGbps(w, s)
}
