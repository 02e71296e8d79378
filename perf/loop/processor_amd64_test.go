package loop

import (
	"os"
	"regexp"
	"testing"
)

// The kernel says the same of the processor.
func TestIsVirtual(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	if want := regexp.MustCompile(`(?m)^flags\b.*\bhypervisor\b`).Match(info); isVirtual() != want {
		t.Errorf("virtual: %v, by the kernel %v", isVirtual(), want)
	}
}
