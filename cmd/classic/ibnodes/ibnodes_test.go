package ibnodes

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

func TestIbnodes(t *testing.T) {
	file := cmdtest.WriteFile(t, "Ca\t2 \"H-0000000000100000\"\t\t# \"a b\"\nibwarn: x\nxx iberror: y\n"+
		"Switch\t4 \"S-0000000000200000\"\t\t# \"port 0 x\" base port 0 lid 1 lmc 0\nCa\nSwitch\n")
	for _, test := range []struct {
		args, out string
		code      int
	}{
		{"ibhosts " + file, "Ca\t: 0x0000000000100000 ports 2 \"a b\"\nibwarn: x\nxx iberror: y\nCa\t: 0x ports  Ca\n", 0},
		{"ibswitches " + file, "ibwarn: x\nxx iberror: y\nSwitch\t: 0x0000000000200000 ports 4  port 0 x\" base port 0 lid 1 lmc 0\nSwitch\t: 0x ports   Switch\n", 0},
		{"ibrouters " + file, "ibwarn: x\nxx iberror: y\n", 0},
		{"ibrouters --sim demo", "", 0},
		{"ibhosts /nonexistent", "", 1},
		{"ibhosts a b", "Usage: ibhosts [-h] [<topology-file> | -y mkey -C ca_name -P ca_port -t timeout_ms]\n", 255},
		{"ibswitches -t x", "ibnetdiscover: iberror: failed: Invalid timeout \"x\".  Timeout requires a positive integer value < 2147483647.", 255},
	} {
		t.Run(test.args, func(t *testing.T) {
			args := strings.Fields(test.args)
			code, out, err := cmdtest.Classic(New(args[0])).Run(t, nil, args...)
			if code != test.code || strings.TrimSuffix(out, "\n") != strings.TrimSuffix(test.out, "\n") {
				t.Errorf("got exit code %d, output\n%s\nerror output %q, want %d, output\n%s", code, out, err, test.code, test.out)
			}
		})
	}
}

// ibnodes prints ibhosts output and ibswitches output.
func TestIbnodes_Both(t *testing.T) {
	run := func(name string) string {
		code, out, err := cmdtest.Classic(New(name)).Run(t, nil, name, "--sim", "demo")
		if code != 0 || out == "" || err != "" {
			t.Fatalf("%s: got exit code %d, output %q, error output %q", name, code, out, err)
		}
		return out
	}
	if got, want := run("ibnodes"), run("ibhosts")+run("ibswitches"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
