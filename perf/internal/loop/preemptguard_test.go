//go:build !ibkit_preempt

package loop

import (
	"runtime"
	"testing"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// TestPreemptGuard checks that a polling loop lets the garbage collector stop all
// goroutines.
func TestPreemptGuard(t *testing.T) {
	saved := yieldInterval
	yieldInterval = 10 * time.Millisecond
	defer func() { yieldInterval = saved }()
	e := newEcho(100, 1, verbs.OpSend)
	e.answers = false
	s := supervise(t, 10*time.Second)
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
	if n := guards.Load(); n != 0 {
		t.Errorf("got %d active guards after the loop, want 0", n)
	}
}

// TestPreemptGuard_limit checks that one processor of Go's scheduler stays without a
// guard.
func TestPreemptGuard_limit(t *testing.T) {
	all := make([]preemptGuard, runtime.GOMAXPROCS(0))
	active := 0
	for i := range all {
		all[i].start()
		defer all[i].stop()
		if all[i].on {
			active++
		}
	}
	if want := len(all) - 1; active != want {
		t.Errorf("got %d active guards, want %d", active, want)
	}
}
