// Package check has the commands that check a fabric.
package check

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// commands are the subcommands.
var commands = []func(*cmdutil.Env) *cobra.Command{newRoutes}

// New returns the command check.
func New(env *cmdutil.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the routing of a fabric",
		Long: strings.TrimSpace(`
check has commands that check a part of a fabric, list their findings, and exit
with 3 if there are any.`),
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmdutil.WithHint(cmdutil.UsageErrorf("unknown command %q", args[0]), "see ibkit check --help")
			}
			return cmdutil.WithHint(cmdutil.UsageErrorf("no command given"), "see ibkit check --help")
		},
	}
	for _, newCommand := range commands {
		cmd.AddCommand(newCommand(env))
	}
	return cmd
}
