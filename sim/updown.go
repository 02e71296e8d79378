package sim

// upDown finds ways that go up first and down then. A forwarding table knows
// the destination of a packet and not where it came from, so each switch has to
// do one of two things for all packets to a destination: where there is a way
// that only leads down, it is taken, for a packet that came from above may take
// no other; elsewhere the way leads up.
type upDown struct {
	*upDownPlan
	cost  []int32 // hops to the destination; -1: no way known
	ports []uint8
}

func newUpDown(p *upDownPlan) *upDown {
	return &upDown{upDownPlan: p, cost: make([]int32, len(p.order))}
}

func (u *upDown) routeTo(to int, choose func(from int, ports []uint8)) {
	for i := range u.cost {
		u.cost[i] = -1
	}
	u.cost[to] = 0
	// What leads down to the destination is above it; from there upwards, all
	// that is below a switch is known when its turn comes.
	for i := u.position[to] - 1; i >= 0; i-- {
		n := u.order[i]
		if u.best(n, u.downs[n]) {
			choose(int(n), u.ports)
		}
	}
	for _, n := range u.order {
		if u.cost[n] < 0 && u.best(n, u.ups[n]) {
			choose(int(n), u.ports)
		}
	}
}

// best takes the shortest ways by some links of a switch. It reports false where
// there are none.
func (u *upDown) best(n int32, links []hop) bool {
	u.ports = u.ports[:0]
	var best int32
	for _, h := range links {
		c := u.cost[h.to]
		switch {
		case c < 0 || len(u.ports) > 0 && c > best:
		case len(u.ports) == 0 || c < best:
			best, u.ports = c, append(u.ports[:0], h.port)
		default:
			u.ports = append(u.ports, h.port)
		}
	}
	if len(u.ports) == 0 {
		return false
	}
	u.cost[n] = best + 1
	return true
}
