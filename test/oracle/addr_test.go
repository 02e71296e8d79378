//go:build oracle

package oracle

import (
	"strings"
	"testing"
)

// TestIbaddr compares the addresses of every node of a served fabric with those
// that Debian's ibaddr prints.
func TestIbaddr(t *testing.T) {
	s := serveFabric(t, "demo")
	const host = "node07"
	lines := []string{"", "-g", "-l", "-L", "-D 0", "-D 0,1", "-G 0x0002c90000100401"}
	for _, lid := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		lines = append(lines, lid, "-g "+lid, "-l "+lid, "-L "+lid, "-gL "+lid)
	}
	for _, line := range lines {
		args := strings.Fields(line)
		want := s.MustRunC(t, host, "ibaddr", args...)
		got := s.MustRun(t, host, native(), append([]string{"ibaddr"}, args...)...)
		if got.Stdout != want.Stdout || got.Stdout == "" {
			t.Errorf("ibaddr %s:\n%q, want\n%q", line, got.Stdout, want.Stdout)
		}
	}
}
