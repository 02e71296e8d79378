package getopt

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// Command returns a hidden command that stands for the tool in help texts and in
// completions. It does not run the tool. native is the native command with the same
// task.
func (t *Tool) Command(env *cmdutil.Env, native string) *cobra.Command {
	cmd := &cobra.Command{
		Use:                t.Name,
		Short:              fmt.Sprintf("The classic tool %s (see also ibkit %s)", t.Name, native),
		Hidden:             true,
		DisableFlagParsing: true,
		Run:                func(*cobra.Command, []string) {},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			return t.complete(env, cmd, args, begun)
		},
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprint(cmd.OutOrStdout(), t.Family.Usage(t))
	})
	return cmd
}

// complete completes an option or an option's value.
func (t *Tool) complete(env *cmdutil.Env, cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	name, value, isValue := strings.Cut(begun, "=")
	switch {
	case isValue && strings.HasPrefix(name, "--"):
		if found := findLong(t.Options, name[2:]); len(found) == 1 {
			return found[0].complete(env, cmd, name+"=", value)
		}
	case len(args) > 0 && strings.HasPrefix(args[len(args)-1], "-"):
		if o := t.lastOption(args[len(args)-1]); o != nil && o.Arg != "" {
			return o.complete(env, cmd, "", begun)
		}
	}
	if !strings.HasPrefix(begun, "-") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, o := range t.Options {
		if o.Long != "" && !o.Unlisted && strings.HasPrefix("--"+o.Long, begun) {
			names = append(names, "--"+o.Long+"\t"+o.Help)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// lastOption returns the option that an argument ends with; nil if it ends with a
// value.
func (t *Tool) lastOption(arg string) *Option {
	if long, ok := strings.CutPrefix(arg, "--"); ok {
		if found := findLong(t.Options, long); len(found) == 1 {
			return found[0]
		}
		return nil
	}
	return t.byLetter(arg[len(arg)-1])
}

// complete completes an option's value.
func (o *Option) complete(env *cmdutil.Env, cmd *cobra.Command, before, begun string) ([]string, cobra.ShellCompDirective) {
	if o.Complete == nil {
		if strings.Contains(o.Arg, "file") || o.Arg == "<config>" {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var found []string
	for _, v := range o.Complete(env, cmd.Flags()) {
		if strings.HasPrefix(v, begun) {
			found = append(found, before+v)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
