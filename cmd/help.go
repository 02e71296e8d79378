package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// newHelp creates the help command. That of cobra exits with 0 for an unknown command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:                   "help [COMMAND...]",
		Short:                 "Show the help of a command",
		DisableFlagsInUseLine: true,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			of, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range of.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return cmdutil.WithHint(cmdutil.UsageErrorf("unknown command %q", strings.Join(args, " ")), "see ibkit --help")
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}
