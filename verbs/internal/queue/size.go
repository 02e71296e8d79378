package queue

import "math/bits"

// RoundUp returns the next power of 2 that fits: 1 for 0, at most 1 << 31.
func RoundUp(v uint32) uint32 {
	if v <= 1 {
		return 1
	}
	return 1 << min(bits.Len32(v-1), 31)
}
