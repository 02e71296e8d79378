// Package sim has the commands that list, export and serve simulated fabrics.
package sim

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// commands make the commands about simulated fabrics.
var commands = []func(*cmdutil.Env) *cobra.Command{newList, newExport, newServe, newCtl}

func New(env *cmdutil.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "List, export and serve simulated fabrics, and change them",
		Long: strings.TrimSpace(`
sim shows which fabrics --sim can simulate, writes them to files that ibkit and
ibsim load, serves them to other programs, and changes them meanwhile.`),
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmdutil.UsageErrorf("unknown command %q: see ibkit sim --help", args[0])
			}
			return cmdutil.UsageErrorf("no command given: see ibkit sim --help")
		},
	}
	for _, newCommand := range commands {
		cmd.AddCommand(newCommand(env))
	}
	return cmd
}
