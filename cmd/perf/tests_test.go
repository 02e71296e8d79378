package perf

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// testsOf returns the tests of a command line.
func testsOf(t *testing.T, line string) []perf.Test {
	t.Helper()
	c := &command{env: &cmdutil.Env{Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}}}
	cmd := &cobra.Command{}
	c.define(cmd)
	flags := cmd.Flags()
	if err := flags.Parse(strings.Fields(line)); err != nil {
		t.Fatal(err)
	}
	all, err := c.flags.all(flags)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTests checks the tests of command lines and the scopes of options.
func TestTests(t *testing.T) {
	for line, want := range map[string]string{
		"":                   "send lat 2, send bw 65536",
		"--test bw -s 64,4K": "send bw 64, send bw 4096, write bw 64, write bw 4096, read bw 64, read bw 4096, fetch-add bw 8, compare-swap bw 8",
		"--test write-bw -s 64,1K --rate-limit 8gbit":                       "write bw 64 r=1.5625e+07, write bw 1024 r=976562.5",
		"--test write-bw -s 64 --rate-limit 1mib --burst 4":                 "write bw 64 r=16384",
		"--test read-lat -s 1-4":                                            "read lat 1, read lat 2, read lat 4",
		"--test read-lat -s 3-9":                                            "read lat 3, read lat 4, read lat 8, read lat 9",
		"--test all --transport uc":                                         "send lat 2, send bw 65536, write lat 2, write bw 65536",
		"--test all --transport ud":                                         "send lat 2, send bw 1024",
		"--test send-bw --transport srd -s sweep":                           "send bw 2, send bw 4, send bw 8, send bw 16, send bw 32, send bw 64, send bw 128, send bw 256, send bw 512, send bw 1024, send bw 2048, send bw 4096, send bw 8192",
		"--test all --transport srd":                                        "send lat 2, send bw 1024, write lat 2, write bw 65536, read lat 2, read bw 65536",
		"--test send --qps 2 -b --threads 2 --post-list 4 --rate-limit 1e9": "send lat 2, send bw 65536 q=2 b t=2 l=4 r=1e+09",
		"--test send,read-bw --inline -s 64":                                "send lat 64 i, send bw 64 i, read bw 64",
		"--test write --events":                                             "write lat 2, write bw 65536 e",
	} {
		t.Run(line, func(t *testing.T) {
			var got []string
			for _, one := range testsOf(t, line) {
				text := fmt.Sprintf("%s %s %d", one.Op, one.Kind, one.Size)
				for _, o := range []struct {
					on   bool
					text string
				}{
					{one.QueuePairs > 1, fmt.Sprintf(" q=%d", one.QueuePairs)}, {one.Bidirectional, " b"}, {one.Threads > 1, fmt.Sprintf(" t=%d", one.Threads)},
					{one.List > 1, fmt.Sprintf(" l=%d", one.List)}, {one.Rate > 0, fmt.Sprintf(" r=%v", one.Rate)}, {one.Inline, " i"}, {one.Events, " e"},
				} {
					if o.on {
						text += o.text
					}
				}
				got = append(got, text)
			}
			if d := cmp.Diff(want, strings.Join(got, ", ")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// checkNumbers compares a number of a test with those wanted for command lines.
func checkNumbers(t *testing.T, name string, number func(perf.Test) int, want map[string]int) {
	t.Helper()
	for line, n := range want {
		t.Run(line, func(t *testing.T) {
			one := testsOf(t, "--test "+name+" "+line)[0]
			if err := one.Check(); err != nil || number(one) != n {
				t.Errorf("got %d, error %v, want %d", number(one), err, n)
			}
		})
	}
}

// TestDepth checks that few large messages are in flight by default.
func TestDepth(t *testing.T) {
	checkNumbers(t, "send-bw", func(one perf.Test) int { return one.Depth }, map[string]int{
		"-s 128K":                  128,
		"-s 1M":                    16,
		"-s 1G":                    2,
		"-s 1M --tx-depth 128":     128,
		"-s 8M --post-list 8":      8,
		"-s 8M --cq-moderation 20": 20,
		"-s 64 --cq-moderation 64": 128,
	})
}

// TestWarmup checks that the default warm-up is a small part of a test.
func TestWarmup(t *testing.T) {
	checkNumbers(t, "send-lat", func(one perf.Test) int { return int(one.Warmup) }, map[string]int{
		"":                  100,
		"-n 1000000":        100,
		"-n 32":             4,
		"-n 1":              1,
		"-n 1 --warmup 100": 100,
		"--warmup 0":        0,
		"-D 1s":             0,
	})
}

// TestSameTable checks that all sizes of a test are in one table.
func TestSameTable(t *testing.T) {
	all := testsOf(t, "--test bw -s 64,64K,8M")
	for i := range all[:3] {
		if !sameTable(all[0], all[i]) || sameTable(all[i], all[3]) {
			t.Errorf("got %v outside the table of %v, or inside that of %v", all[i], all[0], all[3])
		}
	}
}

// TestModeration checks that slow messages have a completion each by default.
func TestModeration(t *testing.T) {
	checkNumbers(t, "send-bw", func(one perf.Test) int { return one.Moderation }, map[string]int{
		"-s 64":                           32,
		"-s 64 --tx-depth 4":              4,
		"-s 64K":                          8,
		"-s 1M":                           1,
		"-s 1M --cq-moderation 16":        16,
		"-s 64 --rate-limit 100":          1,
		"-s 64 --rate-limit 2000 --qps 4": 5,
		"-s 64 --rate-limit 100 --cq-moderation 9": 9,
	})
}
