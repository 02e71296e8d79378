package perftest

import (
	"context"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// program is all programs of perftest.
var program = cmdtest.Program(func(ctx context.Context, env *cmdutil.Env, args []string) int {
	return cmdtest.Classic(New(args[0]))(ctx, env, args)
})

// TestIbperftestUsage: the programs of perftest end with 1 whatever is wrong, and
// after their help, too.
func TestIbperftestUsage(t *testing.T) {
	for line, want := range map[string]string{
		"ib_send_lat -h":                              "start a server",
		"ib_send_lat -V":                              "Version: 6.",
		"ib_send_lat []":                              "name is empty",
		"ib_send_lat a b":                             `unexpected operand "b"`,
		"ib_send_lat -q 2":                            "invalid option -- 'q'",
		"ib_send_lat -s 0":                            "-s, --size: invalid value",
		"ib_send_lat -n 4 host":                       "-n, --iters: ",
		"ib_send_lat -c XX host":                      "-c, --connection: ",
		"ib_send_lat -m 1500 host":                    "-m, --mtu: ",
		"ib_send_lat -D 3 host":                       "margins of 2s",
		"ib_send_lat -a -D 5 host":                    "all sizes by time",
		"ib_send_bw -e -D 5 host":                     "events by time",
		"ib_send_lat --output=bandwidth host":         "--output: ",
		"ib_send_bw --output=latency host":            "--output: ",
		"ib_send_bw --retry_count 9 host":             "--retry_count: ",
		"ib_read_lat -c UC host":                      "no read by unreliable connections",
		"ib_write_bw -e host":                         "invalid option -- 'e'",
		"ib_atomic_bw -s 4 host":                      "invalid option -- 's'",
		"ib_atomic_lat --atomic_type=ADD host":        "-A, --atomic_type: ",
		"ib_write_lat -S 16 --tclass 4 host":          "-S, --sl: ",
		"ib_send_bw -w 0 host":                        "-w, --limit_bw: ",
		"ib_send_bw -x 256 -p 18515 host":             "-x, --gid-index: ",
		"ib_send_bw --pkey_index=-1 host":             "--pkey_index: ",
		"ib_send_bw --report_gbits --nonsense=3 host": "unrecognized option '--nonsense=3'",
	} {
		args := strings.Fields(line)
		for i, word := range args {
			if word == "[]" { // an empty word, as of a variable that is not set
				args[i] = ""
			}
		}
		code, out, stderr := program.Run(t, nil, args...)
		if code != cmdutil.ExitFailed || !strings.Contains(out+stderr, want) {
			t.Errorf("%s: exit code %d, without %q:\n%s%s", line, code, want, out, stderr)
		}
	}
}
