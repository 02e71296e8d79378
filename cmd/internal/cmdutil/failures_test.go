package cmdutil

import (
	"fmt"
	"strings"
	"testing"
)

func TestFailures(t *testing.T) {
	for _, test := range []struct {
		name  string
		count int
		all   bool
		lines int
		last  string
	}{
		{"none", 0, false, 0, ""},
		{"at the limit", 20, false, 21, "warning: node 20: timed out"},
		{"above the limit", 22, false, 22, "warning: and 2 more (-v shows all)"},
		{"all", 22, true, 23, "warning: node 22: timed out"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			f := NewFailures(&Env{ErrOut: &out}, "warning", test.all)
			for i := range test.count {
				f.Print(WithHint(fmt.Errorf("node %d: timed out", i+1), "check the node"))
			}
			if n := f.Close(); n != test.count {
				t.Errorf("got %d failures, want %d", n, test.count)
			}
			text := out.String()
			if lines := strings.Count(text, "\n"); lines != test.lines || !strings.HasSuffix(strings.TrimSpace(text), test.last) {
				t.Errorf("got %d lines, want %d with %q at the end:\n%s", lines, test.lines, test.last, text)
			}
			if hints := strings.Count(text, "hint: check the node\n"); hints != min(test.count, 1) {
				t.Errorf("got %d hints, want one with the first failure:\n%s", hints, text)
			}
		})
	}
}
