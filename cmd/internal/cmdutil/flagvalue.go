package cmdutil

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// isFlag reports whether the value of a flag is another flag: its own value is missing.
func isFlag(value string) bool { return len(value) > len("--") && strings.HasPrefix(value, "--") }

// needsArgument returns the error for a flag without its value.
func needsArgument(f *pflag.Flag) error { return fmt.Errorf("flag needs an argument: --%s", f.Name) }

// checkMissing reports a flag that took the next flag as its value: --node --sim demo. A
// value that begins with two dashes is given as --node=--name.
func checkMissing(cmd *cobra.Command, args []string) error {
	if cmd.DisableFlagParsing {
		return nil
	}
	for i := 0; i+1 < len(args) && args[i] != "--"; i++ {
		f := flagOf(cmd, args[i])
		if f == nil || f.NoOptDefVal != "" {
			continue
		}
		if isFlag(args[i+1]) {
			return WithHint(&UsageError{needsArgument(f)}, valueHint(f))
		}
		i++ // the value
	}
	return nil
}

// flagOf returns the flag that an argument names without a value, or nil.
func flagOf(cmd *cobra.Command, arg string) *pflag.Flag {
	name, isLong := strings.CutPrefix(arg, "--")
	switch {
	case isLong:
		return cmd.Flags().Lookup(name)
	case len(arg) == len("-x") && arg[0] == '-':
		return cmd.Flags().ShorthandLookup(arg[1:])
	}
	return nil
}
