package umad

import "time"

const (
	firstWindow = 4

	// minLateAfter is the shortest time after which a request without a reply
	// counts as late: far more than any fabric needs, far less than a timeout.
	minLateAfter = 10 * time.Millisecond
)

// window limits how many requests are in flight, as TCP's congestion window
// does for packets (RFC 5681): it doubles with each round trip until the first
// sign of loss, and grows by one a round trip from then on.
type window struct {
	size, limit int
	linear      bool // past the first sign of congestion
	credit      int  // replies since the window last grew, when linear
	halvedAt    int  // packets sent when the window was last halved
	rtt         rtt
}

// grow takes in that a reply came while the window was in the way.
func (w *window) grow() {
	switch {
	case w.size >= w.limit:
	case !w.linear:
		w.size++
	default:
		if w.credit++; w.credit >= w.size {
			w.size++
			w.credit = 0
		}
	}
}

// shrink takes in that the request which was packet number is lost or late, of
// sent ones so far. Requests that were under way when the window was last
// halved tell of the congestion that it was halved for, and count no more.
func (w *window) shrink(number, sent int) {
	if w.linear && number <= w.halvedAt {
		return
	}
	w.size = max(w.size/2, 1)
	w.linear, w.credit, w.halvedAt = true, 0, sent
}

// rtt estimates the round-trip time and how much it varies (RFC 6298).
type rtt struct {
	smoothed, variation time.Duration
}

func (e *rtt) add(sample time.Duration) {
	if e.smoothed == 0 {
		e.smoothed, e.variation = sample, sample/2
		return
	}
	e.variation += ((e.smoothed - sample).Abs() - e.variation) / 4
	e.smoothed += (sample - e.smoothed) / 8
}

// lateAfter returns the time after which a request without a reply counts as late.
func (e *rtt) lateAfter() time.Duration {
	return max(minLateAfter, 4*e.smoothed+4*e.variation)
}
