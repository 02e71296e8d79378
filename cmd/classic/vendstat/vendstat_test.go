package vendstat

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

// The C tool prints the same output; test/oracle has more cases. In the
// demo, leaf1 has LID 3.
func TestVendstat(t *testing.T) {
	program := cmdtest.Classic(New)
	for _, tt := range []struct {
		line, sim string
		code      int
		out, err  string
	}{
		{"-N 3", "demo:vendor=on", 0, "fw_psid:     'SIM_0000054002'\n", ""},
		{"-w 3", "demo:vendor=on", 255, "vendstat: iberror: failed: Unsupported device ID 0xd2f2\n", ""},
		{"-i 3 1", "demo:vendor=on", 0, "counter_group_info:\n2 counter groups\ngroup0 mask 0x7\ngroup1 mask 0x106\n", ""},
		{"-c 2,8 3 1", "demo:vendor=on", 0, "counter_groups_config: configuring group0 2 group1 8\n", ""},
		{"-R f0014,ff -R 10 3", "demo:vendor=on", 0, "Config space record at 0xf0014: 0x57\nConfig space record at 0x10: 0x0\n", ""},
		{"-W 10,0x1234,ff 3", "demo:vendor=on", 0, "Config space record at 0x10: 0x34\n", ""},
		{"-N -t 5 3", "demo:vendor=off", 255, "vendstat: iberror: failed: classportinfo query\n", "mad_rpc_rmpp: _do_madrpc failed; dport (Lid 3)\nvendstat: method 1, attribute 1 failure\n"},
		{"-i -t 5 3", "demo:vendor=off", 0, "", "vendstat: method 1, attribute 144 failure\ncounter group info query failure\n"},
		{"-W 10,1 -t 5 3", "demo:vendor=off", 0, "", "vendstat: method 2, attribute 80 failure\ncannot set config space records\n"},
		{"3", "demo", 255, "vendstat: iberror: failed: at least one of -N and -w must be specified\n", ""},
		{"-c 1 3", "demo", 2, "", "Usage: vendstat [options] <lid|guid> [port]\n"},
		{"-W 1 3", "demo", 2, "", "Usage: vendstat [options] <lid|guid> [port]\n"},
		{"-N 0", "demo", 255, "vendstat: iberror: failed: can't resolve destination port 0\n", ""},
	} {
		t.Run(tt.line+" of "+tt.sim, func(t *testing.T) {
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": tt.sim}, append([]string{"vendstat"}, strings.Fields(tt.line)...)...)
			if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(err, tt.err) {
				t.Errorf("got exit code %d and\n%s%swant %d and\n%s%s", code, out, err, tt.code, tt.out, tt.err)
			}
		})
	}
}
