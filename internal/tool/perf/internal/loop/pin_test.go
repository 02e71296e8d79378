package loop

import (
	"runtime"
	"testing"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// TestPinned_stopTheWorld checks that a polling loop, with the preemption signal masked
// on its thread, lets the garbage collector stop all goroutines.
func TestPinned_stopTheWorld(t *testing.T) {
	e := newEcho(100, 1, verbs.OpSend)
	e.answers = false
	s := supervise(t, time.Minute)
	spinning, done := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := Pinned(NoCPU, func() error {
			close(spinning)
			return (&PingPong{Flow: e.flow, CQ: e, Supervisor: s, Depth: 16}).FollowSends()
		})
		done <- err
	}()
	<-spinning
	for range 3 {
		runtime.GC()
	}
	s.Stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
