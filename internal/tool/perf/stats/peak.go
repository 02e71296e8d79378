package stats

import (
	"slices"
	"sort"
)

// A Peak finds the highest rate between a post and a later completion, as perftest defines
// the peak bandwidth (src/perftest_parameters.c, print_report_bw): of the messages from
// each post to each completion, the most per time.
type Peak struct {
	posts, completions []mark
}

// A mark is the message count at a time in nanoseconds.
type mark struct {
	ns    int64
	count uint64
}

// NewPeak returns a Peak with room for posts and completions of messages. It does not
// allocate later, and ignores what exceeds the room.
func NewPeak(messages int) *Peak {
	return &Peak{posts: make([]mark, 0, messages), completions: make([]mark, 0, messages)}
}

// Posted records the time of a post after count messages.
func (p *Peak) Posted(ns int64, count uint64) { p.posts = add(p.posts, mark{ns, count}) }

// Completed records the time at which count messages are complete.
func (p *Peak) Completed(ns int64, count uint64) {
	p.completions = add(p.completions, mark{ns, count})
}

func add(marks []mark, m mark) []mark {
	if len(marks) == cap(marks) {
		return marks
	}
	return append(marks, m)
}

// PerSecond returns messages per second, 0 without a completion. From a post, the best of
// the later completions is the tangent to the lower convex hull of their times over their
// counts; the hull grows towards earlier completions, as in a monotone chain.
func (p *Peak) PerSecond() float64 {
	var best float64 // messages per nanosecond
	var hull []mark  // the last is the earliest
	next := len(p.completions) - 1
	for _, post := range slices.Backward(p.posts) {
		for ; next >= 0 && p.completions[next].count > post.count; next-- {
			hull = extend(hull, p.completions[next])
		}
		// Later points are better until the tangent.
		at := sort.Search(len(hull), func(i int) bool { return i > 0 && perMessage(hull[i], hull[i-1]) < perMessage(post, hull[i]) })
		if at == 0 {
			continue
		}
		if c := hull[at-1]; c.ns > post.ns {
			best = max(best, 1/perMessage(post, c))
		}
	}
	return best * 1e9
}

// extend adds an earlier completion to a hull.
func extend(hull []mark, c mark) []mark {
	for n := len(hull); n > 1 && perMessage(c, hull[n-1]) >= perMessage(hull[n-1], hull[n-2]); n-- {
		hull = hull[:n-1]
	}
	return append(hull, c)
}

// perMessage returns the time of each message between two marks.
func perMessage(from, to mark) float64 { return float64(to.ns-from.ns) / float64(to.count-from.count) }
