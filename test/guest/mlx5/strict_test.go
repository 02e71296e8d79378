//go:build guest

package mlx5_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// violations are the testdata/strict.c cases with a part of the module's description.
var violations = [][2]string{
	{"valid", "status 0, 0 violations"},
	{"queue pair", ": request of QP"},
	{"no segments", ": 0 segments"},
	{"reserved control", ": control "},
	{"reserved stream", ": control "},
	{"immediate of a send", ": control "},
	{"opcode", ": opcode 0xd"},
	{"segment too many", ": empty segment"},
	{"segment too few", ": too few segments: 16 bytes are missing"},
	{"atomic too short", ": too few segments: 16 bytes are missing"},
	{"reserved remote address", ": remote address "},
	{"no inline data", ": 0 inline bytes"},
	{"inline data too long", ": 13 inline bytes"},
	{"short UMR", ": 160 bytes of UMR"},
	{"fields of UMR", ": control of UMR "},
	{"index", ": request 0x5 where 0x0 is next"},
	{"doorbell ahead of its request", ": request of QP 0"},
	{"doorbell ahead of its record", ": doorbell of request 0x0, 3 segments, the record has 0x0"},
	{"record ahead of its doorbell", ": doorbell of request 0x0, 3 segments, the record has 0x42"},
	{"record ahead of the queue", ": 65 blocks posted, the queue has 64"},
	{"consumer index", ": consumer index 0x1, the producer's is 0x0 of 32"},
	{"consumer index of 25 bits", ": consumer index 0x1000000, the producer's is 0x0 of 32"},
	{"arm word", ": arm word 0x4000000"},
	{"doorbell of a CQ", "doorbell of CQ 01"},
	{"receives", ": 5 receives posted, the queue has 4"},
	{"receive without length", ": segment of 0x0 bytes"},
	{"receives of an SRQ", " receives posted, the queue has "},
	{"reserved entry of an SRQ", ": entry 0: "},
	{"reserved address vector", ": address vector "},
	{"short address vector", ": too few segments: 16 bytes are missing"},
	{"reserved XRC", ": segment of XRC "},
	{"XRC number", ": segment of XRC "},
	{"short XRC", ": too few segments: 16 bytes are missing"},
	{"owner", "CQ: entry 0 of a new buffer has opcode 0"},
	{"record of a new CQ", "CQ: doorbell record 01"},
}

// TestStrict violates the ABI with stores to libmlx5 queues. The module detects each
// violation, so that a test without violations has checked the data that it posted.
func TestStrict(t *testing.T) {
	t.Parallel()
	g := guest.New(t, withLibrary(t, spec(t), "strict"))
	g.Must(t, "sh", "-c", "echo 2 > /sys/module/verbstest/parameters/strict")
	lines := strings.Split(strings.TrimSpace(g.Must(t, "strict")), "\n")
	if len(lines) != len(violations) {
		t.Fatalf("got %d cases, want %d:\n%s", len(lines), len(violations), strings.Join(lines, "\n"))
	}
	for i, v := range violations {
		t.Run(v[0], func(t *testing.T) {
			if name, text, _ := strings.Cut(lines[i], ": "); name != v[0] || !strings.Contains(text, strings.TrimPrefix(v[1], ": ")) {
				t.Errorf("got %q, want a part %q", lines[i], v[1])
			}
		})
	}
	if out := g.Must(t, "sh", "-c", "dmesg | grep -E 'BUG|WARNING|Oops' || true"); out != "" {
		t.Errorf("the kernel reports:\n%s", out)
	}
}
