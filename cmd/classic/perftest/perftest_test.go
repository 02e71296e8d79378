package perftest

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/ib"
)

// program runs any perftest program.
var program = cmdtest.Program(func(ctx context.Context, env *cmdutil.Env, args []string) int {
	return cmdtest.Classic(New(args[0]))(ctx, env, args)
})

// TestUsage checks that the programs exit with 1 after any usage error, and after their
// usage text.
func TestUsage(t *testing.T) {
	for line, want := range map[string]string{
		"ib_send_lat -h":                                              "start a server",
		"ib_send_lat -V":                                              "Version: 6.",
		"ib_send_lat []":                                              "name is empty",
		"ib_send_lat a b":                                             `unexpected operand "b"`,
		"ib_send_lat -q 2":                                            "invalid option -- 'q'",
		"ib_send_lat -s 0":                                            "-s, --size: invalid value",
		"ib_send_lat -s 2G host":                                      "-s, --size: invalid value",
		"ib_send_lat -s K host":                                       "-s, --size: invalid value",
		"ib_send_lat -n 4 host":                                       "-n, --iters: ",
		"ib_send_lat -c XX host":                                      "-c, --connection: ",
		"ib_send_lat -m 1500 host":                                    "-m, --mtu: ",
		"ib_send_lat -i 0 host":                                       "-i, --ib-port: ",
		"ib_send_lat -D 4 -f 2 host":                                  "margin of 2s at each end",
		"ib_send_lat -a -D 5 host":                                    "a timed test has a single size",
		"ib_send_bw -e -D 5 host":                                     "events by time",
		"ib_atomic_lat -s 4 host":                                     "atomics have 8 bytes",
		"ib_read_lat -r 2 host":                                       "-r, --rx-depth: ",
		"ib_send_lat -R -c UC host":                                   "UC: not supported by the programs with queue pairs of the connection manager",
		"ib_send_lat -R -S 3 host":                                    "service level 3: not supported with queue pairs of the connection manager",
		"ib_send_lat -R --tclass 3":                                   "traffic class 3: queue pairs of the connection manager have a type of service",
		"ib_send_lat -R --dlid 3 host":                                "LID 3 of the peer: not supported",
		"ib_send_lat -R --pkey_index 3 host":                          "P_Key index 3: not supported",
		"ib_send_lat -R --flow_label 3 host":                          "flow labels: not supported",
		"ib_send_bw -R --rate_limit 10 host":                          "rate limit by the device: not supported",
		"ib_send_lat -T 32 host":                                      "-T without -R: ",
		"ib_send_lat -z -T 32 host":                                   "-T without -R: ",
		"ib_send_lat -R -T 256 host":                                  "-T, --tos: ",
		"ib_send_bw -c DC host":                                       "connections of type DC are not supported",
		"ib_atomic_bw -c SRD host":                                    "SRD does not support atomic",
		"ib_send_bw -c SRD --use-srq host":                            "SRD does not support send with these settings",
		"ib_send_bw -c SRD -R host":                                   "-c SRD with -R or -z: ",
		"ib_send_bw -g -b host":                                       "multicast in both directions",
		"ib_send_bw -g -M 1:2 host":                                   "-M, --MGID: ",
		"ib_send_bw -g -M 1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:x host": "-M, --MGID: ",
		"ib_send_bw -g -M 0:0:0:0:0:0:0:0:0:0:255:255:10:1:2:3 host":  "use group ::ffff:10.1.2.3: not a multicast address",
		"ib_send_bw -M 0:0:0:0:0:0:0:0:0:0:255:255:239:1:2:3 host":    "-M without -g",
		"ib_send_lat -g -R host":                                      "multicast: not supported by the programs with queue pairs",
		"ib_write_lat -g host":                                        "invalid option -- 'g'",
		"ib_read_bw --write_with_imm host":                            "unrecognized option",
		"ib_send_bw --sim demo host":                                  "use a simulated fabric: it carries no data",
		"ib_read_lat --sim demo":                                      "hint: ibkit link add",
		"ib_write_bw -l 3 -n 100 host":                                "-l 3: the number of iterations, 100, is not a multiple of it",
		"ib_write_bw -l 8 -Q 3 -n 80 host":                            "-l 8: not a multiple of -Q 3",
		"ib_write_bw --burst_size 3 host":                             "--burst_size without --rate_limit",
		"ib_write_bw --rate_limit 3 host":                             "--rate_limit 3: a limit by the device is",
		"ib_write_bw --rate_limit 3 --rate_units p h":                 "--rate_units p: ",
		"ib_write_bw --rate_limit_type PP host":                       "packet pacing is not supported",
		"ib_write_bw --rate_limit_type SW host":                       "SW without --rate_limit",
		"ib_atomic_bw --rate_limit 3 --rate_limit_type SW host":       "rate of latency, atomics",
		"ib_write_bw --use_cuda_dmabuf host":                          "--use_cuda_dmabuf without --use_cuda: no GPU is selected",
		"ib_write_bw --use_cuda x host":                               `--use_cuda: invalid value "x": want the number or the PCI address`,
		"ib_write_bw --use_cuda 0 --cuda_mem_type 1 host":             "--cuda_mem_type: ",
		"ib_write_bw --use_cuda 0 --gpu_touch once host":              "only plain memory of a GPU is supported",
		"ib_send_bw --run_infinitely -a host":                         "an endless test has a single size",
		"ib_send_bw --run_infinitely -b host":                         "endless test",
		"ib_send_lat --run_infinitely host":                           "unrecognized option",
		"ib_send_bw --use-srq -r 2 -q 8 host":                         "shared receive queue with 2 receives for 8 queue pairs",
		"ib_write_lat --use-srq host":                                 "unrecognized option",
		"ib_atomic_lat --odp host":                                    "on-demand paging",
		"ib_send_lat -X 1 host":                                       "-X without -e",
		"ib_send_lat -L 3 host":                                       "-L, --hop_limit: ",
		"ib_send_lat -W ../../x host":                                 "-W, --report-counters: ",
		"ib_send_lat --force-link token host":                         "--force-link: ",
		"ib_send_lat --source_ip here host":                           "--source_ip: ",
		"ib_send_lat --flow_label 1,x host":                           "--flow_label: ",
		"ib_send_lat --pin_cores 0-x host":                            "--pin_cores: ",
		"ib_send_lat --output=bandwidth host":                         "--output: ",
		"ib_send_bw --output=latency host":                            "--output: ",
		"ib_send_bw --retry_count 9 host":                             "--retry_count: ",
		"ib_write_bw -r 2 host":                                       "-r 2: without --write_with_imm, writes need no receives",
		"ib_write_lat --write_with_imm -c XRC host":                   "immediate data over XRC: not supported",
		"ib_write_bw --write_with_imm --run_infinitely -b host":       "endless test",
		"ib_write_bw --unsolicited_write host":                        "receives without work requests (of SRD)",
		"ib_read_lat -c UC host":                                      "UC does not support read",
		"ib_write_bw -e host":                                         "invalid option -- 'e'",
		"ib_atomic_lat --atomic_type=ADD host":                        "-A, --atomic_type: ",
		"ib_write_lat -S 16 --tclass 4 host":                          "-S, --sl: ",
		"ib_send_bw -w -1 host":                                       "-w, --limit_bw: ",
		"ib_send_lat -l 2 host":                                       "-l, --post_list: ",
		"ib_send_lat --recv_post_list 2 host":                         "--recv_post_list: ",
		"ib_send_bw --latency_gap 3 host":                             "--latency_gap: ",
		"ib_send_lat --rate_limit 3 --rate_limit_type SW host":        "rate of latency",
		"ib_send_bw -x 256 -p 18515 host":                             "-x, --gid-index: ",
		"ib_send_bw --pkey_index=-1 host":                             "--pkey_index: ",
		"ib_send_bw --report_gbits --nonsense=3 host":                 "unrecognized option '--nonsense=3'",
		"ib_send_bw -d none 127.0.0.1":                                "no RDMA device of this name",
		"ib_send_bw -d none":                                          "no RDMA device of this name",
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			for i, word := range args {
				if word == "[]" { // an empty word, such as an unset variable
					args[i] = ""
				}
			}
			code, out, stderr := program.Run(t, nil, args...)
			if code != cmdutil.ExitFailed || !strings.Contains(out+stderr, want) {
				t.Errorf("got exit code %d and output %q, want %d and %q", code, out+stderr, cmdutil.ExitFailed, want)
			}
			if strings.Contains(out, "Waiting for client") {
				t.Errorf("got a server that waits, want an early error:\n%s", out)
			}
		})
	}
}

