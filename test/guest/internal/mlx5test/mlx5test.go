//go:build guest

package mlx5test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// CheckKernel reports ABI violations by user space, and kernel errors. A reloaded module
// counts violations from 0, so that the log is decisive.
func CheckKernel(t *testing.T, g *guest.Guest) {
	t.Helper()
	if out := g.Must(t, "sh", "-c", "dmesg | grep -E 'BUG|WARNING|Oops|violation' || true"); out != "" {
		t.Errorf("the kernel reports:\n%s", out)
	}
	const counter = "/sys/module/mlx5test/parameters/violations"
	if out := g.Must(t, "sh", "-c", "test ! -e "+counter+" || grep -vx 0 "+counter+" || true"); out != "" {
		t.Errorf("got %s violations of the ABI, want 0", out)
	}
}
