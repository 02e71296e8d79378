package loop

import (
	"runtime"
	"testing"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// A loop that is never preempted still lets the collector, and who else stops all of
// Go's processors, have their turn.
func TestStill(t *testing.T) {
	saved := breathAfter
	breathAfter = 10 * time.Millisecond
	defer func() { breathAfter = saved }()
	e := newEcho(100, 1, verbs.OpSend)
	e.answers = false
	w := watch(t)
	spinning, done := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := Pinned(NoCPU, func() error {
			close(spinning)
			return (&PingPong{Lane: e.lane, CQ: e, Watch: w, Depth: 16}).FollowSends()
		})
		done <- err
	}()
	<-spinning
	for range 3 {
		runtime.GC()
	}
	w.Stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := stills.Load(); n != 0 {
		t.Errorf("%d are held", n)
	}
}

// More loops than processors are preempted as before.
func TestStills(t *testing.T) {
	all := make([]still, runtime.NumCPU()+1)
	defer func() {
		for i := range all {
			all[i].release()
		}
	}()
	for i := range all {
		all[i].hold()
	}
	if last := len(all) - 1; !all[last-1].on || all[last].on {
		t.Errorf("%d hold: %v", runtime.NumCPU(), all)
	}
}
