package saquery

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

// The C tool prints the same output; test/oracle has more cases.
func TestSaquery(t *testing.T) {
	program := cmdtest.Classic(New)
	for line, want := range map[string]struct {
		code int
		out  string
	}{
		"-L leaf1":  {0, "3\n"},
		"-O 3":      {0, "leaf1\n"},
		"-G node07": {0, "0x0002c90000100a01\n"},
		"LR 3/1":    {0, "LinkRecord dump:\n\t\tFromLID....................3\n\t\tFromPort...................1\n\t\tToPort.....................1\n\t\tToLID......................1\n"},
		"NR 0":      {22, ""},
		"NR nosuch": {64, ""},
		"PKTR 4":    {5, ""},
		"-L":        {2, ""},
		"-O 0":      {2, ""},
		"-g":        {0, "MCMemberRecord group dump:\n\t\tMGID....................ff12:401b:ffff::ffff:ffff\n\t\tMlid....................0xC000\n\t\tMtu.....................0x84\n\t\tpkey....................0xFFFF\n\t\tRate....................0x83\n\t\tSL......................0x0\n"},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"saquery"}, strings.Fields(line)...)...)
			if code != want.code || out != want.out || (code == 0) != (err == "") && out == "" {
				t.Errorf("got exit code %d and\n%q\n%swant %d and\n%q", code, out, err, want.code, want.out)
			}
		})
	}
}
