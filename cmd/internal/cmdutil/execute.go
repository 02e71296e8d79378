package cmdutil

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return checkValues(cmd.Flags()) }
	root.SetGlobalNormalizationFunc(flagName)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && cmd == root {
		err = unknownCommand(root, err, args)
	}
	return ExitCode(env, cmd.CommandPath(), err)
}

// replacements are the commands for programs without a command of the same name.
var replacements = map[string]string{
	"ibdiagnet": "ibkit check fabric", "ibdmchk": "ibkit check routes", "ibsim": "ibkit sim serve",
}

// unknownCommand returns the error for a command line without a known command, whatever
// flags follow. Other errors of the root command, such as a failed write of the version,
// stay as they are.
func unknownCommand(root *cobra.Command, err error, args []string) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") && args[0] != "-" {
		return err
	}
	err = UsageErrorf("unknown command %q", args[0])
	if name, ok := replacements[args[0]]; ok {
		return WithHint(err, fmt.Sprintf("%s replaces %s", name, args[0]))
	}
	return WithHint(err, similar(root, args[0])+"list all commands: ibkit --help")
}

// similar returns the part of a hint with the subcommands that resemble a name, or "".
func similar(parent *cobra.Command, name string) string {
	if name == "" { // a prefix of all names
		return ""
	}
	if parent.SuggestionsMinimumDistance == 0 {
		parent.SuggestionsMinimumDistance = 2 // the default of cobra's own suggestions
	}
	names := parent.SuggestionsFor(name)
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "similar: " + strings.Join(names, ", ") + "; "
}

// flagHint returns advice for a flag that a command does not have.
func flagHint(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	name := unknown.GetSpecifiedName()
	if name == "compare" {
		return "ibkit linkinfo --compare shows differences from the subnet manager's records"
	}
	for _, now := range renamed[name] {
		if cmd.Flags().Lookup(now) != nil {
			return "--" + name + " is --" + now + " now"
		}
	}
	return "list all flags: " + cmd.CommandPath() + " --help"
}

// renamed are the flags with another name than in earlier versions.
var renamed = map[string][]string{
	"cache":             {"save"},
	"cache-partial":     {"save-partial"},
	"cckey":             {"cc-key"},
	"check":             {"problems"},
	"counters":          {"columns"},
	"fields":            {"columns"},
	"file":              {"targets-file"},
	"from":              {"targets-file"},
	"ibdiagnet-partial": {"save-partial"},
	"list":              {"nodes"},
	"load":              {"tables"},
	"load-cache":        {"fabric", "from"},
	"pairs":             {"targets-file"},
	"ports":             {"all-ports"},
	"rate":              {"window"},
	"sa":                {"from"},
	"smkey":             {"sm-key"},
	"source":            {"sources", "bind"},
	"state":             {"request-state", "state-file"},
	"targets":           {"targets-file"},
	"wait":              {"sm-wait", "reply-timeout"},
}
