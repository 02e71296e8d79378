package loop

import (
	"encoding/binary"
	"fmt"
)

// Fill writes a message's payload: words that differ by seed, count and place.
func Fill(b []byte, seed, count uint64) {
	x := first(seed, count)
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
	x := first(seed, count)
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

// spoil writes what differs from what Fill writes in each bit.
func spoil(b []byte, seed, count uint64) {
	Fill(b, seed, count)
	invert(b)
}

// spoiled tells whether spoil's is still there. It writes over it.
func spoiled(b []byte, seed, count uint64) bool {
	invert(b)
	return Check(b, seed, count) == nil
}

func invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

// first is the first word of a message. That of message 0 of seed 0 is not 0, as
// memory is that nobody has written: mix leaves 0 as it is.
func first(seed, count uint64) uint64 { return mix(seed ^ mix(count+1)) }

const step = 0x9e3779b97f4a7c15 // an odd number without a pattern of its own

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
