// Package sim has the commands that list, export and serve simulated fabrics.
package sim

import (
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
	for _, newCommand := range commands {
		cmd.AddCommand(newCommand(env))
	}
	return cmd
}
