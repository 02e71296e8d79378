//go:build guest

package mlx5_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// TestOptionalCounters enables and disables counters, and compares their status with rdma of
// iproute2.
func TestOptionalCounters(t *testing.T) {
	t.Parallel()
	s := spec(t)
	s.Tools = append(s.Tools, "rdma")
	g := guest.New(t, s)
	reload(t, g, "counters=1")
	status := func() string {
		t.Helper()
		return g.Must(t, "rdma", "statistic", "mode", "link", "mlx5_0/1")
	}
	for _, test := range []struct {
		list, want string
		values     []string // of counters that count
	}{
		{"cc_tx_cnp_pkts,cc_rx_ce_pkts", "optional-counters cc_rx_ce_pkts,cc_tx_cnp_pkts", []string{"cc_rx_ce_pkts 11", "cc_tx_cnp_pkts 13"}},
		{"cc_rx_cnp_pkts", "optional-counters cc_rx_cnp_pkts", []string{"cc_rx_cnp_pkts 12"}},
		{"none", "", nil},
	} {
		t.Run(test.list, func(t *testing.T) {
			before := status()
			command := []string{"ibkit", "counters", "--local", "-C", "mlx5_0", "--optional", test.list}
			if r := g.MustRun(t, append(command, "--dry-run")...); r.Code != 0 || status() != before {
				t.Errorf("--dry-run: got exit code %d, %s%s, status %s", r.Code, r.Stdout, r.Stderr, status())
			}
			if r := g.MustRun(t, append(command, "--yes", "--log", "/changes")...); r.Code != 0 || !strings.Contains(r.Stdout, "mlx5_0/1: changed: ") {
				t.Errorf("got exit code %d, %s%s", r.Code, r.Stdout, r.Stderr)
			}
			if got := status(); !strings.Contains(got, test.want) || test.want == "" && strings.Contains(got, "cc_") {
				t.Errorf("got %s, want %s", got, test.want)
			}
			theirs := g.Must(t, "rdma", "statistic", "show", "link", "mlx5_0/1")
			for _, value := range test.values {
				if !strings.Contains(theirs, value) {
					t.Errorf("got %s, want %s", theirs, value)
				}
			}
			if r := g.MustRun(t, append(command, "--yes", "--log", "/changes")...); r.Code != 0 || !strings.Contains(r.Stdout, "mlx5_0/1: not needed: ") {
				t.Errorf("again: got exit code %d, %s%s", r.Code, r.Stdout, r.Stderr)
			}
		})
	}
	if log := g.Must(t, "cat", "/changes"); strings.Count(log, "optional") < 3 {
		t.Errorf("got log %s", log)
	}
	if r := g.MustRun(t, "ibkit", "counters", "--local", "-C", "mlx5_0", "--optional", "np_cnp_sent", "--yes"); r.Code != 1 || !strings.Contains(r.Stderr, "optional counters: cc_rx_ce_pkts, cc_rx_cnp_pkts, cc_tx_cnp_pkts") {
		t.Errorf("counter that is not optional: got exit code %d, %s", r.Code, r.Stderr)
	}
}
