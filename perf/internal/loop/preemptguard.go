//go:build !ibkit_preempt

package loop

import (
	"runtime"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname
)

// A preemptGuard keeps Go's scheduler from interrupting a loop while it polls.
type preemptGuard struct {
	on     bool
	since  int64 // of the last yield
	bursts int
}

var yieldInterval = time.Second

// guards counts active guards. One processor of Go's scheduler always stays without,
// for all other goroutines.
var guards atomic.Int32

func (g *preemptGuard) start() {
	if int(guards.Add(1)) >= runtime.GOMAXPROCS(0) {
		guards.Add(-1)
		return
	}
	g.on, g.since = true, Now()
}

func (g *preemptGuard) stop() {
	if g.on {
		g.on = false
		guards.Add(-1)
	}
}

func (g *preemptGuard) enter() {
	if g.on {
		procPin()
	}
}

func (g *preemptGuard) leave() {
	if g.on {
		procUnpin()
	}
}

const burstsToClock = 64

// yield lets other goroutines run once per yieldInterval.
func (g *preemptGuard) yield() {
	if g.bursts++; !g.on || g.bursts < burstsToClock {
		return
	}
	g.bursts = 0
	if now := Now(); now-g.since >= int64(yieldInterval) {
		runtime.Gosched()
		g.since = Now()
	}
}

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()
