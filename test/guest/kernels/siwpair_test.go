//go:build guest

package kernels_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
)

// siwLines are perftest programs over software iWARP: writes, reads and sends.
var siwLines = []string{"ib_write_bw -n 100", "ib_read_lat -n 50", "ib_send_lat -n 50"}

// TestSIW_Pair connects two hosts over software iWARP, with ibkit at an end and the release's
// perftest at the other, and with ibkit at both. test/guest/perf has Debian 12.
func TestSIW_Pair(t *testing.T) {
	for _, r := range testenv.Cases(nil, debian.Bullseye, debian.Trixie, debian.Sid) {
		t.Run(r.Name, func(t *testing.T) {
			spec := guest.Spec{
				Release:  r,
				Devices:  []guest.Device{{Name: "rxe0", Link: guest.Wire}}, // for the network device
				Modules:  siwModules[r],
				Insert:   []string{guest.TreeModule(t, r, "drivers/infiniband/sw/siw", "CONFIG_RDMA_SIW")},
				Tools:    append([]string{"timeout"}, tools...),
				Programs: []guest.Program{guest.Ibkit},
			}
			a, b := guest.NewPair(t, spec, spec)
			ends := [2]*guest.Guest{a, b}
			for _, g := range ends {
				g.Must(t, "ibkit", "link", "delete", "rxe0", "--yes", "--log", "-")
				g.Must(t, "ibkit", "link", "add", "siw0", "--type", "siw", "--netdev", g.Ports[0].Netdev, "--yes", "--log", "-")
			}
			host := a.Ports[0].Addr.String()
			for i, line := range siwLines {
				t.Run(line, func(t *testing.T) {
					line += " -R -F -s 1024 -p PORT"
					for j, ours := range [][2]bool{{true, false}, {false, true}, {true, true}} {
						results := siwRun(t, ends, 19000+100*i+siwAttempts*j, [2]string{line, line + " " + host}, ours)
						for end, r := range results {
							if r.Code != 0 || end == 1 && !strings.Contains(r.Stdout, "\n 1024 ") {
								t.Errorf("ibkit at the ends %v, end %d: got %s", ours, end, result(r))
							}
						}
					}
				})
			}
		})
	}
}
