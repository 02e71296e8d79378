// Package mesh is the command that judges measurements between many hosts.
package mesh

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/mesh"
)

// command is one call of mesh, which simulates a measurement.
type command struct {
	env    *cmdutil.Env
	source source

	model  modelFlags
	format string
	json   bool
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env, source: source{env: env}}
	cmd := &cobra.Command{
		Use:   "mesh --sim FABRIC [flags]",
		Short: "Find the host, cable or switch port that slows a cluster",
		Long: strings.TrimSpace(`
mesh analyze judges measured bandwidths and latencies between many hosts, and
mesh plan predicts the links that a schedule of measurements shares.

mesh itself simulates a measurement: it calculates the figures from the routes
of a simulated fabric, the rates of its links, noise, and planted faults, and
prints them in the form that mesh analyze reads. The same seed gives the same
figures. Flows that use a link in the same round share its rate. mesh run
measures with workers that srun, mpirun or ssh start.

A fault is a host, a switch, or a port for the direction that it sends in, and
a speed (=60%), a delay (=+2us), =hang (no figures) or =missing (no results).`),
		Example: strings.Trim(`
  # a link that is slow in the direction of spine001, and the verdict
  ibkit mesh --sim fat-tree --fault 'leaf001[21]=60%' > results.csv
  ibkit mesh analyze results.csv --sim fat-tree

  # four faults at random places, and 32 rounds without shared links
  ibkit mesh --sim torus --plant 4 --schedule quick:32 --json > results.json
  ibkit mesh analyze results.json --sim torus`, "\n"),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmdutil.UnknownCommand(cmd, args[0])
			}
			if err := c.complete(cmd.Context(), cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	c.define(cmd)
	cmd.AddCommand(newRun(env), newServe(env), newAnalyze(env), newPlan(env))
	return cmd
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	c.model.define(c.env, cmd)
	cmdutil.EnumFlag(cmd, &c.format, "format", formatCSV, []string{formatCSV, formatJSON, formatLines}, "output `FORMAT`")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	c.source.fabric.Define(c.env, cmd)
	_ = flags.MarkHidden("sm-port") // no subnet manager is queried
}

// rules are the relations between the flags.
var rules = cmdutil.FlagRules{Clashes: []cmdutil.Clash{{Flags: []string{"json"}, Others: []string{"format"}}}}

func (c *command) complete(ctx context.Context, flags *pflag.FlagSet) error {
	if err := rules.Check(flags); err != nil {
		return err
	}
	if err := c.model.complete(); err != nil {
		return err
	}
	if err := c.source.complete(ctx, flags); err != nil {
		return err
	}
	if !c.source.fabric.IsSimulated() {
		err := cmdutil.UsageErrorf("the fabric is not simulated: mesh calculates figures, it does not measure")
		return cmdutil.WithHint(err, "select a fabric: --sim fat-tree; to measure: ibkit mesh run; to judge results: ibkit mesh analyze FILE")
	}
	return nil
}

// run simulates and prints the results.
func (c *command) run(ctx context.Context) error {
	w, err := c.source.wiring(ctx)
	if err != nil {
		return err
	}
	o, err := c.model.options(w)
	if err != nil {
		return err
	}
	r, err := mesh.Simulate(ctx, w, o)
	if err != nil {
		return err
	}
	doc := mesh.NewReportResults(c.source.head(mesh.ResultsSchema), &o)
	out := render.NewOutput(c.env.Out)
	if c.json {
		c.format = formatJSON
	}
	printResults(out, c.format, r, doc)
	if c.format != formatJSON {
		for _, f := range o.Faults[len(c.model.faults):] {
			fmt.Fprintf(c.env.ErrOut, "planted: %s=%.1f%%\n", f.Subject, 100*f.Share)
		}
	}
	for _, link := range w.Inactive() {
		fmt.Fprintf(c.env.ErrOut, "without figures: %s\n", cmdutil.Visible(link))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	c.source.fabric.PrintStats(c.env)
	return cmdutil.HeadError(&doc.Head)
}

// printResults prints results in a format.
func printResults(out *render.Output, format string, r *mesh.Results, doc *mesh.ReportResults) {
	switch format {
	case formatJSON:
		printJSON(out, r, doc)
	case formatLines:
		for i, f := range r.All() {
			render.WriteLine(out, r.ReportFlow(i, f))
		}
	default:
		printFlows(out, r)
	}
}

// printJSON prints a [mesh.ReportResults], a line per flow.
func printJSON(out *render.Output, r *mesh.Results, doc *mesh.ReportResults) {
	render.WriteMembers(out, '{', doc)
	i := -1
	render.WriteArray(out, "flows", r.All(), func(f mesh.Flow) any { i++; return r.ReportFlow(i, f) })
	out.WriteString("\n}\n")
}

// printFlows prints the columns that mesh analyze reads.
func printFlows(out *render.Output, r *mesh.Results) {
	figure := func(v float32) string {
		if v != v {
			return ""
		}
		return strconv.FormatFloat(float64(v), 'g', 5, 32)
	}
	columns := r.Columns()
	w := textfile.NewCSV(out, columns...)
	for i, f := range r.All() {
		congested := "0"
		if i >= len(r.Flows) {
			congested = "1"
		}
		w.Write([]string{r.Names[f.From], r.Names[f.To], figure(f.Gbps), figure(f.Micros), congested}[:len(columns)]...)
	}
	_ = w.Flush() // Flush of out reports errors
}
