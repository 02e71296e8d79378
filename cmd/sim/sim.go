// Package sim has the commands that list, export and serve simulated fabrics.
package sim

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// commands are the subcommands.
var commands = []func(*cmdutil.Env) *cobra.Command{newList, newExport, newServe, newCtl}

// New returns the command sim.
func New(env *cmdutil.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "List, export, serve and change simulated fabrics",
		Long: strings.TrimSpace(`
sim lists the fabrics that --sim can simulate, writes them to files for ibkit
and ibsim, serves them to other programs, and changes them while they are
served.`),
	}
	cmdutil.RequireCommand(cmd)
	require := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 && cmdutil.IsPreset(args[0]) {
			return cmdutil.WithHint(cmdutil.UsageErrorf("unknown command %q", args[0]),
				fmt.Sprintf("try ibkit sim serve %s, or --sim %[1]s with another command", args[0]))
		}
		return require(cmd, args)
	}
	for _, newCommand := range commands {
		cmd.AddCommand(newCommand(env))
	}
	return cmd
}
