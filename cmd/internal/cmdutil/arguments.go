package cmdutil

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/sim"
)

// NoArguments rejects the first argument of a command that accepts flags only.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Unexpected(cmd, args[0])
}

// Unexpected returns the usage error for an argument that a command does not have.
func Unexpected(cmd *cobra.Command, arg string) error {
	hint := "flags and examples: " + cmd.CommandPath() + " --help"
	has := func(flag string) bool { return cmd.Flags().Lookup(flag) != nil }
	switch {
	case has("sim") && IsPreset(arg):
		hint = "try --sim " + arg + "; " + hint
	case has("listen") && strings.Contains(arg, "://"):
		hint = "its address: --listen HOST:PORT; " + hint
	case has("listen") && strings.Trim(arg, ":0123456789") == "":
		hint = "try --listen :" + strings.Trim(arg, ":") + "; " + hint
	case has("expect") && has("bind"):
		hint = "expected workers: --expect FILE, or a number; " + hint
	case has("hosts"):
		hint = "hosts: --hosts 'node[01-16]'; " + hint
	case cmd.Name() == "exporter":
		hint = "it runs until it is interrupted; as a service: systemctl start ibkit-exporter; " + hint
	case cmd.CommandPath() == "ibkit check node":
		hint = "it checks this host; a node of the fabric: ibkit linkinfo --node NODE; " + hint
	case has("node"):
		hint = "select nodes with --node; " + hint
	}
	return WithHint(UsageErrorf("unexpected argument %q", arg), hint)
}

// hasFiles reports whether all arguments from the second on are names of files, as the shell
// makes them of a pattern without quotation marks.
func hasFiles(args []string) bool {
	return !slices.ContainsFunc(args[1:], func(name string) bool {
		_, err := os.Lstat(name)
		return err != nil
	})
}

// AtMostArguments returns a check that rejects more than n arguments.
func AtMostArguments(n int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		err := UsageErrorf("number of arguments: got %d, want at most %d", len(args), n)
		if hasFiles(args) {
			err = WithHint(err, "quote patterns: '*'")
		}
		return err
	}
}

// IsPreset reports whether a description of a simulated fabric begins with a preset.
func IsPreset(description string) bool {
	name, _, _ := strings.Cut(description, ":")
	return slices.ContainsFunc(sim.Presets, func(p sim.Preset) bool { return p.Name == name })
}
