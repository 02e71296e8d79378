//go:build inguest

package main

import (
	"os"
	"strings"
	"testing"
)

// TestPrepared looks at the guest that it runs in.
func TestPrepared(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || !strings.Contains(string(info), "cpu MHz") {
		t.Errorf("/proc/cpuinfo tells no clock rate (%v)", err)
	}
	for _, m := range mounts {
		if _, err := os.Stat(m.dir); err != nil {
			t.Error(err)
		}
	}
	for _, file := range []string{"/dev/infiniband/uverbs0", "/dev/infiniband/umad0", "/dev/infiniband/rdma_cm"} {
		if info, err := os.Stat(file); err != nil || info.Mode()&os.ModeCharDevice == 0 {
			t.Errorf("%s is no device (%v)", file, err)
		}
	}
}
