package sim

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/sim"
)

// newExport returns the command sim export.
func newExport(env *cmdutil.Env) *cobra.Command {
	var format, path string
	cmd := &cobra.Command{
		Use:   "export [flags] FABRIC",
		Short: "Write a simulated fabric to a file that ibkit and ibsim load",
		Long: strings.TrimSpace(`
export writes the fabric that --sim FABRIC simulates.

A net file contains the enabled widths and speeds of links, a topology file the
active ones and LIDs, and JSON (as linkinfo --json --attributes prints it) all
attributes of nodes and ports. ibsim reads the first two formats, ibkit all.`),
		Example: strings.Trim(`
  # a fat tree for ibsim
  ibkit sim export fat-tree:radix=8,pods=4,speed=HDR --output fat-tree.net
  ibsim -s fat-tree.net

  # the format of ibnetdiscover
  ibkit sim export demo --format topology

  # JSON, for a fabric with the same state
  ibkit sim export demo --format json --output demo.json
  ibkit linkinfo --sim demo.json`, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmdutil.Missing("fabric")
			}
			if len(args) != 1 {
				return cmdutil.WithHint(cmdutil.UsageErrorf("number of fabrics: got %d, want 1", len(args)), "write to a file: --output "+args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			write := map[string]func(*sim.Fabric, io.Writer) error{
				"net": (*sim.Fabric).WriteNet, "topology": (*sim.Fabric).WriteTopology,
				"json": func(f *sim.Fabric, w io.Writer) error { return writeFabricJSON(cmd.Context(), f, w) },
			}[format]
			f, err := fabricflag.Build(args[0])
			if err != nil {
				return err
			}
			if path == "" {
				return write(f, env.Out)
			}
			return fileout.Write(path, func(w io.Writer) error { return write(f, w) })
		},
	}
	flags := cmd.Flags()
	cmdutil.EnumFlag(cmd, &format, "format", "net", []string{"net", "topology", "json"}, "`FORMAT` of ibsim, ibnetdiscover or linkinfo")
	flags.StringVar(&path, "output", "", "write to `FILE` (default: standard output)")
	cmdutil.CompleteOperand(env, cmd, fabricflag.Fabrics)
	return cmd
}
