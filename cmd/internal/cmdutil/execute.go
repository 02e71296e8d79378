package cmdutil

import (
	"context"

	"github.com/spf13/cobra"
)

// Execute runs a command line under a root command and returns the exit code.
func Execute(ctx context.Context, env *Env, root *cobra.Command, args []string) int {
	root.SetArgs(args)
	root.SetOut(env.Out)
	root.SetErr(env.ErrOut)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &UsageError{flagError(err)} })
	root.SetUsageFunc(printUsage)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return checkEmpty(cmd.Flags()) }
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && cmd == root {
		err = &UsageError{err} // there is no such command
	}
	return ExitCode(env, cmd.CommandPath(), err)
}
