//go:build !amd64

package loop

// hasTicks is for processors whose counter the kernel reads as fast as we would.
const hasTicks = false

func ticks() int64 { return 0 }

// isVirtual: it is not known, and loops wait without a pause.
func isVirtual() bool { return false }

func relax() {}
