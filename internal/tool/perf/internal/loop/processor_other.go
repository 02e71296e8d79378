//go:build !amd64

package loop

// hasTicks is false where the kernel's clock is as fast as the counter.
const hasTicks = false

func ticks() int64 { return 0 }

// isVirtual returns false: it is unknown here, and loops do not pause.
func isVirtual() bool { return false }

func relax() {}
