package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// compatScripts is the environment variable with a directory for the rdma-core scripts,
// which Debian does not install. If it is set, TestCheckScripts records their output.
const compatScripts = "IBKIT_COMPAT_SCRIPTS"

var scriptLines = []string{
	"ibcheckerrors", "ibcheckerrors -v", "ibcheckerrors -N -v", "ibcheckerrors -b", "ibcheckerrors -N {topology}", "ibcheckerrors -h", "ibcheckerrors a b", "ibcheckerrors -t",
	"ibcheckerrs 2", "ibcheckerrs -N -v 2 1", "ibcheckerrs -N 2 2", "ibcheckerrs -b 1 1", "ibcheckerrs -N -v 1", "ibcheckerrs -v 1", "ibcheckerrs -s",
	"ibcheckerrs -T {thresholds} -N -v 2 1", "ibcheckerrs -T /nonexistent 1", "ibcheckerrs 99", "ibcheckerrs", "ibcheckerrs -x", "ibcheckerrs -N 2 1 -v",
	"ibdatacounts 2", "ibdatacounts -N -v 2 1", "ibdatacounts -N -v 1", "ibdatacounts -S 1 1", "ibdatacounters", "ibdatacounters -N -v", "ibdatacounters -b",
	"ibclearerrors", "ibclearcounters", "ibclearcounters {topology}", "ibclearerrors -C ibsim0 -P 1 -t 500",
}

// TestCheckScripts compares the error counter scripts with the recorded output of the
// rdma-core 44 scripts, run by bash.
func TestCheckScripts(t *testing.T) {
	t.Parallel()
	r := newPMARig(t)
	for _, caps := range []string{"Switch1 0x1300", "Switch2 0x1300", "Hca1 0x1200", "Hca2 0x1200"} { // as in ibsim
		ctl(t, r.Sim, "perfcaps "+caps)
	}
	r.compareScripts(t)
}

// ibsimGrows matches the counters that ibsim increments with each packet.
var ibsimGrows = regexp.MustCompile(`(?m)^(Port(Xmit|Rcv)(Data|Pkts)|PortRcvSwitchRelayErrors):.*\n`)

// compareScripts compares the scripts with the recorded output, which is that on ibsim.
func (r *pmaRig) compareScripts(t *testing.T) {
	t.Helper()
	const file = "testdata/scripts.golden"
	scripts := os.Getenv(compatScripts)
	dir := t.TempDir()
	words := []string{"{topology}", filepath.Join(dir, "topology"), "{thresholds}", filepath.Join(dir, "thresholds")}
	for name, text := range map[string]string{
		"topology":   r.MustRunC(t, r.host, "ibnetdiscover").Stdout,
		"thresholds": "SymbolErrorCounter=5000\nLinkErrorRecoveryCounter=3\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(line string, path func(string) string) string {
		r.wear(t)
		args := strings.Fields(strings.NewReplacer(words...).Replace(line))
		name, first := path(args[0]), []string{}
		if scripts == "" {
			first = []string{args[0]}
		}
		result := r.MustRun(t, r.host, name, append(first, args[1:]...)...)
		return fmt.Sprintf("$ %s\n%s[exit code %d]\n", line, ibsimGrows.ReplaceAllString(result.Stdout, ""), result.Code)
	}
	if scripts != "" {
		var b strings.Builder
		for _, line := range scriptLines {
			b.WriteString(run(line, func(name string) string { return filepath.Join(scripts, name) }))
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
	recorded := strings.SplitAfter(string(text), "]\n$ ")
	if len(recorded) != len(scriptLines) {
		t.Fatalf("got %d recorded outputs, want %d", len(recorded), len(scriptLines))
	}
	for i, line := range scriptLines {
		t.Run(line, func(t *testing.T) {
			want := strings.TrimSuffix(recorded[i], "$ ")
			if i > 0 {
				want = "$ " + want
			}
			if got := run(line, func(string) string { return ibkit() }); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
