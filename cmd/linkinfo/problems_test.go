package linkinfo

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// On a terminal, a long table ends with its problems.
func TestLinkinfo_Problems(t *testing.T) {
	const problems = `
problems:
NODE   LID  PORT  WIDTH  SPEED  STATE              PEER    PEER PORT  FINDING
leaf1  3    1     2X     NDR    Active             spine1  1          narrow: 2X, but both ends have 4X enabled
leaf2  8    5     4X     HDR    Active             node07  1          slow: HDR, but both ends have NDR enabled
leaf3  13   4     4X     NDR    Initialize/LinkUp  node10  1          not-active: not activated by a subnet manager

`
	for _, test := range []struct {
		name, args string
		rows       uint16
		repeats    bool
		end        string
	}{
		{"long", "", 50, true, "24 links: 3 links with problems (only these: --problems)\n"},
		{"short", "--node leaf2", 24, false, "6 links shown: 1 link with problems (only these: --problems)\n"},
		{"short, but more than the screen", "--node leaf*", 10, true, "24 links shown: 3 links with problems (only these: --problems)\n"},
		{"only problems", "--problems", 4, false, "3 links shown: 3 links with problems\n"},
		{"none", "--node spine2", 4, false, "4 links shown: no problems found\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, screen := program.RunOnTerminal(t, 120, test.rows, append([]string{"linkinfo", "--sim", "demo"}, strings.Fields(test.args)...)...)
			if got := strings.Contains(screen, problems); got != test.repeats || !strings.HasSuffix(screen, test.end) {
				t.Errorf("got\n%s\nwant problems again: %t, and last %q", screen, test.repeats, test.end)
			}
		})
	}
	t.Run("no terminal", func(t *testing.T) {
		code, out, _ := program.Run(t, nil, "linkinfo", "--sim", "demo")
		if code != cmdutil.ExitFindings || strings.Contains(out, "problems:\n") {
			t.Errorf("got exit code %d and\n%s\nwant no second table", code, out)
		}
	})
}
