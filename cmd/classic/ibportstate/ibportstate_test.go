package ibportstate

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

// The C tool prints the same output; test/oracle has more cases. These are the cases in
// which ibkit differs.
func TestIbportstate(t *testing.T) {
	program := cmdtest.Classic(New)
	for line, test := range map[string]struct {
		code      int
		out, warn string // output parts
	}{
		"xdr-leaf 3":                    {0, "LinkSpeedExtEnabled2:............212.5 Gbps\nLinkSpeedExtActive2:.............212.5 Gbps\nPeer PortInfo:", ""},
		"hdr-leaf 3":                    {0, "LinkSpeedExtActive:..............53.125 Gbps\nLinkSpeedExtSupported2:..........0\nLinkSpeedExtEnabled2:............0\nLinkSpeedExtActive2:.............No Extended Speed 2\n", ""},
		"xdr-leaf 3 espeed 40":          {0, "LinkSpeedExtEnabled:.............106.25 Gbps\nLinkSpeedExtActive:..............No Extended Speed\n", ""},
		"xdr-leaf 3 espeed 32":          {0, "After PortInfo set:", ""},
		"xdr-leaf 3 espeed 64":          {255, "failed: invalid extended speed value 64\n", ""},
		"hdr-leaf 3 espeed 32":          {255, "failed: smp set portinfo failed\n", ""},
		"hdr-leaf 3 mkeyprot 1":         {255, "failed: Can't set M_Key fields on switch port != 0\n", ""},
		"hdr-leaf 0 mkey secret":        {255, "", "read New M_Key: no terminal for a prompt"},
		"hdr-leaf 3 disable":            {0, "PhysLinkState:...................Disabled\n", ""},
		"hdr-leaf 3 on":                 {0, "Port is already in enable state\n", ""},
		"fdr10-leaf 1 fdr10 0":          {0, "After MLNXExtendedPortInfo set:\n# MLNX ext Port info: Lid 12 port 1\nStateChangeEnable:...............0x00\nLinkSpeedSupported:..............0x01\nLinkSpeedEnabled:................0x00\n", ""},
		"hdr-leaf 3 espeed 2 width 300": {255, "failed: invalid width value 300\n", ""},
	} {
		t.Run(line, func(t *testing.T) {
			args := append([]string{"ibportstate"}, strings.Fields(line)...)
			args[1] = map[string]string{"xdr-leaf": "27", "hdr-leaf": "21", "fdr10-leaf": "12"}[args[1]]
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "mixed"}, args...)
			if code != test.code || !strings.Contains(out, test.out) || !strings.Contains(err, test.warn) || test.warn == "" && err != "" {
				t.Errorf("got exit code %d, want %d\n%s%s", code, test.code, out, err)
			}
		})
	}
}
