// Package check has the commands that check a fabric, its routing, or this node.
package check

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// commands are the subcommands.
var commands = []func(*cmdutil.Env) *cobra.Command{newFabric, newNode, newRoutes}

// New returns the command check.
func New(env *cmdutil.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check a fabric, this node, or the routing of a fabric",
		Long: strings.TrimSpace(`
check has commands that return a verdict on a fabric, on this node, or on the
routing of a fabric: a list of findings, and exit code 3 if there are any.`),
	}
	cmdutil.RequireCommand(cmd)
	for _, newCommand := range commands {
		cmd.AddCommand(newCommand(env))
	}
	return cmd
}
