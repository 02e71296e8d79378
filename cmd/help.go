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
				return unknownHelp(cmd.Root(), args)
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

// unknownHelp returns the error for help on words that are not a command.
func unknownHelp(root *cobra.Command, args []string) error {
	parent := root
	for i, word := range args {
		sub, _, err := root.Find(args[:i+1])
		if err != nil || sub == parent {
			return cmdutil.UnknownCommand(parent, word)
		}
		parent = sub
	}
	return cmdutil.UnknownCommand(root, strings.Join(args, " "))
}
