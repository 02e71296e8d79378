package loop

// hasTicks is set if the processor has a counter that user space can read.
const hasTicks = true

// ticks reads the time-stamp counter.
func ticks() int64

// isVirtual reports whether a hypervisor is present: bit 31 of ECX of CPUID leaf 1,
// which hypervisors set and physical processors leave clear.
func isVirtual() bool

// relax executes PAUSE, the hint that this is a spin loop.
func relax()
