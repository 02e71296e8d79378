package sim

import (
	"math/rand/v2"
	"time"
)

// A Model sets the delays and losses of a fabric. They apply to requests and to replies.
// All randomness comes from Seed: a run with the same requests repeats exactly.
type Model struct {
	Hop     time.Duration // time per link
	Service time.Duration // agent time per packet
	Queue   int           // packets that can wait for an agent; further packets are dropped, as VL15 has no flow control. 0: no limit

	Loss      float64       // fraction of packets lost, 0 to 1
	Duplicate float64       // fraction of packets that arrive twice
	Delay     time.Duration // added to every packet's time
	Jitter    time.Duration // maximum added random time
	Reorder   float64       // fraction of packets delayed by Late
	Late      time.Duration

	// Timeout is the time after which a lost request is returned to a served fabric's
	// client, as the client's kernel would report it. 0: at once, as ibsim does. It does
	// not apply within a process.
	Timeout time.Duration

	// Load is the average link utilisation that performance counters show, 0 to 1. The
	// utilisation in each link direction depends on Seed and the sending port. Uptime is
	// the traffic duration before the first access to counters.
	Load   float64
	Uptime time.Duration

	Seed uint64
}

// isTimed reports whether packets have delays.
func (m *Model) isTimed() bool {
	return m.Hop > 0 || m.Service > 0 || m.Delay > 0 || m.Jitter > 0 || m.Reorder > 0 && m.Late > 0
}

// isExact reports whether every packet arrives once, without a delay.
func (m *Model) isExact() bool { return !m.isTimed() && m.Loss == 0 && m.Duplicate == 0 }

// busy is the time until which a node's agents are busy.
type busy struct{ until time.Time }

// serve returns the time when a node's agents have handled a packet. It reports false if
// the queue is full.
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

// arrivals are the times when a packet arrives: up to two.
type arrivals struct {
	at    [2]time.Time
	count int
}

func (a *arrivals) times() []time.Time { return a.at[:a.count] }

// travel returns the arrivals for a packet that is sent at a time.
func (m *Model) travel(rng *rand.Rand, hops int, start time.Time) (a arrivals) {
	switch {
	case m.Loss > 0 && rng.Float64() < m.Loss:
		return a
	case m.Duplicate > 0 && rng.Float64() < m.Duplicate:
		a.count = 2
	default:
		a.count = 1
	}
	for i := range a.count {
		way := time.Duration(hops)*m.Hop + m.Delay
		if m.Jitter > 0 {
			way += time.Duration(rng.Int64N(int64(m.Jitter)))
		}
		if m.Reorder > 0 && rng.Float64() < m.Reorder {
			way += m.Late
		}
		a.at[i] = start.Add(way)
	}
	return a
}
