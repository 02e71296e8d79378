package cmdutil

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		env.source = newSource(env, cmd)
		return cmp.Or(checkMissing(cmd, args), checkValues(cmd.Flags()))
	}
	root.SetGlobalNormalizationFunc(flagName)
	KeepOrder(root)
	acceptSeconds(root)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && cmd == root && len(args) > 0 && (args[0] == "-" || !strings.HasPrefix(args[0], "-")) {
		err = UnknownCommand(root, args[0]) // whatever flags follow
	}
	if isUsage(err) {
		err = cmp.Or(checkMissing(cmd, args), err)
	}
	if name := singleDash(cmd, args); name != "" && err != nil && isUsage(err) {
		if errors.As(err, new(*pflag.NotExistError)) {
			err = UsageErrorf("unknown flag: -%s", name)
		}
		err = &hintedError{err, "long flags have two dashes: --" + name}
	}
	return ExitCode(env, cmd.CommandPath(), withSynopsis(cmd, err))
}

// KeepOrder makes the help of a command and its subcommands list the flags in the order of
// their declarations, and omit them in the first line.
func KeepOrder(cmd *cobra.Command) {
	cmd.Flags().SortFlags, cmd.DisableFlagsInUseLine = false, true
	for _, sub := range cmd.Commands() {
		KeepOrder(sub)
	}
}
