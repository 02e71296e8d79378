//go:build ibkit_preempt

package loop

// A preemptGuard does nothing: Go's scheduler interrupts loops.
type preemptGuard struct{}

func (*preemptGuard) start() {}
func (*preemptGuard) stop()  {}
func (*preemptGuard) enter() {}
func (*preemptGuard) leave() {}
func (*preemptGuard) yield() {}
