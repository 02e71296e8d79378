package stats

// Windows counts messages over time, in windows of equal width. When all windows are
// used it merges them in pairs and doubles the width.
type Windows struct {
	begin  int64
	end    int64 // time of the last Add
	width  int64
	counts [maxWindows]uint64
	total  uint64
}

const (
	maxWindows  = 512
	firstWindow = 1e6 // ns
)

// Start resets the counts. Now is in nanoseconds.
func (w *Windows) Start(now int64) {
	*w = Windows{begin: now, end: now, width: firstWindow}
}

// Add counts messages that completed at a time.
func (w *Windows) Add(now int64, n uint64) {
	i := (now - w.begin) / w.width
	for i >= maxWindows {
		w.mergePairs()
		i = (now - w.begin) / w.width
	}
	w.counts[i] += n
	w.total += n
	w.end = now
}

func (w *Windows) mergePairs() {
	for i := range maxWindows / 2 {
		w.counts[i] = w.counts[2*i] + w.counts[2*i+1]
	}
	clear(w.counts[maxWindows/2:])
	w.width *= 2
}

// Total returns the number of messages and the time in nanoseconds from Start to the
// last of them.
func (w *Windows) Total() (messages uint64, ns int64) { return w.total, w.end - w.begin }

// A Rate is the number of messages in a window.
type Rate struct {
	Begin  int64 // ns since the first message
	Length int64 // ns
	Count  uint64
}

// PerSecond returns messages per second.
func (r Rate) PerSecond() float64 { return float64(r.Count) / (float64(r.Length) / 1e9) }

// Rates returns about the wanted number of windows, of equal length. It omits an
// incomplete window at the end.
func (w *Windows) Rates(want int) []Rate {
	if w.width == 0 {
		return nil // never started
	}
	complete := int((w.end - w.begin) / w.width)
	group := max(1, complete/max(1, want))
	var rates []Rate
	for i := 0; i+group <= complete; i += group {
		r := Rate{Begin: int64(i) * w.width, Length: int64(group) * w.width}
		for _, n := range w.counts[i : i+group] {
			r.Count += n
		}
		rates = append(rates, r)
	}
	return rates
}
