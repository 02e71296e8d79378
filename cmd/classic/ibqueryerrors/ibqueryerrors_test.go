package ibqueryerrors

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/internal/testenv"
)

var (
	program = cmdtest.Classic(New)
	pid     = regexp.MustCompile(`\[\d+\]`)
)

const demo = "IBKIT_SIM"

// TestIbqueryerrors compares output with golden files; test/oracle compares it with the C
// tool's output.
func TestIbqueryerrors(t *testing.T) {
	for name, c := range map[string]struct{ etc, line string }{
		"errors":  {"testdata/etc", "-t 50 --skip-sl -s PortXmitWait,SymbolErrorCounter"},
		"details": {"testdata/etc", "--details -r --switch -s PortXmitWait,SymbolErrorCounter"},
		"routers": {"testdata/etc", "--router -c"},
		"node":    {"testdata/etc", "-D 0,1 --ca"},
		"limits":  {"testdata/limits", "-t 50 --skip-sl --switch -s PortXmitWait,SymbolErrorCounter"},
		"no-file": {"", "-D 0,1 --ca"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := program.Run(t, map[string]string{demo: "demo", testenv.Etc: c.etc}, append([]string{"ibqueryerrors"}, strings.Fields(c.line)...)...)
			want := 0
			if strings.Contains(out, "GUID") {
				want = 1
			}
			if code != want {
				t.Errorf("got exit code %d, want %d\n%s", code, want, errs)
			}
			cmdtest.Golden(t, name+".golden", out)
		})
	}
}

func TestIbqueryerrors_Failures(t *testing.T) {
	file := cmdtest.WriteFile(t, "SymbolErrorCounter=1\nMoon=2\n")
	for line, want := range map[string]struct {
		code int
		err  string
	}{
		"--threshold-file " + file:               {2, file + `:2: unknown error counter "Moon"`},
		"--threshold-file /nonexistent":          {1, "warning: read thresholds: open /nonexistent: "},
		"--load-cache /nonexistent":              {255, "loading cached fabric failed\n"},
		"--load-cache /nonexistent -D 0":         {255, "Cannot specify cache and direct route path\n"},
		"-t 20 -D 0,99":                          {255, "ibwarn: [] main: Single node discover failed; attempting full scan\n"},
		"-D ,":                                   {0, ""},
		"-G 0xdead":                              {0, "Failed to find node: 0xdead\n"},
		"-G moon":                                {0, "ibwarn: [] main: Failed to resolve moon; attempting full scan\n"},
		"-C nosuch":                              {255, "has only sim0/1"},
		"--moon":                                 {2, "Usage: ibqueryerrors"},
		"-k -K --details --switch --counters -d": {0, ""},
		"-k --details -t 60 --ca":                {1, ""},
		"-s ,,LinkDownedCounter,moon,QP1Dropped -c": {1, ""},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, errs := program.Run(t, map[string]string{demo: "demo"}, append([]string{"ibqueryerrors", "-t", "50"}, strings.Fields(line)...)...)
			errs = pid.ReplaceAllString(errs, "[]")
			if code != want.code || !strings.Contains(errs+out, want.err) {
				t.Errorf("got exit code %d and\n%s%s\nwant %d and\n%s", code, out, errs, want.code, want.err)
			}
		})
	}
}

// TestReadable checks binary prefixes and the data factor. The C tool's
// conv_cnt_human_readable returns the same values.
func TestReadable(t *testing.T) {
	for _, c := range []struct {
		value uint64
		data  bool
		want  string
	}{
		{0, false, "0.000"},
		{1023, false, "1023.000"},
		{1024, false, "1.000K"},
		{1932, false, "1.887K"},
		{0, true, "0.000B"},
		{144, true, "576.000B"},
		{256, true, "1024.000B"},
		{257, true, "1.004KB"},
		{342000, true, "1.305MB"},
		{40680, true, "158.906KB"},
		{1<<64 - 1, false, "16.000E"},
		{1<<64 - 1, true, "64.000EB"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := readable(c.value, c.data); got != c.want {
				t.Errorf("%d: got %s, want %s", c.value, got, c.want)
			}
		})
	}
}
