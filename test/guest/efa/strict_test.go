//go:build guest

package efa_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// violations are the testdata/strict.c cases with a part of the module's description.
var violations = [][2]string{
	{"valid", "0 violations"},
	{"batch", "doorbell 0x11 after 0x0"},
	{"doorbell ahead of its request", "request 0x1 of control bytes 0x0 and 0x0"},
	{"doorbell twice", "doorbell 0x1 after 0x1"},
	{"doorbell of 32 bits", "doorbell 0x10001 after 0x0"},
	{"store of 64 bits", "doorbell of 8 bytes"},
	{"register", "doorbell 0x1 at offset 0x44"},
	{"phase", "request 0x1 of control bytes 0x80 and 0x1d"},
	{"extension", "request 0x0 of control bytes 0xc0 and 0x1c"},
	{"reserved control", "request 0x0 of control bytes 0x80 and 0x3c"},
	{"first", "request 0x0 of control bytes 0x80 and 0x18"},
	{"last", "request 0x0 of control bytes 0x80 and 0x14"},
	{"reserved bytes", "reserved bytes 00 00 00 00 00 00 00 00 00 00 00 01"},
	{"reserved word", "reserved bytes"},
	{"inline data too long", "33 bytes of inline data"},
	{"segments", "send of 3 segments"},
	{"key of a segment", "LKey 0x1"},
	{"operation", "operation 3"},
	{"read with inline data", "rdma with control byte 0xa1"},
	{"read with immediate", "rdma with control byte 0x91"},
	{"lengths of a read", "1 segments, 7 bytes"},
	{"receives", "doorbell 0x201 of receives, 0x0 taken"},
	{"receive that is not first", "receive 0x0 of key 0x8"},
	{"receive that is not last", "receive 0x0 without a last segment"},
	{"reserved key of a receive", "receive 0x0 of key 0xc1"},
}

// TestStrict violates the ABI with stores to libefa queues. The module detects each
// violation, so that a test without violations has checked the data that it posted.
func TestStrict(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 10 s
		return
	}
	a := adapter("")
	a.Tools = []string{"ib_send_lat"} // which needs libefa
	a.Files = map[string]string{"/usr/bin/strict": verbstest.Compile(t, "testdata/strict.c", "-lefa", "-rdynamic")}
	g := verbstest.Boot(t, a)
	lines := strings.Split(strings.TrimSpace(g.Must(t, "strict")), "\n")
	if len(lines) != len(violations) {
		t.Fatalf("got %d cases, want %d:\n%s", len(lines), len(violations), strings.Join(lines, "\n"))
	}
	for i, v := range violations {
		t.Run(v[0], func(t *testing.T) {
			if name, text, _ := strings.Cut(lines[i], ": "); name != v[0] || !strings.Contains(text, v[1]) {
				t.Errorf("got %q, want a part %q", lines[i], v[1])
			}
		})
	}
	if out := g.Must(t, "sh", "-c", "dmesg | grep -E 'BUG|WARNING|Oops' || true"); out != "" {
		t.Errorf("the kernel reports:\n%s", out)
	}
}
