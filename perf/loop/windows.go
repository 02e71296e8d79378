package loop

// Windows count messages over time, in windows of one width. There is room for a
// fixed number; when it is used up, two and two become one of twice the width.
type Windows struct {
	begin  int64
	end    int64 // of what was added last
	width  int64
	counts [maxWindows]uint64
	total  uint64
}

const (
	maxWindows  = 512
	firstWindow = 1e6 // ns
)

// start begins at a time.
func (w *Windows) start(now int64) {
	*w = Windows{begin: now, end: now, width: firstWindow}
}

// add counts messages that completed at a time.
func (w *Windows) add(now int64, n uint64) {
	i := (now - w.begin) / w.width
	for i >= maxWindows {
		w.halve()
		i = (now - w.begin) / w.width
	}
	w.counts[i] += n
	w.total += n
	w.end = now
}

// halve makes windows twice as wide.
func (w *Windows) halve() {
	for i := range maxWindows / 2 {
		w.counts[i] = w.counts[2*i] + w.counts[2*i+1]
	}
	clear(w.counts[maxWindows/2:])
	w.width *= 2
}

// Total returns how many messages there were, and in how many nanoseconds.
func (w *Windows) Total() (messages uint64, ns int64) { return w.total, w.end - w.begin }

// A Rate is how many messages there were in a window.
type Rate struct {
	Begin  int64 // ns from the first message on
	Length int64 // ns
	Count  uint64
}

// PerSecond returns messages per second.
func (r Rate) PerSecond() float64 { return float64(r.Count) / (float64(r.Length) / 1e9) }

// Rates returns about as many windows as wanted, of one length. What is left over
// at the end, as it does not fill one, is left out.
func (w *Windows) Rates(want int) []Rate {
	if w.width == 0 {
		return nil // it never began
	}
	whole := int((w.end - w.begin) / w.width) // windows that are over
	group := max(1, whole/max(1, want))
	var rates []Rate
	for i := 0; i+group <= whole; i += group {
		r := Rate{Begin: int64(i) * w.width, Length: int64(group) * w.width}
		for _, n := range w.counts[i : i+group] {
			r.Count += n
		}
		rates = append(rates, r)
	}
	return rates
}