// TestOptions checks the settings that command lines result in.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		line string
		get  func(*command) any
		want any
	}{
		{"ib_send_bw", "-s 64K", func(c *command) any { return c.test.Sizes[0] }, 65536},
		{"ib_send_bw", "-s 1M", func(c *command) any { return c.test.Sizes[0] }, 1 << 20},
		{"ib_send_bw", "-s 0x40", func(c *command) any { return c.test.Sizes[0] }, 64},
		{"ib_send_bw", "-D 2", func(c *command) any { return c.test.Margin }, time.Duration(0)},
		{"ib_send_bw", "-D 4", func(c *command) any { return c.test.Margin }, time.Second},
		{"ib_send_bw", "-D 10", func(c *command) any { return c.test.Margin }, 2 * time.Second},
		{"ib_send_bw", "-D 20 -f 2", func(c *command) any { return c.test.Margin }, 2 * time.Second},
		{"ib_read_bw", "-e", func(c *command) any { return c.test.Events }, true},
		{"ib_atomic_lat", "-e", func(c *command) any { return c.test.Events }, true},
		{"ib_read_lat", "-e", func(c *command) any { return c.test.Events }, true},
		{"ib_write_lat", "-t 64 -Q 4 --report_gbits -w 3 -y 1", func(c *command) any { return c.test.TxDepth }, 64},
		{"ib_write_bw", "-s 64 --rate_limit 2 --rate_units M --rate_limit_type SW", func(c *command) any { return c.test.ByteRate }, 2.0 * (1 << 20)},
		{"ib_write_bw", "--rate_limit 8 --rate_limit_type SW", func(c *command) any { return c.test.ByteRate }, 1e9},
		{"ib_write_bw", "--rate_limit 50 --rate_units p --rate_limit_type SW --burst_size 7", func(c *command) any { return [2]any{c.test.Rate, c.test.Burst} }, [2]any{50.0, 7}},
		{"ib_write_bw", "--rate_limit 8 --rate_limit_type SW", func(c *command) any { return c.test.Burst }, 128},
		{"ib_write_bw", "--rate_limit 2.5", func(c *command) any { return c.test.StaticRate }, ib.Rate2p5},
		{"ib_send_bw", "--run_infinitely", func(c *command) any { return [2]any{c.test.Timed, c.test.Duration} }, [2]any{false, 5 * time.Second}},
		{"ib_send_bw", "--run_infinitely -D 2", func(c *command) any { return [2]any{c.test.Timed, c.test.Duration} }, [2]any{false, 2 * time.Second}},
		{"ib_send_bw", "-D 9 --cpu_util", func(c *command) any { return c.test.CPUUtil }, true},
		{"ib_send_bw", "--cpu_util", func(c *command) any { return c.test.CPUUtil }, false},
		{"ib_send_bw", "-l 8 -n 80", func(c *command) any { return c.test.Moderate(65536) }, 1},
		{"ib_send_bw", "-l 8 -Q 4 -n 80", func(c *command) any { return c.test.Moderate(65536) }, 4},
		{"ib_send_lat", "--latency_gap 20", func(c *command) any { return c.test.Gap }, 20 * time.Microsecond},
		{"ib_send_lat", "--report-histogrm", func(c *command) any { return c.test.Keep }, true},
		{"ib_send_lat", "--flow_label 1,0x10", func(c *command) any { return len(c.test.FlowLabels) }, 2},
		{"ib_send_bw", "--reversed", func(c *command) any { return c.leads() }, true},
		{"ib_atomic_bw", "-s 8 -r 1", func(c *command) any { return c.test.Sizes[0] }, 8},
		{"ib_send_bw", "-w 3 -w 0", func(c *command) any { return c.minRate }, 0.0},
		{"ib_send_lat", "-l 1 --recv_post_list 1", func(c *command) any { return c.test.List }, 1},
		{"ib_write_lat", "--rate_limit 5000 --rate_units M --rate_limit 10 --rate_units g", func(c *command) any { return c.test.StaticRate }, ib.Rate10},
		{"ib_send_bw", "-n 51", func(c *command) any { return c.test.RxDepth }, 52},
		{"ib_send_bw", "-n 50", func(c *command) any { return c.test.RxDepth }, 50},
		{"ib_send_bw", "-n 50 -c UC", func(c *command) any { return c.test.RxDepth }, 50},
		{"ib_send_bw", "-n 5000 -c UC", func(c *command) any { return c.test.RxDepth }, 5000},
	} {
		t.Run(c.name+" "+c.line, func(t *testing.T) {
			var command *command
			env := &cmdutil.Env{Out: io.Discard, ErrOut: io.Discard}
			for _, order := range orders() {
				if order.Program() == c.name {
					command = newCommand(env, c.name, order)
				}
			}
			tool := &getopt.Tool{Name: c.name, Family: family, Options: command.options(), Run: func(context.Context, []string) error { return command.complete() }}
			if err := tool.Execute(t.Context(), env, append(strings.Fields(c.line), "host")); err != nil {
				t.Fatal(err)
			}
			if got := c.get(command); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
