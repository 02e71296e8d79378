package route

import "sync/atomic"

// dependencies are the dependencies between a fabric's output ports: a packet that
// waits in the buffer behind a port needs room behind another. Each output port that
// leads to a switch has a bitmap for that switch's output ports. It is safe for
// concurrent use.
type dependencies struct {
	graph *graph
	first []int32 // by output port: its first word
	words []uint64
}

func newDependencies(g *graph) *dependencies {
	d := &dependencies{graph: g, first: make([]int32, g.channels)}
	count := int32(0)
	for c, t := range g.to {
		d.first[c] = count
		if t >= 0 {
			count += (g.radix[t] + 63) / 64
		}
	}
	d.words = make([]uint64, count)
	return d
}

// add adds an output port's dependency on a port of the next switch. That switch's port
// 0 has number base.
func (d *dependencies) add(channel, base int32, port uint8) {
	word := &d.words[d.first[channel]+int32(port)/64]
	bit := uint64(1) << (port % 64)
	if atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
}

// each calls visit with the output ports that an output port depends on.
func (d *dependencies) each(channel int32, visit func(int32)) {
	t := d.graph.to[channel]
	if t < 0 {
		return
	}
	for port := range d.graph.radix[t] {
		if d.words[d.first[channel]+port/64]>>(port%64)&1 != 0 {
			visit(d.graph.base[t] + port)
		}
	}
}
