package cmd

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// TestHelp_usage checks that the usage of a command that has subcommands contains both
// forms only if it does something itself, and that -h is the last flag of its group.
func TestHelp_usage(t *testing.T) {
	for _, c := range []struct {
		command   string
		operation bool
	}{
		{"trap", true},
		{"check", false},
		{"link", false},
		{"sim", false},
	} {
		t.Run(c.command, func(t *testing.T) {
			_, out, _ := program.Run(t, nil, c.command, "--help")
			if !strings.Contains(out, "ibkit "+c.command+" [command]\n") {
				t.Errorf("got no line with [command]:\n%s", out)
			}
			if got := strings.Contains(out, "ibkit "+c.command+" [flags]\n"); got != c.operation {
				t.Errorf("line with [flags]: got %t, want %t", got, c.operation)
			}
		})
	}
	for _, command := range [][]string{{"sim", "serve"}, {"sim", "export"}, {"version"}, {"linkinfo"}} {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			_, out, _ := program.Run(t, nil, append(command, "--help")...)
			_, flags, _ := strings.Cut(out, "\nFlags:\n")
			flags, _, _ = strings.Cut(flags, "\n\n")
			lines := strings.Split(strings.TrimSpace(flags), "\n")
			if last := lines[len(lines)-1]; !strings.Contains(last, "--help") {
				t.Errorf("last flag: got %s, want --help", last)
			}
		})
	}
}

// TestHelp_limits checks the limits of help texts, and that each flag with a value names it.
func TestHelp_limits(t *testing.T) {
	const maxText, maxLong = 70, 80
	var check func(*testing.T, *cobra.Command)
	check = func(t *testing.T, c *cobra.Command) {
		t.Run(c.Name(), func(t *testing.T) {
			limit := func(kind, text string, most int) {
				for line := range strings.SplitSeq(text, "\n") {
					if n := utf8.RuneCountInString(line); n > most {
						t.Errorf("%s: got %d characters, want at most %d: %s", kind, n, most, line)
					}
				}
			}
			limit("short description", c.Short, maxText)
			limit("description", c.Long, maxLong)
			limit("example", c.Example, maxLong)
			for _, g := range cmdutil.FlagGroups(c) {
				for _, f := range g.Flags {
					if strings.Contains(f.Usage, " for "+c.Name()) {
						t.Errorf("--%s: got the text %q of cobra, want one for all commands", f.Name, f.Usage)
					}
					value, usage := pflag.UnquoteUsage(f)
					limit("--"+f.Name, usage, maxText)
					if value != "" && slices.Contains([]string{"count", "float", "string", "strings", "int", "uint", "duration"}, value) {
						t.Errorf("--%s: got placeholder %q, want a name in backquotes", f.Name, value)
					}
				}
			}
			for _, sub := range c.Commands() {
				check(t, sub)
			}
		})
	}
	check(t, newRoot(&cmdutil.Env{Getenv: func(string) string { return "" }}, nil))
}

// TestHelp_defaults checks that no flag has two defaults in the help, the text's and
// pflag's, nor the default 0s.
func TestHelp_defaults(t *testing.T) {
	var check func(*testing.T, *cobra.Command, []string)
	check = func(t *testing.T, c *cobra.Command, path []string) {
		t.Run(c.Name(), func(t *testing.T) {
			_, out, _ := program.Run(t, nil, append(path[:len(path):len(path)], "--help")...)
			for line := range strings.Lines(out) {
				if strings.Count(line, "(default") > 1 || strings.Contains(line, "(default 0s)") {
					t.Errorf("got %q, want at most one default, not 0s", line)
				}
			}
			for _, sub := range c.Commands() {
				check(t, sub, append(path[:len(path):len(path)], sub.Name()))
			}
		})
	}
	check(t, newRoot(&cmdutil.Env{Getenv: func(string) string { return "" }}, nil), nil)
}
