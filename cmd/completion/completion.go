// Package completion implements the command that prints completion scripts for shells.
package completion

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// shells maps the supported shells to their generators.
var shells = map[string]func(*cobra.Command, *cmdutil.Env) error{
	"bash": writeBash,
	"fish": func(root *cobra.Command, env *cmdutil.Env) error { return root.GenFishCompletion(env.Out, true) },
	"zsh":  func(root *cobra.Command, env *cmdutil.Env) error { return root.GenZshCompletion(env.Out) },
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|fish|zsh",
		Short: "Print a completion script for a shell",
		Long: strings.TrimSpace(`
completion prints a script that enables completion in a shell. The shell then
completes commands, flags and their values: devices of this host, simulated
fabrics, findings, and node names from the node-name map.`),
		Example: strings.Trim(`
  # in this session of bash
  source <(ibkit completion bash)

  # permanently, in fish
  ibkit completion fish > ~/.config/fish/completions/ibkit.fish

  # permanently, in zsh, for all users
  ibkit completion zsh > /usr/local/share/zsh/site-functions/_ibkit`, "\n"),
		ValidArgs: slices.Sorted(maps.Keys(shells)),
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return cmdutil.Missing("shell")
			case len(args) > 1:
				return cmdutil.Unexpected(cmd, args[1])
			case shells[args[0]] == nil:
				return cmdutil.UsageErrorf("unknown shell %q: want one of %s", args[0], strings.Join(slices.Sorted(maps.Keys(shells)), ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return shells[args[0]](cmd.Root(), env)
		},
	}
}
