package cmdutil

import "github.com/spf13/cobra"

// RequireCommand makes a command without a subcommand, or with an unknown one, a usage
// error. cobra prints its help, and reports success.
func RequireCommand(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := UsageErrorf("no command given")
		if len(args) > 0 {
			err = UsageErrorf("unknown command %q", args[0])
		}
		return WithHint(err, "see "+cmd.CommandPath()+" --help")
	}
}
