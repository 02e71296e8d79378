package iblinkinfo

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var program = cmdtest.Classic(New)

func TestIblinkinfo_Views(t *testing.T) {
	for name, args := range map[string][]string{
		"classic":      {"iblinkinfo", "--sim", "demo"},
		"classic-line": {"iblinkinfo", "--sim=demo", "-lp", "--cas"},
		// A port at QDR needs another request before its peer is found.
		"fdr10": {"iblinkinfo", "--sim", "../../../test/nets/fdr10.net"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, err := program.Run(t, nil, args...)
			if code != 0 || err != "" {
				t.Errorf("got exit code %d, error output %q", code, err)
			}
			cmdtest.Golden(t, name+".golden", out)
		})
	}
}

// TestIblinkinfo_Adapter has lines that release 65 prints for the local adapter.
func TestIblinkinfo_Adapter(t *testing.T) {
	for net, want := range map[string]string{
		"multi-port-hosts": `      0x0000000000100002      2    2[  ] ==( 4X           2.5 Gbps Active/  LinkUp)==>      10    2[  ] "rail-1"`,
		"chassis":          `      0x0000000000100001      1    1[  ] ==( 4X           2.5 Gbps Active/  LinkUp)==>       2   13[ 6] "ISR9288 line 1"`,
	} {
		t.Run(net, func(t *testing.T) {
			code, out, err := program.Run(t, nil, "iblinkinfo", "--sim", "../../../test/nets/"+net+".net", "-D", "0")
			if code != 0 || err != "" || !strings.Contains(out, want) || strings.Count(out, "CA: ") != 1 {
				t.Errorf("got exit code %d, error output %q, want %s in\n%s", code, err, want, out)
			}
		})
	}
}

// The C tool accepts values that it cannot parse, and most failures exit with 1.
func TestIblinkinfo_Arguments(t *testing.T) {
	names := cmdtest.WriteFile(t, "0x0002c90000100300 \"renamed\"\nbad\n")
	_, all, _ := program.Run(t, nil, "iblinkinfo", "--sim", "demo")
	_, local, _ := program.Run(t, nil, "iblinkinfo", "--sim", "demo", "-D", "0")
	for _, test := range []struct {
		args, out, err string
		code           int
	}{
		{"word 7", all, "", 0},
		{"-n x", all, "", 0},
		{"-n -1 -o 0", all, "", 0},
		{"--node-name-map /nonexistent", all, "warning: read node name map", 0},
		{"--node-name-map " + names, all, ":2:", 0},
		{"-D 7", local, "", 0}, // the first element is the local node
		{"-G 1234567", "", "Failed to find port: 1234567", 0},
		{"-G zz", "", "Failed to find port: zz", 0},
		{"-S 798050208219905", "", "Failed to find port: 798050208219905", 0},
		{"-G 0x2c90000100301", local, "", 0},
		{"-G 783951791653633", local, "", 0},
		{"--switches-only -D 0", "", "Failed to find port: 0", 0},
		{"-D 0,x", "", "", 1},
		{"-D 0 --load-cache x", "", "Cannot specify cache and direct route path", 1},
		{"-P 300", "", "Failed to open (null) port 300", 1},
		{"-C mlx5_0", "", "Failed to open mlx5_0 port 0", 1},
		{"--load-cache /nonexistent", "", "no such file", 1},
		{"-t x", "iblinkinfo: iberror: failed: Invalid timeout \"x\".  Timeout requires a positive integer value < 2147483647.\n", "", 255},
		{"--diff /nonexistent", "iblinkinfo: iberror: failed: loading cached fabric for diff failed\n\n", "", 255},
		{"--filterdownports /nonexistent", "iblinkinfo: iberror: failed: loading cached fabric for filterdownports failed\n\n", "", 255},
		{"-h", "", "Usage: iblinkinfo [options]", 2},
		{"-q", "", "iblinkinfo: invalid option -- 'q'", 2},
		{"--sw", "", "iblinkinfo: option '--sw' is ambiguous; possibilities: '--switch' '--switches-only'", 2},
		{"--si demo", "", "unrecognized option '--si'", 2},
		{"--diffcheck foo", "", "invalid diff check key", 2},
		{"-V", "", "iblinkinfo BUILD VERSION: ", 0},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"iblinkinfo"}, strings.Fields(test.args)...)...)
			if code != test.code || out != test.out || !strings.Contains(err, test.err) {
				t.Errorf("got exit code %d, output\n%s\nerror output %q, want %d, output\n%s\nerror output with %q", code, out, err, test.code, test.out, test.err)
			}
		})
	}
}
