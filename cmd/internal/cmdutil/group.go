package cmdutil

import "github.com/spf13/cobra"

// RequireCommand makes a command without a subcommand, or with an unknown one, a usage
// error, whatever flags it has: they belong to the subcommands. cobra prints its help, and
// reports success.
func RequireCommand(group *cobra.Command) {
	group.Args = cobra.ArbitraryArgs
	group.RunE = func(cmd *cobra.Command, args []string) error { return commandError(cmd, args) }
	group.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd == group {
			return commandError(cmd, cmd.Flags().Args())
		}
		return cmd.Root().FlagErrorFunc()(cmd, err)
	})
}

// commandError returns the error for a missing or unknown subcommand.
func commandError(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return Missing("command")
	}
	return UnknownCommand(cmd, args[0])
}
