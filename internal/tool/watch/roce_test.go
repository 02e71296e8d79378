package watch

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/report"
)

// A verdict is an event in the window in which it begins, and in the first window without it.
func TestWatchRoCE(t *testing.T) {
	root := testenv.Host(t, "mlx5-roce")
	file := filepath.Join(root, "class/infiniband/mlx5_bond_0/ports/1/hw_counters/packet_seq_err")
	write := func(value string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	write("7")
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		r := &run{Options: Options{Sysfs: root, Window: 10 * time.Second}, queue: queue{wake: make(chan struct{}, 1)}}
		done := make(chan error, 1)
		go func() { done <- r.watchRoCE(ctx) }()
		var got []string
		for i, value := range []string{"7", "9", "12", "12", "12"} {
			time.Sleep(5 * time.Second)
			write(value)
			time.Sleep(5 * time.Second)
			synctest.Wait()
			for e, _, ok := r.queue.take(); ok; e, _, ok = r.queue.take() {
				if e.Data.Device == nil || *e.Data.Device.Name != "mlx5_bond_0" || e.Data.Counter.Kind != report.RoCELoss || *e.Data.Counter.Window != 10 {
					t.Errorf("window %d: got %+v", i, e)
				}
				got = append(got, string('1'+rune(i))+" "+string(e.Kind)+" "+string(e.Severity)+" "+e.Subject+" "+e.Detail)
			}
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		want := []string{
			"2 counter-raised error mlx5_bond_0[1] roce-loss: packets were lost in the network: packet_seq_err +2",
			"4 counter-settled recovery mlx5_bond_0[1] roce-loss: no sign of it in the last window",
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
