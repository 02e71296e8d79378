package smpquery

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

// The C tool prints the same output; test/oracle has more cases.
func TestSmpquery(t *testing.T) {
	program := cmdtest.Classic(New)
	for line, want := range map[string]struct {
		code int
		out  string
	}{
		"nodedesc 3":    {0, "Node Description:...........................leaf1\n"},
		"-D nd 0,1":     {0, "Node Description:...........................leaf1\n"},
		"gi 4":          {0, "   0: 0x0002c90000100301 0x0000000000000000\n   2: 0x0000000000000000 0x0000000000000000\n   4: 0x0000000000000000 0x0000000000000000\n   6: 0x0000000000000000 0x0000000000000000\n8 guids capacity for this port\n"},
		"vlarb 3":       {0, "# No VLArbitration tables (BSP0): Lid 3 port 0\n"},
		"-c nd 3 0,1":   {0, "Node Description:..........................spine1\n"},
		"-e pi 3 99":    {255, "smpquery: iberror: failed: operation pi: port info query failed\n"},
		"-t 20 ni 4000": {255, "smpquery: iberror: failed: operation ni: node info query failed\n"},
		"nosuch 3":      {255, "smpquery: iberror: failed: operation 'nosuch' not supported\n"},
		"ni 0":          {255, "smpquery: iberror: failed: can't resolve destination port 0\n"},
		"-c ni 0 1":     {255, "smpquery: iberror: failed: can't resolve destination port 0 1\n"},
		"ni":            {2, ""},
		"-h":            {2, ""},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"smpquery"}, strings.Fields(line)...)...)
			if code != want.code || out != want.out || (code == 0) != (err == "") && out == "" {
				t.Errorf("got exit code %d and\n%q\n%swant %d and\n%q", code, out, err, want.code, want.out)
			}
		})
	}
}
