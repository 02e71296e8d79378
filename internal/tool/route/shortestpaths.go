package route

import "slices"

// A ShortestPaths finds the links that all shortest paths between switches share. It is not safe for
// concurrent use.
type ShortestPaths struct {
	channels *Channels
	before   [][]int32       // switches with a link to each switch
	distance map[int][]int32 // links to a switch, by that switch
	found    map[[2]int]Common
}

// A Common is the links and switches on all shortest paths between two switches.
type Common struct {
	Links    int     // path length; -1: no links connect the switches
	Channels []int32 // that each path crosses
	Switches []int32 // that each path crosses, with both ends
}

// NewShortestPaths returns a finder without results.
func NewShortestPaths(c *Channels) *ShortestPaths {
	return &ShortestPaths{channels: c, before: c.graph.before(), distance: map[int][]int32{}, found: map[[2]int]Common{}}
}

// Common returns the links and switches on all shortest paths from one switch to another.
func (s *ShortestPaths) Common(from, to int) Common {
	key := [2]int{from, to}
	found, ok := s.found[key]
	if !ok {
		found = s.search(int32(from), to)
		s.found[key] = found
	}
	return found
}

// search walks all shortest paths at the same time: a step that crosses a single channel,
// or arrives at a single switch, is common to all.
func (s *ShortestPaths) search(from int32, to int) Common {
	left := s.measure(to)
	common := Common{Links: int(left[from]), Switches: []int32{from}}
	if left[from] < 0 {
		return Common{Links: -1}
	}
	g := s.channels.graph
	front := []int32{from}
	for range left[from] {
		var next, crossed []int32
		for _, at := range front {
			for port := range g.radix[at] {
				channel := g.base[at] + port
				ahead := g.to[channel]
				if ahead < 0 || left[ahead] != left[at]-1 {
					continue
				}
				crossed = append(crossed, channel)
				if !slices.Contains(next, ahead) {
					next = append(next, ahead)
				}
			}
		}
		if len(crossed) == 1 {
			common.Channels = append(common.Channels, crossed[0])
		}
		if len(next) == 1 {
			common.Switches = append(common.Switches, next[0])
		}
		front = next
	}
	return common
}

// measure counts the links from each switch to one of them.
func (s *ShortestPaths) measure(to int) []int32 {
	if left := s.distance[to]; left != nil {
		return left
	}
	left := slices.Repeat([]int32{-1}, len(s.before))
	left[to] = 0
	for queue := []int32{int32(to)}; len(queue) > 0; queue = queue[1:] {
		for _, b := range s.before[queue[0]] {
			if left[b] < 0 {
				left[b] = left[queue[0]] + 1
				queue = append(queue, b)
			}
		}
	}
	s.distance[to] = left
	return left
}

// before returns the switches with a link to each switch.
func (g *graph) before() [][]int32 {
	before := make([][]int32, len(g.switches))
	for s := range g.switches {
		for port := range g.radix[s] {
			if ahead := g.to[g.base[s]+port]; ahead >= 0 {
				before[ahead] = append(before[ahead], int32(s))
			}
		}
	}
	return before
}
