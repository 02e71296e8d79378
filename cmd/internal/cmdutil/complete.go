package cmdutil

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Values returns the values that an argument can have, each with a
// description behind a tab if it has one. It may read the host and the other
// flags. Without information it returns nil.
type Values func(env *Env, flags *pflag.FlagSet) []string

// CompleteFlag makes shells complete the value of a flag.
func CompleteFlag(env *Env, cmd *cobra.Command, name string, values Values) {
	register(cmd, name, completeFrom(env, values, false))
}

// CompleteList makes shells complete the last element of a comma-separated flag.
func CompleteList(env *Env, cmd *cobra.Command, name string, values Values) {
	register(cmd, name, completeFrom(env, values, true))
}

func register(cmd *cobra.Command, name string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(name, f); err != nil {
		panic(err) // there is no such flag, or it has a completion
	}
}

// CompleteOperands makes shells complete all operands.
func CompleteOperands(env *Env, cmd *cobra.Command, values Values) {
	cmd.ValidArgsFunction = completeFrom(env, values, false)
}

// CompleteOperand makes shells complete the first operand and no other.
func CompleteOperand(env *Env, cmd *cobra.Command, values Values) {
	f := completeFrom(env, values, false)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(cmd, args, begun)
	}
}

// BeginningWith returns the names that begin with a text in upper or lower case.
func BeginningWith(begun string, names []string) (found []string) {
	for _, name := range names {
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(begun)) {
			found = append(found, name)
		}
	}
	return found
}

// completeFrom returns a completion function for cobra. In a list it completes the
// element after the last comma.
func completeFrom(env *Env, values Values, isList bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		directive := cobra.ShellCompDirectiveNoFileComp
		before := ""
		if i := strings.LastIndexByte(begun, ','); isList && i >= 0 {
			before = begun[:i+1]
		}
		var found []string
		open := true // all values found continue
		for _, v := range values(env, cmd.Flags()) {
			value, _, _ := strings.Cut(v, "\t")
			if !strings.HasPrefix(before+value, begun) {
				continue
			}
			open = open && (strings.HasSuffix(value, ":") || strings.HasSuffix(value, "="))
			if before != "" {
				v = value // bash finds no match for a value with a comma and a description
			}
			found = append(found, before+v)
		}
		if open && found != nil {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return found, directive
	}
}

// Constant returns fixed values.
func Constant(values ...string) Values {
	return func(*Env, *pflag.FlagSet) []string { return values }
}
