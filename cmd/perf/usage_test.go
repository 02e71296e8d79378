package perf

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

var program = cmdtest.Native(New)

// TestUsage checks that an invalid command line is rejected before any connection, in
// one line with the name of the option.
func TestUsage(t *testing.T) {
	const server = "127.0.0.1:9"
	for line, want := range map[string]string{
		"":                                  "no server given",
		"[]":                                "no server given",
		"host:x":                            `invalid server "host:x"`,
		":18516":                            `invalid server ":18516"`,
		"--peer perftest":                   "start the program of perftest on the other host",
		"SERVER --test foo":                 `invalid --test "foo"`,
		"SERVER --test send-lat,":           `invalid --test "send-lat,": ""`,
		"SERVER --test read --transport ud": "--test read",
		"SERVER --transport dc":             `want one of rc, uc, ud`,
		"SERVER -s 1-":                      `invalid --size "1-"`,
		"SERVER -s 64-2":                    `invalid --size "64-2"`,
		"SERVER -s 4 --test fetch-add-lat":  "--size) has no effect",
		"SERVER -n 0":                       "--iterations 0",
		"SERVER -D 0s":                      "--duration 0s",
		"SERVER -D 2s -n 3":                 "are mutually exclusive",
		"SERVER --qps 0":                    "--qps 0",
		"SERVER --qps 4 --test lat":         "--qps has no effect",
		"SERVER --qps 4 --test send-lat,write-lat":           "--qps has no effect",
		"SERVER --qps 3 --threads 2":                         "--qps 3: want a multiple of threads 2",
		"SERVER -b --test send-lat":                          "--bidirectional) has no effect",
		"SERVER --cq-moderation 8 --test lat":                "--cq-moderation has no effect",
		"SERVER --cq-moderation 200":                         "--cq-moderation 200",
		"SERVER --rx-depth 4 --test write":                   "--rx-depth has no effect",
		"SERVER --inline --test read":                        "--inline has no effect",
		"SERVER --events --test write-lat":                   "--events has no effect",
		"SERVER --retry 3 --transport uc":                    "--retry has no effect",
		"SERVER --rate-limit nan":                            "--rate-limit \"nan\"",
		"SERVER --rate-limit 1e13":                           "--rate-limit 1e+13",
		"SERVER -d []":                                       "--device",
		"SERVER --ib-port 0":                                 "--ib-port 0",
		"SERVER -x -1":                                       "--gid-index -1",
		"SERVER --mtu 0":                                     `--mtu "0": want one of`,
		"SERVER --mtu 1500":                                  `--mtu "1500": want one of`,
		"SERVER --sl 16":                                     "--sl 16",
		"SERVER --flow-label 1048576":                        "--flow-label 1048576",
		"SERVER --qp-timeout 32":                             "--qp-timeout 32",
		"SERVER --retry 8":                                   "--retry 8",
		"SERVER --rnr-retry 8":                               "--rnr-retry 8",
		"SERVER --memory gpu":                                `invalid --memory "gpu": want host, cuda:N, or dmabuf:PATH`,
		"SERVER --memory cuda:x":                             `invalid --memory "cuda:x"`,
		"SERVER --memory dmabuf:udmabuf":                     `invalid --memory "dmabuf:udmabuf"`,
		"SERVER --peer pingpong --memory cuda:0":             "--memory has no effect with --peer pingpong",
		"--serve --memory []":                                "invalid --memory: the value is empty",
		"SERVER --cpu 3-1":                                   "--cpu",
		"SERVER --cpu 65535":                                 "this process may not use CPU 65535",
		"SERVER --relaxed-ordering --test lat":               "--relaxed-ordering has no effect",
		"SERVER --relaxed-ordering --verify --test write-bw": "--relaxed-ordering: the payload of a write",
		"--self-test rxe0 rxe1":                              `unexpected argument "rxe1"`,
		"--self-test -d rxe0 rxe1":                           `--device selects the device`,
		"--self-test -n 5":                                   "--iterations) has no effect with --self-test",
		"--self-test --serve":                                "--serve has no effect with --self-test",
		"--self-test --ib-port 0":                            "--ib-port 0",
		"SERVER --json --classic":                            "are mutually exclusive",
		"SERVER --json --unit mib":                           "--unit has no effect",
		"SERVER --unit foo":                                  "--unit",
		"SERVER --min-bw nan":                                "--min-bw NaN",
		"SERVER --min-bw 1 --test send-lat":                  "--min-bw has no effect",
		"SERVER --max-p99 1us --test send-bw":                "--max-p99 has no effect",
		"SERVER --plot x.jpg":                                "--plot",
		"SERVER --idle 1s":                                   "without --serve",
		"SERVER --srq 2":                                     "without --peer",
		"SERVER --margin 1s -D 9s":                           "without --peer",
		"SERVER --peer []":                                   `want one of perftest, pingpong`,
		"SERVER --peer perftest -D 4s --margin 2s":           "margin of 2s at each end",
		"SERVER --peer perftest -D 9500ms":                   "--duration 9.5s: want whole seconds",
		"SERVER --peer perftest -n 4":                        "below the minimum of 5",
		"SERVER --peer perftest --margin 2s":                 "without -D",
		"SERVER --peer perftest --test all":                  "a program runs a single test",
		"SERVER --peer pingpong --srq 300":                   "255",
		"SERVER --peer pingpong --min-bw 3":                  "--min-bw has no effect",
		"--serve --allow []":                                 "--allow",
		"--serve --allow 10.0.0.0/33":                        "--allow",
		"--serve --bind 18516":                               "--bind",
		"--serve --bind :99999":                              "--bind",
		"--serve --gid-index 300":                            "--gid-index 300",
		"--serve --max-time 0":                               "--max-time",
		"--serve --max-memory 0":                             "--max-memory",
		"--serve --json":                                     "--json has no effect",
		"--serve host":                                       "unexpected argument",
	} {
		t.Run(line, func(t *testing.T) {
			args := []string{"perf"}
			for word := range strings.FieldsSeq(line) {
				switch word {
				case "SERVER":
					word = server
				case "[]": // an empty word, such as an unset variable
					word = ""
				}
				args = append(args, word)
			}
			code, _, stderr := program.Run(t, nil, args...)
			if code != cmdutil.ExitUsage || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1+strings.Count(stderr, "\nhint: ") {
				t.Errorf("got exit code %d and message %q, want %d and one line with %q", code, stderr, cmdutil.ExitUsage, want)
			}
		})
	}
}
