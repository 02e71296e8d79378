// Package sim has the commands that list, export and serve simulated fabrics.
package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/sim"
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
		if len(args) > 0 && isPreset(args[0]) {
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

// isPreset reports whether a description of a fabric begins with the name of a preset.
func isPreset(description string) bool {
	name, _, _ := strings.Cut(description, ":")
	return slices.ContainsFunc(sim.Presets, func(p sim.Preset) bool { return p.Name == name })
}
