package cmdutil

import "github.com/spf13/cobra"

// RequireCommand makes a command without a subcommand, or with an unknown one, a usage
// error. cobra prints its help, and reports success.
func RequireCommand(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err, hint := UsageErrorf("no command given"), "see "+cmd.CommandPath()+" --help"
		if len(args) > 0 {
			err, hint = UsageErrorf("unknown command %q", args[0]), similar(cmd, args[0])+hint
		}
		return WithHint(err, hint)
	}
}
