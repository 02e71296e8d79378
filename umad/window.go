package umad

import "time"

const (
	firstWindow = 4

	// minLateAfter is the shortest time after which a request without a reply
	// counts as late: far more than any fabric needs, far less than a timeout.
	minLateAfter = 10 * time.Millisecond
)

// window limits the number of requests in flight like TCP's congestion window
// (RFC 5681): it doubles with each round trip until the first loss, and then
// grows by 1 per round trip.
type window struct {
	size, limit int
	linear      bool // after the first loss
	credit      int  // replies since the window last grew, if linear
	halvedAt    int  // packets sent when the window was last halved
	rtt         rtt
}

// grow counts a reply that was received while the window limited the requests.
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

// shrink counts a lost or late request. number is its packet's number, and sent the
// packet count so far. Requests that were in flight when the window was last halved
// belong to the same congestion, and have no effect.
func (w *window) shrink(number, sent int) {
	if w.linear && number <= w.halvedAt {
		return
	}
	w.size = max(w.size/2, 1)
	w.linear, w.credit, w.halvedAt = true, 0, sent
}

// rtt estimates the round-trip time and its variation (RFC 6298).
type rtt struct {
	smoothed, variation time.Duration
	samples             int
}

func (e *rtt) add(sample time.Duration) {
	e.samples++
	if e.smoothed == 0 {
		e.smoothed, e.variation = sample, sample/2
		return
	}
	e.variation += ((e.smoothed - sample).Abs() - e.variation) / 4
	e.smoothed += (sample - e.smoothed) / 8
}

// isKnown reports whether enough replies were measured to send requests again early.
func (e *rtt) isKnown() bool { return e.samples >= enoughSamples }

const enoughSamples = 16

// retryAfter returns the time after which an attempt ends early. It is longer for each
// further attempt, because the packets may be lost to congestion.
func (e *rtt) retryAfter(attempt uint8) time.Duration {
	after := 4 * e.lateAfter()
	for range min(attempt, 8) - 1 {
		after *= 3
	}
	return after
}

// lateAfter returns the time after which a request without a reply counts as late.
func (e *rtt) lateAfter() time.Duration {
	return max(minLateAfter, 4*e.smoothed+4*e.variation)
}
