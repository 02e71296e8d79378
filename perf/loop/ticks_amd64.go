package loop

// hasTicks: the processor counts in a register that can be read at once.
const hasTicks = true

// ticks reads the processor's time stamp counter.
func ticks() int64
