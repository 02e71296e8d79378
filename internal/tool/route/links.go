package route

import (
	"cmp"
	"maps"
	"slices"
)

// A LinkLoad is the load on an output port that leads to a switch.
type LinkLoad struct {
	Port  *Port
	Paths uint64 // from all sources to all destinations
	LIDs  int    // destinations
}

// A PortGroup is a switch's output ports that could share destinations: parallel links to
// the same switch, or all links to a higher level.
type PortGroup struct {
	Switch *Node
	Level  int   // switch level; 0: end ports are linked to it
	To     *Node // the switch at the other ends; nil: the next level's switches
	Ports  []LinkLoad
	Mean   float64 // destinations per port
	Most   int
	Least  int
}

// measureLinks lists the loads on the links between switches and the imbalances.
func (a *Analysis) measureLinks(g *graph, load []uint64, lids []uint32) {
	for c, t := range g.to {
		if t >= 0 {
			a.Links = append(a.Links, LinkLoad{g.port(int32(c)), load[c], int(lids[c])})
		}
	}
	levels := g.levels()
	first := 0
	for s := range g.switches {
		end := first
		for end < len(a.Links) && a.Links[end].Port.Node == g.switches[s] {
			end++
		}
		a.compareLinks(g, int32(s), a.Links[first:end], levels)
		first = end
	}
	a.layered = g.isLayered(levels)
	for i := range a.Groups {
		if a.Groups[i].Uneven() {
			a.Balance = append(a.Balance, a.Groups[i])
		}
	}
	a.sortBalance()
}

// sortBalance sorts the worst groups to the front.
func (a *Analysis) sortBalance() {
	slices.SortStableFunc(a.Balance, func(x, y PortGroup) int {
		return cmp.Compare(float64(y.Most)/y.Mean, float64(x.Most)/x.Mean)
	})
}

// levels returns the link count from each switch to the nearest switch with end ports.
// In a tree that is its level.
func (g *graph) levels() []int {
	levels := slices.Repeat([]int{-1}, len(g.switches))
	var queue []int32
	for s, n := range g.hosts {
		if n > 0 {
			levels[s] = 0
			queue = append(queue, int32(s))
		}
	}
	for i := 0; i < len(queue); i++ {
		s := queue[i]
		for port := range g.radix[s] {
			if t := g.to[g.base[s]+port]; t >= 0 && levels[t] < 0 {
				levels[t] = levels[s] + 1
				queue = append(queue, t)
			}
		}
	}
	return levels
}

// isLayered reports whether all links between switches join neighbouring levels, as in a
// fat tree.
func (g *graph) isLayered(levels []int) bool {
	for s := range g.switches {
		for port := range g.radix[s] {
			if t := g.to[g.base[s]+port]; t >= 0 && max(levels[s], levels[t])-min(levels[s], levels[t]) != 1 {
				return false
			}
		}
	}
	return true
}

// compareLinks compares a switch's links.
func (a *Analysis) compareLinks(g *graph, s int32, links []LinkLoad, levels []int) {
	parallel := map[*Node][]LinkLoad{}
	var up []LinkLoad
	for _, l := range links {
		peer := l.Port.Peer.Node
		parallel[peer] = append(parallel[peer], l)
		if levels[g.to[g.base[s]+int32(l.Port.Number)]] > levels[s] {
			up = append(up, l)
		}
	}
	n := g.switches[s]
	a.addGroup(PortGroup{Switch: n, Level: levels[s], Ports: up})
	if len(parallel) == 1 && len(up) == len(links) {
		return // the same ports
	}
	for _, peer := range slices.SortedFunc(maps.Keys(parallel), func(x, y *Node) int { return cmp.Compare(x.GUID, y.GUID) }) {
		if len(parallel[peer]) > 1 {
			a.addGroup(PortGroup{Switch: n, Level: levels[s], To: peer, Ports: parallel[peer]})
		}
	}
}

// addGroup adds a link group with its sums.
func (a *Analysis) addGroup(b PortGroup) {
	if len(b.Ports) == 0 {
		return
	}
	b.measure()
	a.Groups = append(a.Groups, b)
}

// measure sets the ports' sums.
func (b *PortGroup) measure() {
	b.Least = b.Ports[0].LIDs
	for _, l := range b.Ports {
		b.Most, b.Least = max(b.Most, l.LIDs), min(b.Least, l.LIDs)
	}
	b.Mean = float64(b.destinations()) / float64(len(b.Ports))
}

// An Excess is a table entry or limit that the switch cannot have.
type Excess struct {
	Switch *Node
	Detail string
	Count  int // entries
}
