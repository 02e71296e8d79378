package sim

import (
	"math/rand/v2"
	"time"
)

// A Model says how long things take in a fabric and what gets lost in it. All
// chance comes from Seed, so a run with the same requests repeats exactly. What
// is said of packets holds for requests and for replies.
type Model struct {
	Hop     time.Duration // time to cross a link
	Service time.Duration // time that an agent takes for one packet
	Queue   int           // packets that wait for an agent at most; what comes above is dropped, as VL15 has no flow control. 0: no bound

	Loss      float64       // part of the packets that is lost, 0 to 1
	Duplicate float64       // part of the packets that comes twice
	Delay     time.Duration // is added to the way of every packet
	Jitter    time.Duration // up to so much is added as well
	Reorder   float64       // part of the packets that others overtake:
	Late      time.Duration // they come so much later

	// Timeout is how long a client of a served fabric waits for a request that
	// got lost, which comes back to it then, as its host's kernel would say
	// so. 0: no time, as in ibsim. It is of no concern in the same process.
	Timeout time.Duration

	// Load is which part of what they could carry links do carry on average, 0
	// to 1; performance counters show it. Each direction of a link has a part
	// of its own, which follows from Seed and the port that sends. Uptime is
	// for how long that has gone on when somebody looks for the first time.
	Load   float64
	Uptime time.Duration

	Seed uint64
}

// isTimed reports whether packets take time at all.
func (m *Model) isTimed() bool {
	return m.Hop > 0 || m.Service > 0 || m.Delay > 0 || m.Jitter > 0 || m.Reorder > 0 && m.Late > 0
}

// isExact reports whether every packet arrives, once and at once.
func (m *Model) isExact() bool { return !m.isTimed() && m.Loss == 0 && m.Duplicate == 0 }

// busy is the time until which a node's processor has work.
type busy struct{ until time.Time }

// serve returns when a packet that arrives at an agent has been answered, and
// false where its queue has no room.
func (m *Model) serve(n *Node, arrival time.Time) (time.Time, bool) {
	start := arrival
	if n.busy.until.After(start) {
		start = n.busy.until
		if m.Queue > 0 && m.Service > 0 && start.Sub(arrival) > time.Duration(m.Queue)*m.Service {
			return time.Time{}, false
		}
	}
	n.busy.until = start.Add(m.Service)
	return n.busy.until, true
}

// arrivals are when one packet comes to where it goes: never, once or twice.
type arrivals struct {
	at    [2]time.Time
	count int
}

func (a *arrivals) times() []time.Time { return a.at[:a.count] }

// travel returns when a packet arrives that begins to cross links at a time.
func (m *Model) travel(chance *rand.Rand, hops int, start time.Time) (a arrivals) {
	switch {
	case m.Loss > 0 && chance.Float64() < m.Loss:
		return a
	case m.Duplicate > 0 && chance.Float64() < m.Duplicate:
		a.count = 2
	default:
		a.count = 1
	}
	for i := range a.count {
		way := time.Duration(hops)*m.Hop + m.Delay
		if m.Jitter > 0 {
			way += time.Duration(chance.Int64N(int64(m.Jitter)))
		}
		if m.Reorder > 0 && chance.Float64() < m.Reorder {
			way += m.Late
		}
		a.at[i] = start.Add(way)
	}
	return a
}
