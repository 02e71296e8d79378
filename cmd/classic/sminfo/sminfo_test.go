package sminfo

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

// The C tool prints the same output; test/oracle has more cases.
func TestSminfo(t *testing.T) {
	program := cmdtest.Classic(New)
	for line, want := range map[string]struct {
		code int
		out  string
	}{
		"-t 20 4000": {255, "sminfo: iberror: failed: query\n"},
		"3":          {255, "sminfo: iberror: failed: query\n"},
		"0":          {255, "sminfo: iberror: failed: can't resolve destination port 0\n"},
		"4":          {0, "sminfo: sm lid 4 sm guid 0x2c90000100301, activity count 1 priority 0 state 3 SMINFO_MASTER\n"},
		"-p 99 4 3":  {255, "sminfo: iberror: failed: query\n"},
		"-h":         {2, ""},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"sminfo"}, strings.Fields(line)...)...)
			if code != want.code || out != want.out || (code == 0) != (err == "") && out == "" {
				t.Errorf("got exit code %d and\n%q\n%swant %d and\n%q", code, out, err, want.code, want.out)
			}
		})
	}
}
