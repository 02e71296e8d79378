package route

import "sync/atomic"

// vlCount is the virtual lane count. Lane 15 stands for packets that are dropped.
const (
	vlCount   = 16
	vlDropped = 15
)

// laneDependencies are the dependencies between the output ports' virtual lanes. Only
// the ports in a cycle of [dependencies] are vertices: vertex v is lane v%vlCount of
// channels[v/vlCount]. It is safe for concurrent use.
type laneDependencies struct {
	graph    *graph
	channels []int32
	index    []int32 // by output port: its place in channels; -1: not a vertex
	next     []int32 // by place: the places of the next switch's ports that are vertices
	first    []int32 // by place: its first successor in next
	words    []uint32
	offset   []int32 // by place: the first word; a word per own lane and successor
}

func newLaneDependencies(g *graph, cycles [][]int32) *laneDependencies {
	d := &laneDependencies{graph: g, index: make([]int32, g.channels)}
	for i := range d.index {
		d.index[i] = -1
	}
	for _, component := range cycles {
		for _, c := range component {
			d.index[c] = int32(len(d.channels))
			d.channels = append(d.channels, c)
		}
	}
	return d.allocate()
}

// allocate makes the bitmaps: a bit for each lane pair of a port and its successor.
func (d *laneDependencies) allocate() *laneDependencies {
	words := int32(0)
	for _, c := range d.channels {
		d.first, d.offset = append(d.first, int32(len(d.next))), append(d.offset, words)
		t := d.graph.to[c]
		for port := range d.graph.radix[t] {
			if i := d.index[d.graph.base[t]+port]; i >= 0 {
				d.next = append(d.next, i)
				words += vlCount
			}
		}
	}
	d.first = append(d.first, int32(len(d.next)))
	d.words = make([]uint32, words)
	return d
}

func (d *laneDependencies) vertices() int32 { return int32(len(d.channels)) * vlCount }

// add adds the dependencies of an output port's lanes on another port's lanes.
func (d *laneDependencies) add(channel, next int32, from uint8, to uint16) {
	i, k := d.index[channel], d.index[next]
	if i < 0 || k < 0 {
		return
	}
	for n, successor := range d.next[d.first[i]:d.first[i+1]] {
		if successor == k {
			word := &d.words[d.offset[i]+int32(n)*vlCount+int32(from)]
			if atomic.LoadUint32(word)&uint32(to) != uint32(to) {
				atomic.OrUint32(word, uint32(to))
			}
			return
		}
	}
}

// each calls visit with the vertices that a vertex depends on.
func (d *laneDependencies) each(v int32, visit func(int32)) {
	i, vl := v/vlCount, v%vlCount
	for n, k := range d.next[d.first[i]:d.first[i+1]] {
		word := d.words[d.offset[i]+int32(n)*vlCount+vl]
		for w := range int32(vlCount) {
			if word>>w&1 != 0 {
				visit(k*vlCount + w)
			}
		}
	}
}
