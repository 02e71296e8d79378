package sm

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

// A terminal shows the reason for a wait, and only during the wait.
func TestWait(t *testing.T) {
	program := cmdtest.Native(New)
	for _, test := range []struct{ args, want string }{
		{"--sm-wait 10ms", "reading twice, 10ms apart (--sm-wait)"},
		{"--sm-wait 10ms --json", ""},
		{"--sm-wait 0s", ""},
	} {
		t.Run(test.args, func(t *testing.T) {
			_, screen := program.RunOnTerminal(t, 120, 50, append([]string{"sm", "--sim", "demo", "-t", "50"}, strings.Fields(test.args)...)...)
			const remove = "\r\x1b[K"
			if text := remove + test.want + remove; strings.Contains(screen, remove) != (test.want != "") || test.want != "" && !strings.Contains(screen, text) {
				t.Errorf("got %q, want %q", screen, text)
			}
		})
	}
}
