package loop

import (
	"encoding/binary"
	"fmt"
)

// Fill writes the payload of a message: words that depend on seed, count and offset.
func Fill(b []byte, seed, count uint64) {
	x := firstWord(seed, count)
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, x)
		x += increment
		b = b[8:]
	}
	for i := range b {
		b[i] = byte(x >> (8 * i))
	}
}

// Check returns ErrCorrupt unless b holds the payload that Fill writes.
func Check(b []byte, seed, count uint64) error {
	x := firstWord(seed, count)
	whole := len(b) &^ 7
	for i := 0; i < whole; i += 8 {
		if got := binary.LittleEndian.Uint64(b[i:]); got != x {
			return fmt.Errorf("%w: message %d of %d bytes: got %#016x at offset %d, want %#016x", ErrCorrupt, count, len(b), got, i, x)
		}
		x += increment
	}
	for i, got := range b[whole:] {
		if want := byte(x >> (8 * i)); got != want {
			return fmt.Errorf("%w: message %d of %d bytes: got %#02x at offset %d, want %#02x", ErrCorrupt, count, len(b), got, whole+i, want)
		}
	}
	return nil
}

// poison writes the complement of the payload.
func poison(b []byte, seed, count uint64) {
	Fill(b, seed, count)
	invert(b)
}

// poisoned reports whether b is as poison left it. It overwrites b.
func poisoned(b []byte, seed, count uint64) bool {
	invert(b)
	return Check(b, seed, count) == nil
}

func invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

// firstWord returns the first word of a message. It adds 1 to count because mix(0)
// is 0: otherwise message 0 of seed 0 would equal untouched memory.
func firstWord(seed, count uint64) uint64 { return mix(seed ^ mix(count+1)) }

const increment = 0x9e3779b97f4a7c15 // odd, without a regular bit pattern

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
