package sim

// upDown finds paths that lead up first and then down. Forwarding depends on a packet's
// destination only, not on the source. If a downward path exists, a switch therefore uses
// it for all packets, since packets that came from above may use no other; otherwise the
// switch uses an upward path.
type upDown struct {
	*upDownPlan
	cost  []int32 // hops to the destination; -1: no path
	equal []hop   // a switch's shortest paths
}

func newUpDown(p *upDownPlan) *upDown {
	return &upDown{upDownPlan: p, cost: make([]int32, len(p.order))}
}

func (u *upDown) routeTo(to int, choose func(from int, links []hop)) {
	for i := range u.cost {
		u.cost[i] = -1
	}
	u.cost[to] = 0
	// All switches with a path down to the destination are above it. In ascending order,
	// the switches below each switch are known before the switch itself.
	for i := u.position[to] - 1; i >= 0; i-- {
		n := u.order[i]
		if u.best(n, u.downs[n]) {
			choose(int(n), u.equal)
		}
	}
	for _, n := range u.order {
		if u.cost[n] < 0 && u.best(n, u.ups[n]) {
			choose(int(n), u.equal)
		}
	}
}

// best selects the shortest paths over some of a switch's links. It reports false if there
// are none.
func (u *upDown) best(n int32, links []hop) bool {
	u.equal = u.equal[:0]
	var best int32
	for _, h := range links {
		c := u.cost[h.to]
		switch {
		case c < 0 || len(u.equal) > 0 && c > best:
		case len(u.equal) == 0 || c < best:
			best, u.equal = c, append(u.equal[:0], h)
		default:
			u.equal = append(u.equal, h)
		}
	}
	if len(u.equal) == 0 {
		return false
	}
	u.cost[n] = best + 1
	return true
}
