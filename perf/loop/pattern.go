package loop

import (
	"encoding/binary"
	"fmt"
)

// Fill writes a message's payload: words that differ by seed, count and place.
func Fill(b []byte, seed, count uint64) {
	x := mix(seed ^ mix(count))
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, x)
		x += step
		b = b[8:]
	}
	for i := range b {
		b[i] = byte(x >> (8 * i))
	}
}

// Check looks for what Fill has written.
func Check(b []byte, seed, count uint64) error {
	x := mix(seed ^ mix(count))
	whole := len(b) &^ 7
	for i := 0; i < whole; i += 8 {
		if got := binary.LittleEndian.Uint64(b[i:]); got != x {
			return fmt.Errorf("%w: message %d of %d bytes has %#016x at %d, not %#016x", ErrCorrupt, count, len(b), got, i, x)
		}
		x += step
	}
	for i, got := range b[whole:] {
		if want := byte(x >> (8 * i)); got != want {
			return fmt.Errorf("%w: message %d of %d bytes has %#02x at %d, not %#02x", ErrCorrupt, count, len(b), got, whole+i, want)
		}
	}
	return nil
}

const step = 0x9e3779b97f4a7c15 // an odd number without a pattern of its own

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
