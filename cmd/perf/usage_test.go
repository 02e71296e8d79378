package perf

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

var program = cmdtest.Native(New)

// TestPerfUsage: what makes no sense is refused before anything is connected, by
// the name of the option.
func TestPerfUsage(t *testing.T) {
	const server = "127.0.0.1:9"
	for line, want := range map[string]string{
		"":                                   "no server given",
		"[]":                                 "no server given",
		"host:x":                             `invalid server "host:x"`,
		":18516":                             `invalid server ":18516"`,
		"--peer perftest":                    "start the program of perftest on the other host",
		"SERVER -t foo":                      `unknown --test "foo"`,
		"SERVER -t send-lat,":                `unknown --test ""`,
		"SERVER -t read --transport ud":      "--test read",
		"SERVER --transport xrc":             `want one of rc, uc, ud`,
		"SERVER -s 1-":                       `invalid --size "1-"`,
		"SERVER -s 64-2":                     `invalid --size "64-2"`,
		"SERVER -s 4 -t fetch-add-lat":       "--size) does nothing",
		"SERVER -n 0":                        "--iterations 0",
		"SERVER -D 0s":                       "--duration 0s",
		"SERVER -D 2s -n 3":                  "exclude each other",
		"SERVER -q 0":                        "--qps 0",
		"SERVER -q 4 -t lat":                 "--qps) does nothing",
		"SERVER -q 4 -t send-lat,write-lat":  "--qps) does nothing",
		"SERVER -q 3 --threads 2":            "--threads 2",
		"SERVER -b -t send-lat":              "--bidirectional) does nothing",
		"SERVER --cq-moderation 8 -t lat":    "--cq-moderation does nothing",
		"SERVER --cq-moderation 200":         "--cq-moderation 200",
		"SERVER --rx-depth 4 -t write":       "--rx-depth does nothing",
		"SERVER --inline -t read":            "--inline does nothing",
		"SERVER --events -t write-lat":       "--events) does nothing",
		"SERVER --retry 3 --transport uc":    "--retry does nothing",
		"SERVER --rate nan":                  "--rate NaN",
		"SERVER --rate 1e13":                 "--rate 1e+13",
		"SERVER -d []":                       "--device",
		"SERVER -i 0":                        "--ib-port 0",
		"SERVER -x -1":                       "--gid-index -1",
		"SERVER -m 0":                        "--mtu 0",
		"SERVER -m 1500":                     "--mtu 1500",
		"SERVER --sl 16":                     "--sl 16",
		"SERVER --flow-label 1048576":        "--flow-label 1048576",
		"SERVER --qp-timeout 32":             "--qp-timeout 32",
		"SERVER --retry 8":                   "--retry 8",
		"SERVER --rnr-retry 8":               "--rnr-retry 8",
		"SERVER --cpu 3-1":                   "--cpu",
		"SERVER --cpu 65535":                 "--cpu 65535",
		"SERVER --json --classic":            "exclude each other",
		"SERVER --json --unit mib":           "--unit does nothing",
		"SERVER --unit foo":                  "--unit",
		"SERVER --min-bw nan":                "--min-bw NaN",
		"SERVER --min-bw 1 -t send-lat":      "--min-bw does nothing",
		"SERVER --max-p99 1us -t send-bw":    "--max-p99 does nothing",
		"SERVER --plot x.jpg":                "--plot",
		"SERVER --idle 1s":                   "--idle has no effect",
		"SERVER --srq 2":                     "--srq has no effect",
		"SERVER --margin 1s -D 9s":           "--margin has no effect",
		"SERVER --peer []":                   `want one of perftest, pingpong`,
		"SERVER --peer perftest -D 4s":       "margins",
		"SERVER --peer perftest -D 9500ms":   "a part of a second",
		"SERVER --peer perftest -n 4":        "no fewer than 5",
		"SERVER --peer perftest --margin 2s": "--margin has no effect",
		"SERVER --peer perftest -t all":      "a program does one test",
		"SERVER --peer pingpong --srq 300":   "256",
		"SERVER --peer pingpong --min-bw 3":  "--min-bw does nothing",
		"--serve --allow []":                 "--allow",
		"--serve --allow 10.0.0.0/33":        "--allow",
		"--serve --listen 18516":             "--listen",
		"--serve --listen :99999":            "--listen",
		"--serve --gid-index 300":            "--gid-index 300",
		"--serve --max-time 0":               "--max-time",
		"--serve --max-memory 0":             "--max-memory",
		"--serve --json":                     "--json does nothing",
		"--serve host":                       "unexpected argument",
	} {
		args := []string{"perf"}
		for word := range strings.FieldsSeq(line) {
			switch word {
			case "SERVER":
				word = server
			case "[]": // an empty word, as of a variable that is not set
				word = ""
			}
			args = append(args, word)
		}
		code, _, stderr := program.Run(t, nil, args...)
		if code != cmdutil.ExitUsage || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, not one message with %q:\n%s", line, code, want, stderr)
		}
	}
}
