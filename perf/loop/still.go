package loop

import (
	"runtime"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname
)

// A still keeps a polling loop on its thread without a break. Go's monitor
// preempts what has run for 10 ms, and a goroutine that is tied to its thread is
// back only after a turn of another one: a gap in what is measured, 100 times a
// second.
//
// While it is held nothing may be called that could wait for another goroutine,
// which Go's runtime takes for a bug of its own and ends the program. Who else
// wants all of Go's processors, such as the collector, waits for a breath.
type still struct {
	on    bool
	turns int   // since the clock was looked at
	since int64 // the last breath
}

var breathAfter = time.Second

// turnsToClock is how many polls are between two looks at the clock.
const turnsToClock = 1 << 14

// stills is how many are held: at most one a processor, so that Go has as many for
// all else (see runtimeHolder).
var stills atomic.Int32

func (s *still) hold() {
	if int(stills.Add(1)) > runtime.NumCPU() {
		stills.Add(-1)
		return
	}
	s.on = true
	procPin()
	s.since = Now()
}

func (s *still) release() {
	if !s.on {
		return
	}
	s.on = false
	procUnpin()
	stills.Add(-1)
}

// turn counts polls. It lets others have their turn once a second.
func (s *still) turn(polls int) {
	s.turns += polls
	if s.turns >= turnsToClock {
		s.look()
	}
}

func (s *still) look() {
	s.turns = 0
	if !s.on || Now()-s.since < int64(breathAfter) {
		return
	}
	procUnpin()
	runtime.Gosched()
	procPin()
	s.since = Now()
}

// procPin ties the goroutine to its place until procUnpin. The runtime keeps both
// for packages that link to them by these names (runtime/proc.go).
//
//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()
