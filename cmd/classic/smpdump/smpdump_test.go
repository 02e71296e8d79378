package smpdump

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

// The C tool prints the same output; test/oracle has more cases.
func TestSmpdump(t *testing.T) {
	program := cmdtest.Classic(New)
	for line, want := range map[string]struct {
		code int
		out  string
	}{
		"3 16":          {0, "6c65 6166 3100 0000 0000 0000 0000 0000\n0000 0000 0000 0000 0000 0000 0000 0000\n0000 0000 0000 0000 0000 0000 0000 0000\n0000 0000 0000 0000 0000 0000 0000 0000\n"},
		"-s -D 0,1 16":  {0, "leaf1\nSMP status: 0x8000\n"},
		"3 0x9999":      {0, "0000 0000 0000 0000 0000 0000 0000 0000\n0000 0000 0000 0000 0000 0000 0000 0000\n0000 0000 0000 0000 0000 0000 0000 0000\n0000 0000 0000 0000 0000 0000 0000 0000\nSMP status: 0xc\n"},
		"-t 20 4000 16": {255, ""},
		"0 16":          {255, ""},
		"3":             {2, ""},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"smpdump"}, strings.Fields(line)...)...)
			if code != want.code || out != want.out || (code == 0) != (err == "") && out == "" {
				t.Errorf("got exit code %d and\n%q\n%swant %d and\n%q", code, out, err, want.code, want.out)
			}
		})
	}
}
