//go:build guest

package bnxt_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// violations are the testdata/strict.c cases with a part of the module's description.
var violations = [][2]string{
	{"doorbell of 4 bytes", ": doorbell 0x1 of 4 bytes"},
	{"doorbell at another offset", ": doorbell 0x1 of 8 bytes at 0x1008"},
	{"doorbell with a reserved bit", " of 8 bytes at 0x1000"},
	{"doorbell of an unknown type", " of type 15"},
	{"doorbell of no queue pair", " of no QP"},
	{"doorbell of no completion queue", " of no CQ"},
	{"doorbell of no shared receive queue", " of no SRQ"},
	{"index behind the ring", " of a queue of 256"},
	{"wrong epoch", " after index 0: epoch"},
	{"too many requests", ", at 0 of 256"},
	{"doorbell ahead of its request", ": header 0x0 at 0"},
	{"request of an earlier round", ": request 1 has packets"},
	{"reserved byte", ": header 0x1030104 at 0"},
	{"unknown operation", ": header 0x30144"},
	{"reserved flag", ": header 0x32104 at 0"},
	{"too few slots", ": header 0x10104 at 0"},
	{"too many slots", ": header 0xf0104 at 0"},
	{"length of other segments", ", 9 bytes, segments of 8"},
	{"length of more than 32 bits", ": length 0x100000008"},
	{"read with inline data", " of 8 inline bytes"},
	{"inline data in too many slots", " of 8 inline bytes"},
	{"wrong first packet", ": request 0 has packets 0x100000001, want 0x0 to 0x1"},
	{"wrong next packet", ": request 0 has packets 0x200000000, want 0x0 to 0x1"},
	{"wrong first slot", ": request 0 has slot 3"},
	{"datagram with a write", ": operation 0, destination "},
	{"datagram without an address handle", ": operation 2, destination 0xffff00000000"},
	{"receive with a wrong number", ": receive 0 has the number 5"},
	{"receive of another type", ": receive with the header 0x30000, 8 slots"},
	{"receive with a flag", ": receive with the header 0x30180, 8 slots"},
	{"receive of too many slots", ": receive with the header 0xf0080, 8 slots"},
	{"doorbell ahead of its receive", ": receive with the header 0x0, 8 slots"},
	{"toggle without an event", ", toggle 0"},
	{"completion queue ahead", ", next entry 0"},
	{"event ahead", ", next entry 0"},
}

// TestStrict violates the ABI with stores to libbnxt_re queues and to its doorbell. The module
// detects each violation, so that a test without violations has checked the data that it posted.
func TestStrict(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 10 s
		return
	}
	program := verbstest.Compile(t, "testdata/strict.c", "-rdynamic")
	g := verbstest.Boot(t, verbstest.Adapter{
		ABI: "bnxt", Device: "bnxt_re0", Address: address, Tools: []string{"ibv_devinfo"}, Files: map[string]string{"/usr/bin/strict": program},
	})
	lines := strings.Split(strings.TrimSpace(g.Must(t, "strict")), "\n")
	if len(lines) != len(violations) {
		t.Fatalf("got %d cases, want %d:\n%s", len(lines), len(violations), strings.Join(lines, "\n"))
	}
	for i, v := range violations {
		name, text, _ := strings.Cut(lines[i], ": ")
		if name != v[0] || !strings.Contains(": "+text, v[1]) {
			t.Errorf("got %q, want %q", lines[i], v)
		}
	}
}
