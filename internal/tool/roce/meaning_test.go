package roce

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTrouble(t *testing.T) {
	for name, want := range map[string]string{
		"np_cnp_pkts": "congestion notifications sent", "tcpRetransSegs": "packets sent again, or retries exceeded", "rx_drops": "packets received and dropped",
		"rx_ecn_marked_pkts": "", "tx_pkts": "", "submitted_cmds": "", "ethtool_rx_prio3_pause": "",
	} {
		if got := Trouble(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// Each counter of efa, bnxt_re and irdma has a meaning. The lists have the names in
// efa_verbs.c, and in the modules of Debian's kernels.
func TestMeaning_Drivers(t *testing.T) {
	lists, err := filepath.Glob("testdata/hw_counters/*.txt")
	if err != nil || len(lists) != 5 {
		t.Fatalf("got lists %v, error %v, want 5", lists, err)
	}
	for _, list := range lists {
		t.Run(filepath.Base(list), func(t *testing.T) {
			text, err := os.ReadFile(list)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if name := strings.TrimSpace(line); Meaning(name) == "" {
					t.Errorf("got no meaning for %q", name)
				}
			}
		})
	}
}

func TestMeaning(t *testing.T) {
	for name, want := range map[string]string{
		"np_cnp_pkts": "congestion notifications sent", "res_tx_pci_err": "PCI Express errors while reading", "tx_write_req": "requests sent",
		"watermark_rc_qps": "objects at most", "ip6OutMcastOctets": "bytes in IP packets", "ethtool_rx_prio3_pause": "pauses received",
		"no_such_counter": "", "tx__req": "", "active_": "",
	} {
		if got := Meaning(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
