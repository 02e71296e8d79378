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

// Now returns the monotonic clock in nanoseconds.
func Now() int64 { return int64(time.Since(epoch)) }

// ErrClock is returned when the processor's time-stamp counter and the kernel's clock
// disagree.
var ErrClock = errors.New("uneven time-stamp counter")

// A clock measures nanoseconds within a loop. It reads the kernel's monotonic clock
// unless that is slow, for example because the kernel reads a timer device. In that
// case it reads the processor's time-stamp counter, calibrated with the kernel's clock
// before the loop and compared with it after the loop. Counters differ between
// processors, so that this needs a loop that is bound to a processor.
type clock struct {
	rate  uint64 // ns per tick, times 2^32; 0: the kernel's clock
	begin int64  // kernel time at the start of the loop
	first int64  // own time at the start of the loop
}

// slowClock is the cost in nanoseconds from which the counter replaces the kernel's
// clock. A clock that is read in user space costs about 30.
const slowClock = 150

// ClockSource returns the name of the clock of a loop that is, or is not, bound to a
// processor, and the cost of reading it in nanoseconds.
func ClockSource(bound bool) (name string, cost float64) {
	kernel := costOf(Now)
	if !bound || !hasTicks || kernel < slowClock {
		return "CLOCK_MONOTONIC", kernel
	}
	return "TSC", costOf(ticks)
}

// costOf measures the duration of a call in nanoseconds: the minimum of many runs.
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

// newClock selects the clock for a loop on this thread.
func newClock() clock {
	var c clock
	if hasTicks && bound() && costOf(Now) >= slowClock {
		c.rate = tickRate()
	}
	c.begin, c.first = c.pair()
	return c
}

// bound reports whether this thread is bound to a processor.
func bound() bool {
	var set unix.CPUSet
	return unix.SchedGetaffinity(0, &set) == nil && set.Count() == 1
}

// tickRate measures the rate of the counter once per process.
var tickRate = sync.OnceValue(func() uint64 {
	const span = 30 * time.Millisecond
	t0, k0 := readBoth()
	for Now()-k0 < int64(span) {
	}
	t1, k1 := readBoth()
	if t1 <= t0 {
		return 0
	}
	return uint64(float64(k1-k0) / float64(t1-t0) * (1 << 32))
})

// TicksPerNanosecond returns the frequency of the processor's time-stamp counter in GHz,
// 0 if user space cannot read the counter.
func TicksPerNanosecond() float64 {
	if !hasTicks {
		return 0
	}
	if rate := tickRate(); rate > 0 {
		return (1 << 32) / float64(rate)
	}
	return 0
}

// readBoth reads counter and clock at the same time: it returns the fastest of
// several readings.
func readBoth() (tick, kernel int64) {
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

// pair returns kernel time and own time of the same moment.
func (c *clock) pair() (kernel, own int64) {
	if c.rate == 0 {
		now := Now()
		return now, now
	}
	tick, kernel := readBoth()
	return kernel, c.time(tick)
}

// now reads the clock.
func (c *clock) now() int64 {
	if c.rate == 0 {
		return Now()
	}
	return c.time(ticks())
}

// raw reads the clock without conversion, which nanoseconds does later.
func (c *clock) raw() int64 {
	if c.rate == 0 {
		return Now()
	}
	return ticks()
}

// nanoseconds converts a value of raw.
func (c *clock) nanoseconds(raw int64) int64 {
	if c.rate == 0 {
		return raw
	}
	return c.time(raw)
}

// time converts a counter value to nanoseconds.
func (c *clock) time(tick int64) int64 {
	high, low := bits.Mul64(uint64(tick), c.rate)
	return int64(high<<32 | low>>32)
}

// Tolerated difference between counter and clock.
const (
	clockSlack     = time.Millisecond
	clockDeviation = 0.01
)

// check compares the counter with the kernel's clock at the end of a loop.
func (c *clock) check() error {
	if c.rate == 0 {
		return nil
	}
	kernel, own := c.pair()
	kernel, own = kernel-c.begin, own-c.first
	if d := math.Abs(float64(own - kernel)); d > float64(clockSlack) && d > clockDeviation*float64(kernel) {
		return fmt.Errorf("%w: it measured %v, the kernel's clock %v", ErrClock, time.Duration(own), time.Duration(kernel))
	}
	return nil
}
