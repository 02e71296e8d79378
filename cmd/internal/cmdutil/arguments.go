package cmdutil

import "github.com/spf13/cobra"

// NoArguments rejects the first argument of a command that accepts flags only.
func NoArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UsageErrorf("unexpected argument %q", args[0])
	}
	return nil
}
