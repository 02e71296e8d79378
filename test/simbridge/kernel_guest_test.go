//go:build inguest

package main

import (
	"errors"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"
)

// TestGuestHostile writes records to the kernel that only a defective program would write.
// The kernel rejects them or treats them as output from a defective fabric.
func TestGuestHostile(t *testing.T) {
	fd, err := unix.Open("/dev/ibtest0", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	const many = 100_000
	random := rand.New(rand.NewPCG(1, 2))
	kinds := []kind{arrived, arrived, arrived, answer, decline, portAttr, nodeAttr, 0, sent, query, caps, toHost - 1, nodeAttr + 1, 1 << 31}
	taken := 0
	for range many {
		r := newRecord(kinds[random.IntN(len(kinds))], uint32(random.IntN(6)))
		for i := offCookie; i < len(r); i++ {
			r[i] = byte(random.Uint32())
		}
		if r.kind() == arrived && random.IntN(4) > 0 {
			plausible(&r, random)
		}
		switch _, err := unix.Write(fd, r[:]); {
		case err == nil:
			taken++
		case !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.ENOENT):
			t.Fatalf("write: %v", err)
		}
		// Discard the host's output.
		var out record
		for {
			if n, _ := unix.Read(fd, out[:]); n <= 0 {
				break
			}
		}
	}
	if taken == 0 || taken == many {
		t.Errorf("%d of %d records were accepted, want some but not all", taken, many)
	}
	t.Logf("%d of %d records were accepted", taken, many)
	for _, size := range []int{1, offUnion, recordSize - 1, recordSize + 1, 2 * recordSize} {
		if _, err := unix.Write(fd, make([]byte, size)); !errors.Is(err, unix.EINVAL) {
			t.Errorf("write of %d bytes: got %v, want EINVAL", size, err)
		}
	}
}

// plausible turns a record into a datagram that the MAD layer does not drop at once:
// it has a registered class and a valid method, and often a valid attribute.
func plausible(r *record, random *rand.Rand) {
	const baseVersion = 1
	m := r.mad()
	m[0] = baseVersion
	m[1] = []byte{0x01, 0x81, 0x03, 0x04, 0x32, 0x07, 0x09}[random.IntN(7)] // class
	m[2] = byte(1 + random.IntN(2))                                         // its version
	m[3] = []byte{0x01, 0x02, 0x81, 0x12, 0x92, 0x05, 0x07}[random.IntN(7)] // method
	if random.IntN(2) > 0 {
		m[6], m[7] = byte(random.IntN(70)), byte(random.IntN(70)) // directed route: hop pointer and count
	}
	qp := byte(1)
	if m[1] == 0x01 || m[1] == 0x81 {
		qp = 0
	}
	copy(r[offDestQP:], []byte{qp, 0, 0, 0})
	r[offHasGRH] &= 1
	if random.IntN(2) > 0 {
		copy(r[offPKey:], []byte{0, 0})
	}
}
