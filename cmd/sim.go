package cmd

import "github.com/spf13/cobra"

// simCommands make the commands about simulated fabrics.
var simCommands = []func(*environment) *cobra.Command{newSimServe}

func newSim(env *environment, _ dialect) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Work with simulated fabrics",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usageErrorf("no command given: see ibkit sim --help")
		},
	}
	for _, newCommand := range simCommands {
		cmd.AddCommand(newCommand(env))
	}
	return cmd
}
