package ibping

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

var program = cmdtest.Classic(New)

var pingTime = regexp.MustCompile(`\d+\.\d{3}|time \d+ ms`)

// The C tool prints the same output, and loss is not a failure.
func TestIbping(t *testing.T) {
	f := cmdtest.ServeDemo(t)
	r := program.Start(f.Env("node05"), "ibping", "-S", "-d")
	r.Out.Await(t, "ibping_serv: starting to serve...")
	lid := f.LIDs["node05"]
	name := ""
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"-c 1 LID", 0, "Pong from NAME (Lid LID): time T ms\n\n--- NAME (Lid LID) ibping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, T\nrtt min/avg/max = T/T/T ms\n"},
		{"-fc7 LID", 0, "\n--- NAME (Lid LID) ibping statistics ---\n7 packets transmitted, 7 received, 0% packet loss, T\nrtt min/avg/max = T/T/T ms\n"},
		{"-f -c 2 49000", 0, "\n---  (Lid 49000) ibping statistics ---\n2 packets transmitted, 0 received, 100% packet loss, T\nrtt min/avg/max = T/T/T ms\n"},
		{"-f -c 1 -t 5 -o 9 LID", 0, "\n---  (Lid LID) ibping statistics ---\n1 packets transmitted, 0 received, 100% packet loss, T\nrtt min/avg/max = T/T/T ms\n"},
		{"-c 0 LID", 0, "\n---  (Lid LID) ibping statistics ---\n0 packets transmitted, 0 received, 0% packet loss, T\nrtt min/avg/max = T/T/T ms\n"},
		{"0xc000", 255, "ibping: iberror: failed: can't resolve destination port 0xc000\n"},
		{"-t -5 LID", 255, "ibping: iberror: failed: Invalid timeout \"-5\".  Timeout requires a positive integer value < 2147483647.\n"},
		{"-G 0x1", 255, "ibping: iberror: failed: can't resolve destination port 0x1\n"},
		{"-D 0,1", 2, ""},
		{"-K LID", 2, ""},
		{"", 2, ""},
		{"-h", 2, ""},
		{"-V", 0, ""},
	} {
		t.Run(test.args, func(t *testing.T) {
			args := strings.Fields(strings.ReplaceAll(test.args, "LID", lid))
			code, out, err := program.Run(t, f.Env("node07"), append([]string{"ibping"}, args...)...)
			if m := regexp.MustCompile(`--- (\S+) \(`).FindStringSubmatch(out); name == "" && m != nil {
				name = m[1]
			}
			got := pingTime.ReplaceAllString(out, "T")
			want := strings.NewReplacer("NAME", name, "LID", lid).Replace(test.want)
			if code != test.code || got != want || code != 0 && out+err == "" {
				t.Errorf("got exit code %d, want %d; got output\n%q, want\n%q\n%s", code, test.code, got, want, err)
			}
		})
	}
	if code := r.End(); code != cmdutil.ExitOK {
		t.Errorf("got exit code %d of the server, want 0: %s", code, r.ErrOut)
	}
}
