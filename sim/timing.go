package sim

import (
	"math/rand/v2"
	"time"
)

// A Model says how long things take in a fabric and what gets lost in it. All
// chance comes from Seed, so a run with the same requests repeats exactly.
type Model struct {
	Hop     time.Duration // time to cross a link, in each direction
	Service time.Duration // time that an agent takes for one packet
	Queue   int           // packets that wait for an agent at most; what comes above is dropped, as VL15 has no flow control. 0: no bound
	Loss    float64       // part of the packets that is lost, 0 to 1
	Jitter  time.Duration // up to so much is added to the way back, which reorders replies
	Seed    uint64
}

// isTimed reports whether replies take time at all.
func (m *Model) isTimed() bool { return m.Hop > 0 || m.Service > 0 || m.Jitter > 0 }

// busy is the time until which a node's processor has work.
type busy struct{ until time.Time }

// chance is the source of all that is random.
func (m *Model) chance() *rand.Rand { return rand.New(rand.NewPCG(m.Seed, 0)) }

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
