package sim

// minHop finds shortest paths by a breadth-first search that starts at the destination.
type minHop struct {
	graph    *graph
	distance []int32 // to the destination; -1: not reached
	queue    []int32
	closer   []hop
}

func newMinHop(g *graph) *minHop { return &minHop{graph: g, distance: make([]int32, len(g.switches))} }

func (m *minHop) routeTo(to int, choose func(from int, links []hop)) {
	for i := range m.distance {
		m.distance[i] = -1
	}
	m.distance[to] = 0
	m.queue = append(m.queue[:0], int32(to))
	for i := 0; i < len(m.queue); i++ {
		n := m.queue[i]
		m.closer = m.closer[:0]
		for _, h := range m.graph.links[n] {
			switch {
			case m.distance[h.to] < 0:
				m.distance[h.to] = m.distance[n] + 1
				m.queue = append(m.queue, h.to)
			case m.distance[h.to] < m.distance[n]:
				m.closer = append(m.closer, h)
			}
		}
		if len(m.closer) > 0 {
			choose(int(n), m.closer)
		}
	}
}
