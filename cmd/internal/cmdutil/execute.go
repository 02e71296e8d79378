package cmdutil

import (
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
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return checkEmpty(cmd.Flags()) }
	root.SetGlobalNormalizationFunc(flagName)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && cmd == root {
		err = unknownCommand(err, args)
	}
	return ExitCode(env, cmd.CommandPath(), err)
}

// unknownCommand returns the error for a command line without a known command, whatever
// flags follow. Other errors of the root command, such as a failed write of the version,
// stay as they are.
func unknownCommand(err error, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") && args[0] != "-" {
		return err
	}
	return WithHint(UsageErrorf("unknown command %q", args[0]), "list all commands: ibkit --help")
}

// flagHint returns advice for a flag that a command does not have.
func flagHint(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	if unknown.GetSpecifiedName() == "compare" {
		return "ibkit linkinfo --compare shows differences from the subnet manager's records"
	}
	return "list all flags: " + cmd.CommandPath() + " --help"
}
