package roce

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/ibkit/ibkit/internal/outcome"
)

// A change enables the wanted counters, and is verified by a second reading.
func TestSetOptional(t *testing.T) {
	denied := errors.New("operation not permitted")
	for _, test := range []struct {
		name   string
		wanted []string
		err    error
		ignore bool // the driver does not follow
		want   outcome.Outcome
		after  map[string]bool
	}{
		{"enable", []string{"cc_rx_ce_pkts"}, nil, false, outcome.Changed, map[string]bool{"cc_rx_ce_pkts": true, "cc_tx_cnp_pkts": false}},
		{"exchange", []string{"cc_rx_ce_pkts", "cc_tx_cnp_pkts"}, nil, false, outcome.Changed, map[string]bool{"cc_rx_ce_pkts": true, "cc_tx_cnp_pkts": true}},
		{"same", []string{"cc_tx_cnp_pkts"}, nil, false, outcome.Unneeded, map[string]bool{"cc_rx_ce_pkts": false, "cc_tx_cnp_pkts": true}},
		{"disable", nil, nil, false, outcome.Changed, map[string]bool{"cc_rx_ce_pkts": false, "cc_tx_cnp_pkts": false}},
		{"denied", nil, denied, false, outcome.Failed, map[string]bool{"cc_rx_ce_pkts": false, "cc_tx_cnp_pkts": true}},
		{"no effect", nil, nil, true, outcome.NoEffect, map[string]bool{"cc_rx_ce_pkts": false, "cc_tx_cnp_pkts": true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			kernel := map[string]bool{"cc_rx_ce_pkts": false, "cc_tx_cnp_pkts": true}
			h := Host{
				Sysfs:    t.TempDir(),
				Optional: func(uint32, uint32) (map[string]bool, error) { return maps.Clone(kernel), nil },
				EnableOptional: func(device, port uint32, names []string) error {
					if device != 3 || port != 1 {
						t.Errorf("got device %d, port %d", device, port)
					}
					if test.err != nil || test.ignore {
						return test.err
					}
					kernel = map[string]bool{"cc_rx_ce_pkts": false, "cc_tx_cnp_pkts": false}
					for _, name := range names {
						kernel[name] = true
					}
					return nil
				},
			}
			p := &PortSettings{Device: "mlx5_0", Number: 1, Optional: maps.Clone(kernel), index: new(uint32(3))}
			got, err := h.SetOptional(p, test.wanted)
			if got != test.want || got.Good() != (err == nil) || test.err != nil && !errors.Is(err, test.err) {
				t.Errorf("got %v, error %v, want %v", got, err, test.want)
			}
			if text := fmt.Sprint(err); test.ignore && text != `enable counters of mlx5_0/1: got ["cc_tx_cnp_pkts"], want []` {
				t.Errorf("got error %s", text)
			}
			if !maps.Equal(kernel, test.after) {
				t.Errorf("got %v, want %v", kernel, test.after)
			}
		})
	}
	p := &PortSettings{Device: "mlx5_0", Number: 1, Optional: map[string]bool{"cc_rx_ce_pkts": false, "cc_rx_cnp_pkts": true}}
	err := p.CheckOptional([]string{"rx_bytes"})
	if want := "enable counter rx_bytes of mlx5_0/1: optional counters: cc_rx_ce_pkts, cc_rx_cnp_pkts"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
