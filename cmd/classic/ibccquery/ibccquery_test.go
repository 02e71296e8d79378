package ibccquery

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

// The C tool prints the same output; test/oracle has more cases.
func TestIbccquery(t *testing.T) {
	program := cmdtest.Classic(New)
	for line, want := range map[string]struct {
		code int
		out  string
	}{
		"CI 3": {0, "# CongestionInfo: Lid 3\nCongestionInfo:..................0x0001\nControlTableCap:.................0\n"},
		"SP 4": {255, "ibccquery: iberror: failed: operation SP: destination not a switch\n"},
		"CT 3": {255, "ibccquery: iberror: failed: operation CT: congestion control table query failed\n"},
		"CI 0": {255, "ibccquery: iberror: failed: can't resolve destination 0\n"},
		"CI":   {2, ""},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"ibccquery"}, strings.Fields(line)...)...)
			if code != want.code || out != want.out || (code == 0) != (err == "") && out == "" {
				t.Errorf("got exit code %d and\n%q\n%swant %d and\n%q", code, out, err, want.code, want.out)
			}
		})
	}
}
