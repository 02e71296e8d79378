package sim

import (
	"math"
	"slices"
)

// A balancer enters routes into forwarding tables. At each switch, a destination gets the
// shortest-path port with the fewest destinations so far. If several ports are equal, the
// destination number selects a port: switches with the same ports mostly make the same
// choice, so that paths from different sources to a destination meet early.
//
// Only packets between end ports count. A switch's choice decides which switches they cross
// next, so it is made before the choices at the switches that follow, which then balance
// the destinations that they see. With independently balanced tables, as from opensm's
// engine minhop, all destinations that leaves send to a spine can have the same port there.
type balancer struct {
	tables [][]uint8
	lids   []*Port
	hosts  []bool      // switches with adapters
	loads  []portLoads // by switch
	spare  []int       // by switch: next link index for a destination that is no load
	routed int         // end ports

	// The routes to a switch.
	steps   []step
	hops    []hop
	crossed []bool // by switch and destination: packets from end ports cross the switch
}

// portLoads counts the end ports that are reached through each port of a switch.
type portLoads [256]uint32

// A step is the shortest-path links of a switch, hops[first:end].
type step struct{ from, first, end int }

func newBalancer(tables [][]uint8, lids []*Port) *balancer {
	return &balancer{tables: tables, lids: lids, hosts: hostsAt(lids, len(tables)), loads: make([]portLoads, len(tables)), spare: make([]int, len(tables))}
}

// routeAll routes to the LIDs behind each switch.
func (b *balancer) routeAll(r router, behind [][]int) {
	for to, lids := range behind {
		if len(lids) > 0 {
			b.routeTo(r, to, lids)
		}
	}
}

// routeTo routes to the LIDs behind a switch, at the most distant switches first.
func (b *balancer) routeTo(r router, to int, lids []int) {
	b.steps, b.hops = b.steps[:0], b.hops[:0]
	r.routeTo(to, func(from int, links []hop) {
		first := len(b.hops)
		b.hops = append(b.hops, links...)
		b.steps = append(b.steps, step{from, first, len(b.hops)})
	})
	b.crossed = b.crossed[:0]
	for _, hosts := range b.hosts {
		for range lids {
			b.crossed = append(b.crossed, hosts)
		}
	}
	for _, s := range slices.Backward(b.steps) {
		b.route(s, lids)
	}
	for _, lid := range lids {
		if !b.lids[lid].Node.IsSwitch() {
			b.routed++
		}
	}
}

// route enters the routes to destinations at a switch.
func (b *balancer) route(s step, lids []int) {
	links, table, loads := b.hops[s.first:s.end], b.tables[s.from], &b.loads[s.from]
	crossed := b.crossed[s.from*len(lids):][:len(lids)]
	number, spare := b.routed%len(links), b.spare[s.from]%len(links)
	least, left := uint32(0), 0 // left links have the least load
	for k, lid := range lids {
		i := number
		switch {
		case b.lids[lid].Node.IsSwitch():
		case crossed[k]:
			if left == 0 {
				least, left = loads.least(links)
			}
			for loads[links[i].port] != least {
				i = next(i, len(links))
			}
			loads[links[i].port]++
			left--
			b.crossed[int(links[i].to)*len(lids)+k] = true
		default:
			i, spare = spare, next(spare, len(links))
		}
		table[lid] = links[i].port
		number = next(number, len(links))
	}
	b.spare[s.from] = spare
}

func next(i, n int) int {
	if i++; i == n {
		return 0
	}
	return i
}

// least returns the least load among the links, and how many links have this load.
func (l *portLoads) least(links []hop) (least uint32, count int) {
	least = math.MaxUint32
	for _, h := range links {
		switch load := l[h.port]; {
		case load < least:
			least, count = load, 1
		case load == least:
			count++
		}
	}
	return least, count
}
