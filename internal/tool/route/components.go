package route

import "slices"

// An edges function calls visit with a vertex's successors.
type edges func(v int32, visit func(int32))

// components returns the strongly connected components of a graph that contain a cycle,
// by Tarjan's algorithm without recursion: a path in a fabric with loops may be longer
// than a stack allows. A component's vertices are in ascending order.
func components(vertices int32, next edges) [][]int32 {
	type frame struct {
		v        int32
		from, at int32 // successors that are still to be visited, in pending
	}
	var (
		found   [][]int32
		frames  []frame
		pending []int32 // successors for the vertices in frames
		stack   []int32 // vertices without a component
		number  = make([]int32, vertices)
		low     = make([]int32, vertices)
		onStack = make([]bool, vertices)
		count   int32
	)
	enter := func(v int32) {
		count++
		number[v], low[v], onStack[v] = count, count, true
		stack = append(stack, v)
		from := int32(len(pending))
		next(v, func(w int32) { pending = append(pending, w) })
		frames = append(frames, frame{v, from, int32(len(pending))})
	}
	for root := range vertices {
		if number[root] != 0 {
			continue
		}
		enter(root)
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			if f.at > f.from {
				f.at--
				w := pending[f.at]
				pending = pending[:f.at]
				if number[w] == 0 {
					enter(w)
				} else if onStack[w] {
					low[f.v] = min(low[f.v], number[w])
				}
				continue
			}
			v := f.v
			frames = frames[:len(frames)-1]
			if n := len(frames); n > 0 {
				low[frames[n-1].v] = min(low[frames[n-1].v], low[v])
			}
			if low[v] != number[v] {
				continue
			}
			begin := len(stack) - 1
			for stack[begin] != v {
				begin--
			}
			for _, w := range stack[begin:] {
				onStack[w] = false
			}
			if len(stack)-begin > 1 || follows(v, v, next) {
				component := slices.Clone(stack[begin:])
				slices.Sort(component)
				found = append(found, component)
			}
			stack = stack[:begin]
		}
	}
	slices.SortFunc(found, func(a, b []int32) int { return int(a[0] - b[0]) })
	return found
}

// follows reports whether b is a's successor.
func follows(a, b int32, next edges) bool {
	found := false
	next(a, func(w int32) { found = found || w == b })
	return found
}

// maxCycleSearches limits how many vertices a component's shortest cycle is searched
// from.
const maxCycleSearches = 256

// shortCycle returns a shortest cycle through one of a component's first vertices.
func shortCycle(component []int32, next edges) []int32 {
	inside := make(map[int32]bool, len(component))
	for _, v := range component {
		inside[v] = true
	}
	var best []int32
	for _, start := range component[:min(len(component), maxCycleSearches)] {
		if c := cycleThrough(start, inside, next, len(best)); c != nil {
			best = c
		}
	}
	return best
}

// cycleThrough returns a shortest cycle through a vertex by a breadth-first search, nil
// if it is not shorter than limit; 0: no limit.
func cycleThrough(start int32, inside map[int32]bool, next edges, limit int) []int32 {
	before := map[int32]int32{start: -1}
	queue := []int32{start}
	depth := map[int32]int{start: 1}
	for i := 0; i < len(queue); i++ {
		v := queue[i]
		if limit > 0 && depth[v] >= limit {
			return nil
		}
		closed := false
		next(v, func(w int32) {
			if w == start {
				closed = true
			}
			if _, known := before[w]; !known && inside[w] {
				before[w], depth[w] = v, depth[v]+1
				queue = append(queue, w)
			}
		})
		if closed {
			var cycle []int32
			for ; v >= 0; v = before[v] {
				cycle = append(cycle, v)
			}
			slices.Reverse(cycle)
			return cycle
		}
	}
	return nil
}
