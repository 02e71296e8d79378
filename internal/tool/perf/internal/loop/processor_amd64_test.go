package loop

import (
	"os"
	"regexp"
	"testing"
)

// TestIsVirtual compares with the flags that the kernel reports.
func TestIsVirtual(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	if want := regexp.MustCompile(`(?m)^flags\b.*\bhypervisor\b`).Match(info); isVirtual() != want {
		t.Errorf("got %v, want %v", isVirtual(), want)
	}
}
