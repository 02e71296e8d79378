//go:build guest

package perf_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// immLines are perftest command lines with immediate data, which perftest 4.5 does not have.
var immLines = []string{
	"ib_write_bw --write_with_imm -n 200 -s 4096", "ib_write_bw --write_with_imm -a -n 20", "ib_write_bw --write_with_imm -b -q 2 -n 100 -r 64",
	"ib_write_bw --write_with_imm -b -a -n 20", "ib_write_bw --write_with_imm -D 2 -b", "ib_write_bw --write_with_imm -c UC -n 100 -l 4",
	"ib_write_lat --write_with_imm -n 100", "ib_write_lat --write_with_imm -n 50 -s 5000 -c UC",
	"ib_write_lat --write_with_imm -D 2", "ib_write_lat --write_with_imm -n 100 --reversed",
}

// TestWriteImm runs writes with immediate data, with ibkit at both ends.
func TestWriteImm(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Programs: []guest.Program{guest.Ibkit},
	})
	for i, line := range immLines {
		t.Run(line, func(t *testing.T) {
			c := classicLine{g: g, args: append(strings.Fields(line), "-F", "-x", "1"), tcp: 18900 + 2*i, peer: []string{"ibkit"}}
			server, client := c.run(t, false)
			for _, out := range []string{server, client} {
				if !strings.Contains(out, "RDMA_Write_imm ") || len(rows.FindAllString(out, -1)) == 0 {
					t.Errorf("got no results in\n%s", out)
				}
			}
		})
	}
}
