package counters

import (
	"strings"
	"testing"
)

// A terminal shows the reason for a wait, and only during the wait.
func TestWait(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"--window 10ms", "reading twice, 10ms apart"},
		{"--window 10ms --json", ""},
		{"", ""},
	} {
		t.Run(test.args, func(t *testing.T) {
			_, screen := program.RunOnTerminal(t, 120, 50, append([]string{"counters", "--sim", "demo", "-t", "50"}, strings.Fields(test.args)...)...)
			const remove = "\r\x1b[K"
			if text := remove + test.want + remove; strings.Contains(screen, remove) != (test.want != "") || test.want != "" && !strings.Contains(screen, text) {
				t.Errorf("got %q, want %q", screen, text)
			}
		})
	}
}
