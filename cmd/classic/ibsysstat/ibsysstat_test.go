package ibsysstat

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/internal/hostname"
)

// The C tool prints the same output; test/oracle has more cases.
func TestIbsysstat(t *testing.T) {
	program := cmdtest.Classic(New)
	f := cmdtest.ServeDemo(t)
	server := program.Start(f.Env("node05"), "ibsysstat", "-S", "-d")
	server.Out.Await(t, "ibsystat_serv: starting to serve...")
	for _, test := range []struct {
		args string
		code int
		want string // output prefix
	}{
		{"LID", 0, "sysstat ping succeeded\n"},
		{"LID ping", 0, "sysstat ping succeeded\n"},
		{"LID host", 0, hostname.WithDomain() + "\n"},
		{"LID cpu", 0, "cpu 0: model "},
		{"-o 9 -t 5 LID", 255, "ibsysstat: iberror: failed: ibsystat to Lid LID: Connection timed out\n"},
		{"-t 5 49000 host", 255, "ibsysstat: iberror: failed: ibsystat to Lid 49000: Connection timed out\n"},
		{"0", 255, "ibsysstat: iberror: failed: can't resolve destination port 0\n"},
		{"LID nosuch", 2, ""},
		{"-D 0,1", 2, ""},
		{"", 2, ""},
	} {
		t.Run(test.args, func(t *testing.T) {
			lid := f.LIDs["node05"]
			args := strings.Fields(strings.ReplaceAll(test.args, "LID", lid))
			code, out, stderr := program.Run(t, f.Env("node07"), append([]string{"ibsysstat"}, args...)...)
			if code != test.code || !strings.HasPrefix(out, strings.ReplaceAll(test.want, "LID", lid)) || code == 2 && out != "" {
				t.Errorf("got exit code %d, output %q, error output %q, want %d and %q", code, out, stderr, test.code, test.want)
			}
		})
	}
	if code := server.End(); code != 0 {
		t.Errorf("server: got exit code %d: %s", code, server.ErrOut)
	}
}
