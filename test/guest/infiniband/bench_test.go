//go:build guest

package infiniband_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/ibports"
)

// BenchmarkScan compares how long the links on 1,008 ports take through a real kernel:
// ibkit and Debian's iblinkinfo, in turn, and ibkit with other windows.
func BenchmarkScan(b *testing.B) {
	spec := ibports.Spec(b, "iblinkinfo")
	spec.Timeout, spec.Log = 20*time.Minute, io.Discard
	g := guest.New(b, spec)
	ibports.PlugIn(b, g, "fat-tree:radix=24,pods=20", "host00001", "host00100")
	const rounds = 7
	lines := []string{"ibkit iblinkinfo", "iblinkinfo", "iblinkinfo -o 16"}
	for _, window := range []int{1, 4, 16, 256} {
		lines = append(lines, fmt.Sprintf("ibkit iblinkinfo -o %d", window))
	}
	took := make([][]time.Duration, len(lines))
	for b.Loop() {
		for range rounds {
			for i, line := range lines {
				took[i] = append(took[i], g.MustRun(b, append(strings.Fields(line), "-C", ibports.Devices[0])...).Elapsed)
			}
		}
	}
	var first time.Duration
	for i, line := range lines {
		slices.Sort(took[i])
		median := took[i][len(took[i])/2]
		if i == 0 {
			first = median
		}
		b.Logf("%-24s %7.1f ms  %5.2f", line, median.Seconds()*1e3, median.Seconds()/first.Seconds())
		switch i {
		case 1:
			b.ReportMetric(median.Seconds()/first.Seconds(), "ratio-default")
		case 2:
			b.ReportMetric(median.Seconds()/first.Seconds(), "ratio-best")
		}
	}
}
