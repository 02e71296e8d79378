package cmd

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// noFileNames keeps shells from completing operands and the values of flags by the
// names of files, but for flags whose value is a FILE or a PATH.
func noFileNames(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value, _ := pflag.UnquoteUsage(f)
		if _, has := cmd.GetFlagCompletionFunc(f.Name); has || value == "FILE" || value == "PATH" {
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions); err != nil {
			panic(err) // the flag is there
		}
	})
	if cmd.ValidArgs == nil && cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, c := range cmd.Commands() {
		noFileNames(c)
	}
}
