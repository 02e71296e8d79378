package sim

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/sim"
)

// newList returns the command sim list.
func newList(env *cmdutil.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List the simulated fabrics with their parameters and defaults",
		Args:  cmdutil.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return listFabricsJSON(env.Out)
			}
			return listFabrics(env.Out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// commonOptions are the parameters of presets and of files.
var commonOptions = []sim.Parameter{
	{Name: "sm", Default: "on", About: "minhop: configured with shortest paths; updown: with up/down routing; on: updown in dragonfly and torus, minhop elsewhere; off: not configured"},
	{Name: "root", Default: "", About: "ID of a root switch for sm=updown; repeat it for several roots"},
	{Name: "vendor", Default: "off", About: "on: all nodes respond to NVIDIA's attributes"},
	{Name: "ar", Default: "off", About: "on: the same, and switches use adaptive routing"},
}

func listFabrics(w io.Writer) error {
	out := render.NewOutput(w)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "FABRIC\tPARAMETER\tDEFAULT\tDESCRIPTION\n")
	for _, p := range sim.Presets {
		fmt.Fprintf(t, "%s\t\t\t%s\n", p.Name, p.About)
		for _, v := range p.Parameters {
			fmt.Fprintf(t, "\t%s\t%s\t%s\n", v.Name, v.Default, v.About)
		}
	}
	for _, f := range fabricflag.Sources {
		fmt.Fprintf(t, "%s\t\t\t%s\n", f.Description, f.About)
	}
	fmt.Fprintf(t, "presets and files\t\t\tmore parameters, for example demo,sm=off\n")
	for _, v := range commonOptions {
		fmt.Fprintf(t, "\t%s\t%s\t%s\n", v.Name, v.Default, v.About)
	}
	_ = t.Flush() // Flush of out reports failed writes
	return out.Flush()
}

// listFabricsJSON prints the presets as JSON.
func listFabricsJSON(w io.Writer) error {
	out := render.NewOutput(w)
	render.WriteDocument(out, sim.NewReportList())
	return out.Flush()
}
