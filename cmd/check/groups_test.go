package check

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// On a terminal, lines of findings end between words, and the next lines are indented.
func TestCheckFabric_Wrap(t *testing.T) {
	line := []string{"check", "fabric", "--sim", "demo", "--only", "links,speed,routing,counters"}
	code, screen := program.RunOnTerminal(t, 60, 24, line...)
	const want = `error: links/not-active cable leaf3[4] - node10[1]: not
  activated by a subnet manager
  error: routing/not-active: 30 paths cross a link without
    data (Initialize at this end, Initialize at node10[1])
  warning: counters/exceeded: LinkDownedCounter 17: the link
    went down
`
	if code != cmdutil.ExitPartial || !strings.HasPrefix(screen, want) {
		t.Errorf("got exit code %d and\n%s\nwant %d and first\n%s", code, screen, cmdutil.ExitPartial, want)
	}
	if _, out, _ := program.Run(t, nil, line...); !strings.Contains(out, "(Initialize at this end, Initialize at node10[1])\n") {
		t.Errorf("got\n%s\nwant lines of any length without a terminal", out)
	}
}

// A terminal shows the reason for a wait.
func TestCheckFabric_Wait(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"--only sm,counters --sm-wait 10ms", "\r\x1b[Kreading subnet managers twice, 10ms apart (--sm-wait)\r\x1b[K"},
		{"--only counters --window 10ms", "\r\x1b[Kreading counters twice, 10ms apart (--window)\r\x1b[K"},
		{"--only sm --sm-wait 10ms --json", ""},
		{"--only names", ""},
	} {
		t.Run(test.args, func(t *testing.T) {
			_, screen := program.RunOnTerminal(t, 120, 50, append([]string{"check", "fabric", "--sim", "demo"}, strings.Fields(test.args)...)...)
			if !strings.HasPrefix(screen, test.want) || strings.Contains(screen, "\x1b") != (test.want != "") {
				t.Errorf("got %q, want first %q", screen, test.want)
			}
		})
	}
}

// The last line has the exit code with its reason.
func TestCheckFabric_Reason(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"--sim demo --only links,counters", "fabric: 1 error, 5 warnings; 1 stage not complete (counters): could not check node10[1]; exit code 4\n"},
		{"--sim demo --only links,speed", "fabric: 3 errors, 0 warnings; exit code 3\n"},
		{"--sim demo --only names", "fabric: 0 errors, 0 warnings\n"},
		{"--sim demo,sm=off --only counters", "fabric: 0 errors, 0 warnings; 1 stage not complete (counters): could not check leaf1, leaf2, leaf3 and 19 more; exit code 4\n"},
	} {
		t.Run(test.args, func(t *testing.T) {
			_, out, _ := program.Run(t, nil, append([]string{"check", "fabric"}, strings.Fields(test.args)...)...)
			if !strings.HasSuffix(out, "\n"+test.want) {
				t.Errorf("got\n%s\nwant the last line %q", out, test.want)
			}
		})
	}
}
