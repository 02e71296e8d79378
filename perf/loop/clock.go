package loop

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

var epoch = time.Now()

// Now is the monotonic clock in nanoseconds.
func Now() int64 { return int64(time.Since(epoch)) }

// ErrClock means that the processor's counter and the kernel's clock disagree.
var ErrClock = errors.New("the processor's time stamps are uneven; without --cpu the kernel's clock is used")

// A clock tells the time within a loop, in nanoseconds from anywhere. It is the
// kernel's monotonic one, unless that is slow to read, as where the kernel has to
// ask a device for the time: then it is the processor's counter, held against the
// kernel's clock before and after. A counter is of one processor, so the loop has
// to be tied to one.
type clock struct {
	rate  uint64 // ns per tick, times 2^32; 0: the kernel's clock
	begin int64  // of the loop, by the kernel's clock
	first int64  // and by this one
}

// slowClock is what reading the kernel's clock may take, in nanoseconds. In user
// space it takes some 30.
const slowClock = 150

// ClockSource names the clock of loops that are tied to a processor, or are not,
// and says how long it takes to read, in nanoseconds.
func ClockSource(tied bool) (name string, cost float64) {
	kernel := costOf(Now)
	if !tied || !hasTicks || kernel < slowClock {
		return "CLOCK_MONOTONIC", kernel
	}
	return "TSC", costOf(ticks)
}

// costOf measures how long a call takes, in nanoseconds: the least of many.
func costOf(read func() int64) float64 {
	const rounds, calls = 20, 200
	best := int64(math.MaxInt64)
	for range rounds {
		begin := Now()
		for range calls - 1 {
			read()
		}
		best = min(best, Now()-begin)
	}
	return float64(best) / calls
}

// newClock picks the clock for a loop on this thread.
func newClock() clock {
	var c clock
	if hasTicks && tied() && costOf(Now) >= slowClock {
		c.rate = tickRate()
	}
	c.begin, c.first = c.pair()
	return c
}

// tied tells whether this thread runs on one processor only.
func tied() bool {
	var set unix.CPUSet
	return unix.SchedGetaffinity(0, &set) == nil && set.Count() == 1
}

// tickRate measures the counter's rate, once.
var tickRate = sync.OnceValue(func() uint64 {
	const span = 30 * time.Millisecond
	t0, k0 := both()
	for Now()-k0 < int64(span) {
	}
	t1, k1 := both()
	if t1 <= t0 {
		return 0
	}
	return uint64(float64(k1-k0) / float64(t1-t0) * (1 << 32))
})

// both reads the counter and the clock at one time: of several readings that which
// took least.
func both() (tick, kernel int64) {
	best := int64(math.MaxInt64)
	for range 50 {
		before := ticks()
		k := Now()
		after := ticks()
		if d := after - before; d < best {
			best, tick, kernel = d, before+d/2, k
		}
	}
	return tick, kernel
}

// pair is the time by the kernel's clock and by this one, read together: the
// thread may lose its processor between two readings.
func (c *clock) pair() (kernel, own int64) {
	if c.rate == 0 {
		now := Now()
		return now, now
	}
	tick, kernel := both()
	return kernel, c.time(tick)
}

// now reads the clock.
func (c *clock) now() int64 {
	if c.rate == 0 {
		return Now()
	}
	return c.time(ticks())
}

// time is what the counter shows in nanoseconds.
func (c *clock) time(tick int64) int64 {
	high, low := bits.Mul64(uint64(tick), c.rate)
	return int64(high<<32 | low>>32)
}

// Differences between counter and clock that are of reading them.
const (
	clockSlack     = time.Millisecond
	clockDeviation = 0.01
)

// check holds the counter against the kernel's clock, at the end of a loop.
func (c *clock) check() error {
	if c.rate == 0 {
		return nil
	}
	kernel, own := c.pair()
	kernel, own = kernel-c.begin, own-c.first
	if d := math.Abs(float64(own - kernel)); d > float64(clockSlack) && d > clockDeviation*float64(kernel) {
		return fmt.Errorf("%w: %v by the counter are %v", ErrClock, time.Duration(own), time.Duration(kernel))
	}
	return nil
}
