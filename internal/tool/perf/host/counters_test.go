package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/sysfs"
)

func TestCounters(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, "class/infiniband/rxe0", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("ports/1/hw_counters/sent_pkts", "10\n")
	write("ports/1/hw_counters/send_rnr_err", "1\n")
	write("ports/1/hw_counters/lifespan", "10\n")
	write("ports/1/counters/symbol_error", "0\n")
	write("ports/1/counters/link_downed", "7\n")
	before := readCounters(sysfs.FS(root), "rxe0", 1)
	write("ports/1/hw_counters/sent_pkts", "25\n")
	write("ports/1/counters/link_downed", "1\n")
	write("ports/1/counters/port_rcv_errors", "3\n") // absent before
	after := readCounters(sysfs.FS(root), "rxe0", 1)
	if d := cmp.Diff(Counters{"sent_pkts": 15, "link_downed": 1}, after.Since(before)); d != "" {
		t.Error(d)
	}
}

func TestTrouble(t *testing.T) {
	for name, want := range map[string]string{"send_rnr_err": "RNR sent", "sent_pkts": ""} {
		t.Run(name, func(t *testing.T) {
			if got := Trouble(name); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
