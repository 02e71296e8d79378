package loop

import "time"

// A Plan is the extent of the measurement of a leading side. Messages before and
// after it are sent but not counted.
type Plan struct {
	Count  uint64 // messages of each flow, or round trips; 0: by time
	Warmup uint64 // messages before the count

	// By time.
	Before, During, After time.Duration
}

// progress is the state of a plan.
type progress struct {
	plan  Plan
	begin int64 // of the loop
}

// measures reports whether a message counts that starts at a time, after this number
// of messages.
func (p *progress) measures(now int64, sent uint64) bool {
	if p.plan.Count > 0 {
		return sent >= p.plan.Warmup
	}
	t := time.Duration(now - p.begin)
	return t >= p.plan.Before && t < p.plan.Before+p.plan.During
}

// over reports whether the plan is complete.
func (p *progress) over(now int64, sent uint64) bool {
	if p.plan.Count > 0 {
		return sent >= p.plan.Warmup+p.plan.Count
	}
	return time.Duration(now-p.begin) >= p.plan.Before+p.plan.During+p.plan.After
}
