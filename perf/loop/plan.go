package loop

import "time"

// A Plan is how long a loop that leads goes on. What comes before and after does
// not count.
type Plan struct {
	Count  uint64 // messages of each lane, or round trips; 0: by time
	Warmup uint64 // messages before those

	// By time.
	Before, During, After time.Duration
}

// progress is how far a plan is.
type progress struct {
	plan  Plan
	begin int64 // of the loop
}

// measures tells whether what begins at a time, after so many messages, counts.
func (p *progress) measures(now int64, sent uint64) bool {
	if p.plan.Count > 0 {
		return sent >= p.plan.Warmup
	}
	t := time.Duration(now - p.begin)
	return t >= p.plan.Before && t < p.plan.Before+p.plan.During
}

// over tells whether no more is to be sent.
func (p *progress) over(now int64, sent uint64) bool {
	if p.plan.Count > 0 {
		return sent >= p.plan.Warmup+p.plan.Count
	}
	return time.Duration(now-p.begin) >= p.plan.Before+p.plan.During+p.plan.After
}
