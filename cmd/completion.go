package cmd

import (
	"strings"

	"github.com/spf13/cobra"
)

// shells are the shells that there are completions for.
var shells = map[string]func(*cobra.Command, *environment) error{
	"bash": func(root *cobra.Command, env *environment) error { return root.GenBashCompletionV2(env.out, true) },
	"fish": func(root *cobra.Command, env *environment) error { return root.GenFishCompletion(env.out, true) },
	"zsh":  func(root *cobra.Command, env *environment) error { return root.GenZshCompletion(env.out) },
}

func newCompletion(env *environment, _ dialect) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|fish|zsh",
		Short: "Print a script that completes command lines in a shell",
		Long: strings.TrimSpace(`
completion prints a script for a shell. With it the shell completes commands,
flags and what they take: devices of this host, simulated fabrics, findings,
names of nodes from the node name map.`),
		Example: strings.Trim(`
  # for this session of bash
  source <(ibkit completion bash)

  # from now on, in fish
  ibkit completion fish > ~/.config/fish/completions/ibkit.fish

  # from now on, in zsh, for all users
  ibkit completion zsh > /usr/local/share/zsh/site-functions/_ibkit`, "\n"),
		DisableFlagsInUseLine: true,
		ValidArgs:             sortedKeys(shells),
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usageErrorf("no shell given (known: %s)", strings.Join(sortedKeys(shells), ", "))
			case len(args) > 1:
				return usageErrorf("unexpected argument %q", args[1])
			case shells[args[0]] == nil:
				return usageErrorf("unknown shell %q (known: %s)", args[0], strings.Join(sortedKeys(shells), ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return shells[args[0]](cmd.Root(), env)
		},
	}
}

// newHelp makes the help command. Cobra's own takes an unknown name for a
// success.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:                   "help [COMMAND...]",
		Short:                 "Show what a command does and takes",
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
				return usageErrorf("unknown command %q: see ibkit --help", strings.Join(args, " "))
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}
