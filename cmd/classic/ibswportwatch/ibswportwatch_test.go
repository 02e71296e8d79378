package ibswportwatch

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
)

var program = cmdtest.Classic(New)

func run(t *testing.T, line string) (code int, out, errs string) {
	return program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"ibswportwatch"}, strings.Fields(line)...)...)
}

func TestIbswportwatch(t *testing.T) {
	code, out, errs := run(t, "-p 0.5 -n 2 -b -v 3 1")
	if code != 0 || errs != "" || strings.Count(out, "Checking counts...\n") != 2 || strings.Count(out, " SymbolErrorCounter\t\t\t482") != 2 {
		t.Errorf("got exit code %d\n%s%s", code, out, errs)
	}
	if !strings.Contains(out, "Detected rate for SymbolErrorCounter (") || !strings.Contains(out, " PortXmitData/second\n") {
		t.Errorf("got no rates\n%s", out)
	}
}

func TestIbswportwatch_Failures(t *testing.T) {
	for line, want := range map[string]struct {
		code int
		out  string
	}{
		"-h":        {2, "Usage: ibswportwatch [-p"},
		"-x":        {2, "Usage: ibswportwatch [-p"},
		"-p 0 3 1":  {255, ""},
		"-p x 3 1":  {255, ""},
		"0 1":       {255, "perfquery: iberror: failed: can't resolve destination port 0\n"},
		"-n 1 3 99": {255, ""},
		"-n 0 3 1":  {0, ""},
		"-G 1 1":    {255, "can't resolve"},
	} {
		t.Run(line, func(t *testing.T) {
			if code, out, errs := run(t, line); code != want.code || !strings.Contains(out, want.out) {
				t.Errorf("got exit code %d\n%s%s\nwant %d\n%s", code, out, errs, want.code, want.out)
			}
		})
	}
}

// TestPrint checks the messages for rates.
func TestPrint(t *testing.T) {
	var out strings.Builder
	c := &command{Diag: getopt.NewDiag(&cmdutil.Env{Out: &out}, ""), pause: 2}
	c.print(values{"PortRcvErrors": 100, "PortXmitDiscards": 7}, values{"PortRcvErrors": 121, "SymbolErrorCounter": 5, "LinkDownedCounter": 9})
	const want = "Detected rate for SymbolErrorCounter (2.5 cnts/sec)\nDetected excessive rate for PortRcvErrors (10.5 cnts/sec)\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
