package testenv

import (
	"context"
	"testing"
	"time"
)

// WaitLimit is how long a test waits for another process or for the kernel, which a busy
// machine delays. Everything else that a test waits for is in simulated time, by
// testing/synctest.
const WaitLimit = time.Minute

// poll is the time between two condition checks.
const poll = time.Millisecond

// Await waits until a condition in another process or in the kernel is true, and fails the
// test if it is not.
func Await(tb testing.TB, what string, condition func() bool) {
	tb.Helper()
	if !Becomes(condition) {
		tb.Fatalf("got no %s within %v, want it", what, WaitLimit)
	}
}

// Becomes is [Await] outside of a test. It reports whether the condition has become true.
func Becomes(condition func() bool) bool {
	for end := time.Now().Add(WaitLimit); !condition(); time.Sleep(poll) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// Receive returns the next value from a channel, or the zero value if the channel is
// closed. It fails the test without a value.
func Receive[T any](tb testing.TB, what string, c <-chan T) T {
	tb.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(WaitLimit):
		tb.Fatalf("got no %s within %v, want it", what, WaitLimit)
		panic("unreachable")
	}
}

// Limit returns a context that ends after [WaitLimit], or with the test.
func Limit(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), WaitLimit)
	tb.Cleanup(cancel)
	return ctx
}

// Brief returns a timeout that a test expects, because the kernel or another process delivers
// no message before. It passes on a busy machine too.
func Brief() time.Duration { return 20 * time.Millisecond }

// Soon returns a deadline as [Brief].
func Soon() time.Time { return time.Now().Add(Brief()) }

// UntilSoon returns a context that ends after [Brief].
func UntilSoon(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithDeadline(tb.Context(), Soon())
	tb.Cleanup(cancel)
	return ctx
}
