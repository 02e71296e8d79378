package cmdutil

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/fabric"
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

// Nodes without a reply have a next step once, in native commands, unless another is printed.
func TestFailures_Silent(t *testing.T) {
	silent := fmt.Errorf("node01[1]: %w", fabric.ErrNotActive)
	native := func() *cobra.Command { return &cobra.Command{Use: "ibkit"} }
	for name, test := range map[string]struct {
		commands func() *cobra.Command
		err      error
		hints    string
	}{
		"native":     {native, silent, "hint: causes and next steps: ibkit check fabric\n"},
		"classic":    {nil, silent, ""},
		"other hint": {native, WithHint(silent, "check the node"), "hint: check the node\nhint: check the node\n"},
		"damage":     {native, fmt.Errorf("file:3: damaged"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			env := &Env{ErrOut: &out, Commands: test.commands}
			for range 2 {
				f := NewFailures(env, "warning", false)
				f.Print(test.err)
				f.Close()
			}
			lines := strings.ReplaceAll(out.String(), "warning: "+test.err.Error()+"\n", "")
			if lines != test.hints {
				t.Errorf("got %q, want %q", lines, test.hints)
			}
		})
	}
}
