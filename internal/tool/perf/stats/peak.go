package stats

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

// PerSecond returns messages per second, 0 without a completion. Its duration grows with
// the product of both numbers of records.
func (p *Peak) PerSecond() float64 {
	var best float64 // messages per nanosecond
	first := 0       // completion after the post
	for _, post := range p.posts {
		for first < len(p.completions) && p.completions[first].count <= post.count {
			first++
		}
		for _, c := range p.completions[first:] {
			if ns := c.ns - post.ns; ns > 0 {
				best = max(best, float64(c.count-post.count)/float64(ns))
			}
		}
	}
	return best * 1e9
}
