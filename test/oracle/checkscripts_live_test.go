//go:build oracle

package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// watchLines are ibswportwatch command lines, each for another switch port. The counters
// change while it waits.
var watchLines = []string{
	"-p 4 -n 1 {lid} 1", "-v -p 4 -n 1 {lid} 2", "-b -p 4 -n 1 {lid} 3", "-bvG -p 4 -n 1 {guid} 4", "-n 0 {lid} 5",
	"-h", "-x", "-p", "-n 1 {lid} 99",
}

// watchRates are the ibswportwatch lines that vary in order.
var watchRates = regexp.MustCompile(`(?m)(^(Detected .*|.*/second)\n)+`)

// TestIbswportwatch compares with the recorded output of the rdma-core 44 script, which
// Debian's package does not have, while its module IBswcountlimits.pm is Debian's. The
// order of its rates comes from a hash table and varies.
func TestIbswportwatch(t *testing.T) {
	t.Parallel()
	s := serveLive(t, "single-switch:hosts=6")
	words := []string{"{lid}", lidOfSwitch(t, s, "switch1"), "{guid}", switchGUID(t, &pmaRig{Sim: s})}
	const file, ready = "testdata/ibswportwatch.golden", "Checking counts..."
	scripts := os.Getenv(compatScripts)
	run := func(t *testing.T, line string) string {
		args := strings.Fields(strings.NewReplacer(words...).Replace(line))
		path := filepath.Join(scripts, "ibswportwatch")
		if scripts == "" {
			path, args = ibkit(), append([]string{"ibswportwatch"}, args...)
		}
		port := args[len(args)-1]
		count := func(symbol, downed, discards, data int) {
			for name, n := range map[string]int{"SymbolErrorCounter": symbol, "LinkDownedCounter": downed, "PortXmitDiscards": discards, "PortXmitData": data} {
				ctl(t, s, fmt.Sprintf("counter switch1[%s] %s %d", port, name, n))
			}
		}
		var r ibsimtest.Result
		if strings.Contains(line, "-p 4") {
			count(5, 0, 7, 1000)
			d := s.NewDaemon(t, "", ready, path, args...)
			count(26, 2, 407, 3003)
			r = d.MustEnd(t, 0)
		} else {
			r = s.MustRun(t, "", path, args...)
		}
		return fmt.Sprintf("$ %s\n%s[exit code %d]\n", line, watchRates.ReplaceAllStringFunc(r.Stdout, func(group string) string {
			return strings.Join(slices.Sorted(strings.Lines(group)), "")
		}), r.Code)
	}
	if scripts != "" {
		var b strings.Builder
		for _, line := range watchLines {
			b.WriteString(run(t, line))
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range watchLines {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			_, after, _ := strings.Cut("\n"+string(text), "\n$ "+line+"\n")
			want, _, found := strings.Cut(after, "\n$ ")
			if got := strings.TrimSuffix(run(t, line), "\n"); !found && want == "" || got != "$ "+line+"\n"+strings.TrimSuffix(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestIbswportwatch_Rate compares the rate of a counter that grows at a known rate. The program
// divides by its period, although the second reading is late on a busy machine.
func TestIbswportwatch_Rate(t *testing.T) {
	s := serveLive(t, "single-switch:hosts=3")
	ctl(t, s, "rate switch1[2] PortRcvErrors 100")
	got := s.MustRun(t, "", ibkit(), "ibswportwatch", "-p", "3", "-n", "1", lidOfSwitch(t, s, "switch1"), "2")
	m := regexp.MustCompile(`Detected excessive rate for PortRcvErrors \(([0-9.]+) cnts/sec\)`).FindStringSubmatch(got.Stdout)
	if m == nil {
		t.Fatalf("got no rate\n%s%s", got.Stdout, got.Stderr)
	}
	most := 100*got.Wall.Seconds()/3 + 10
	if rate, err := strconv.ParseFloat(m[1], 64); err != nil || rate < 95 || rate > most {
		t.Errorf("got %s per second, want 100, at most %.0f", m[1], most)
	}
}
