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

// newExport makes the command that writes a fabric to a file.
func newExport(env *cmdutil.Env) *cobra.Command {
	var format, path string
	cmd := &cobra.Command{
		Use:   "export DESCRIPTION [flags]",
		Short: "Write a simulated fabric to a file that ibkit and ibsim load",
		Long: strings.TrimSpace(`
export writes the fabric that --sim DESCRIPTION would simulate.

A net file has what the ends of the links have enabled, a topology file what the
links run at, and LIDs. JSON is what linkinfo --json --attributes prints: all that ports say of
themselves. ibsim loads the first two, ibkit all three.`),
		Example: strings.Trim(`
  # a fat tree for ibsim
  ibkit sim export fat-tree:radix=8,pods=4,speed=HDR -o fat-tree.net
  ibsim -s fat-tree.net

  # the form of ibnetdiscover
  ibkit sim export demo --format topology

  # the form of linkinfo --json --attributes
  ibkit sim export demo --format json -o demo.json
  ibkit linkinfo --sim demo.json`, "\n"),
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cmdutil.UsageErrorf("export takes one description of a fabric, such as demo, and not %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			write := map[string]func(*sim.Fabric, io.Writer) error{
				"net": (*sim.Fabric).WriteNet, "topology": (*sim.Fabric).WriteTopology,
				"json": func(f *sim.Fabric, w io.Writer) error { return writeFabricJSON(cmd.Context(), f, w) },
			}[format]
			if write == nil {
				return cmdutil.UsageErrorf("unknown format %q: it has to be net, topology or json", format)
			}
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
	flags.StringVar(&format, "format", "net", "net for a net file of ibsim, topology for the `FORMAT` of ibnetdiscover, json for that of linkinfo --json --attributes")
	cmdutil.CompleteFlag(env, cmd, "format", cmdutil.Constant("json", "net", "topology"))
	flags.StringVarP(&path, "output", "o", "", "write to `FILE` (default: standard output)")
	cmdutil.CompleteOperand(env, cmd, fabricflag.Fabrics)
	return cmd
}
