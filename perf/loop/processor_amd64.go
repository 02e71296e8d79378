package loop

// hasTicks: the processor counts in a register that can be read at once.
const hasTicks = true

// ticks reads the processor's time stamp counter.
func ticks() int64

// isVirtual tells whether the processor is that of a virtual machine: bit 31 of ECX
// of CPUID leaf 1, which no real one sets and all hypervisors do.
func isVirtual() bool

// relax tells the processor that this is a loop that waits (PAUSE).
func relax()
