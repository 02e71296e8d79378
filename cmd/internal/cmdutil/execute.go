package cmdutil

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

// Execute runs a command line under a root command and returns the exit code.
func Execute(ctx context.Context, env *Env, root *cobra.Command, args []string) int {
	root.SetArgs(args)
	root.SetOut(env.Out)
	root.SetErr(env.ErrOut)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return WithHint(&UsageError{flagError(err)}, flagHint(cmd, err))
	})
	root.SetUsageFunc(printUsage)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return checkValues(cmd.Flags()) }
	root.SetGlobalNormalizationFunc(flagName)
	acceptSeconds(root)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && cmd == root && len(args) > 0 && (args[0] == "-" || !strings.HasPrefix(args[0], "-")) {
		err = UnknownCommand(root, args[0]) // whatever flags follow
	}
	if hint := singleDash(cmd, args); hint != "" && err != nil && isUsage(err) {
		err = &hintedError{err, hint}
	}
	return ExitCode(env, cmd.CommandPath(), withSynopsis(cmd, err))
}
