package cmd

import (
	"strings"

	"github.com/spf13/cobra"
)

// simCommands make the commands about simulated fabrics.
var simCommands = []func(*environment) *cobra.Command{newSimList, newSimExport, newSimServe, newSimCtl}

func newSim(env *environment, _ dialect) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "List, export and serve simulated fabrics, and change them",
		Long: strings.TrimSpace(`
sim shows which fabrics --sim can simulate, writes them to files that ibkit and
ibsim load, serves them to other programs, and changes them meanwhile.`),
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageErrorf("unknown command %q: see ibkit sim --help", args[0])
			}
			return usageErrorf("no command given: see ibkit sim --help")
		},
	}
	for _, newCommand := range simCommands {
		cmd.AddCommand(newCommand(env))
	}
	return cmd
}
