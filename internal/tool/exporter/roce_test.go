package exporter

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/roce"
)

// The second sweep has the statistics, and the finding that follows from their increase.
func TestLocal_RoCE(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		h := roce.Host{Statistics: func(string) (map[string]uint64, error) {
			elapsed := uint64(time.Since(began).Microseconds())
			return map[string]uint64{"rx_prio3_pause": 9, "rx_prio3_pause_duration": elapsed / 2, "rx0_packets": 5}, nil
		}}
		e := New(Options{Names: Node, Local: LocalOptions{Sysfs: testenv.Host(t, "mlx5-roce"), RoCE: h}})
		var last sweep
		for i, want := range []string{"", `ibkit_roce_finding{device="mlx5_bond_0",kind="roce-pause-storm",port="1"} 1`} {
			if err := e.sweepOnce(t.Context(), &last); err != nil {
				t.Fatal(err)
			}
			text := textOf(t, e)
			if !strings.Contains(text, want) || want == "" && strings.Contains(text, "ibkit_roce_finding{") {
				t.Errorf("sweep %d: got no %q in\n%s", i, want, text)
			}
			if statistic := `ibkit_roce_statistic_total{device="mlx5_bond_0",name="rx_prio3_pause",port="1"} 9`; !strings.Contains(text, statistic) || strings.Contains(text, "rx0_packets") {
				t.Errorf("sweep %d: got no %q, or other statistics, in\n%s", i, statistic, text)
			}
			time.Sleep(10 * time.Second)
		}
	})
}
