package topology

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// cableKey identifies a cable in later scans.
type cableKey struct {
	a, b         ib.GUID
	portA, portB uint8
}

func keyOf(c Cable) cableKey {
	if c.B.Node.GUID < c.A.Node.GUID || c.B.Node.GUID == c.A.Node.GUID && c.B.Number < c.A.Number {
		c.A, c.B = c.B, c.A
	}
	return cableKey{c.A.Node.GUID, c.B.Node.GUID, c.A.Number, c.B.Number}
}

// Update returns the picture of a later scan with the same places, without marks. Nodes and
// cables that the scan lacks remain. It returns nil if a node or cable in the scan has no place.
func (p *Picture) Update(f *fabric.Fabric) *Picture {
	places := make(map[ib.GUID]*fabric.Node, len(p.nodes))
	for _, n := range p.nodes {
		places[n.GUID] = n
	}
	if len(places) < len(p.nodes) { // GUIDs do not identify nodes
		return nil
	}
	for _, n := range f.Nodes {
		if at := places[n.GUID]; at == nil || at.Desc != n.Desc || firstLID(at) != firstLID(n) {
			return nil
		}
	}
	number := make(map[cableKey]int, len(p.cables))
	for i, c := range p.cables {
		number[keyOf(c)] = i
	}
	q := *p
	q.Fabric, q.Marks, q.Others, q.current = f, nil, nil, make([]Cable, len(p.cables))
	for _, c := range Cables(f) {
		i, known := number[keyOf(c)]
		if !known {
			return nil
		}
		q.current[i] = c
	}
	q.addRates()
	return &q
}

// Lost returns the count of cables that the last scan lacks.
func (p *Picture) Lost() (count int) {
	for _, c := range p.current {
		if c == (Cable{}) {
			count++
		}
	}
	return count
}
