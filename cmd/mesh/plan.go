package mesh

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/mesh"
)

// plan is one call of mesh plan.
type plan struct {
	env    *cmdutil.Env
	source source

	schedule  scheduleFlag
	test      testFlags
	nodes     fabricflag.NodePatterns
	json, csv bool
}

// newPlan returns the command mesh plan.
func newPlan(env *cmdutil.Env) *cobra.Command {
	c := &plan{env: env, source: source{env: env}}
	cmd := &cobra.Command{
		Use:   "plan [flags]",
		Short: "Predict the links that a schedule of measurements shares",
		Long: strings.TrimSpace(`
mesh plan counts the rounds of a schedule, predicts by the forwarding tables
how many flows share a link with another flow of their round, and how many
links between switches the flows cross. It sends no traffic. The duration is an
estimate for mesh run with the same --duration and --metric: 0.1 s to connect,
0.2 s of warm-up and the measured time, and 26 µs for each host per round.

Hosts are in the order of their leaf switches and LIDs. Schedules:

` + scheduleHelp()),
		Example: strings.Trim(`
  # all pairs, and the links that flows share
  ibkit mesh plan --schedule shift

  # the rounds without shared links, as a file for other programs
  ibkit mesh plan --schedule aware --csv > rounds.csv

  # the effect of random permutations, without hardware
  ibkit mesh plan --sim fat-tree --schedule random:32`, "\n"),
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.complete(cmd.Context(), cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	c.schedule.define(env, cmd, "`SCHEDULE` of the measurement")
	c.test.defineTime(cmd)
	c.nodes.Register(env, cmd, "include")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.csv, "csv", false, "print the flows of each round as comma-separated values")
	c.source.define(cmd)
	return cmd
}

// planRules are the relations between the flags.
var planRules = cmdutil.FlagRules{Clashes: []cmdutil.Clash{{Flags: []string{"json"}, Others: []string{"csv"}}}}

func (c *plan) complete(ctx context.Context, flags *pflag.FlagSet) error {
	if err := planRules.Check(flags); err != nil {
		return err
	}
	if err := c.nodes.Check(); err != nil {
		return err
	}
	if err := c.test.checkDuration(); err != nil {
		return err
	}
	if err := c.schedule.complete(); err != nil {
		return err
	}
	return c.source.complete(ctx, flags)
}

// run predicts and prints.
func (c *plan) run(ctx context.Context) error {
	w, err := c.source.wiring(ctx)
	if err != nil {
		return err
	}
	if err := w.CheckNodes(c.nodes); err != nil {
		return err
	}
	out := render.NewOutput(c.env.Out)
	o := mesh.PlanOptions{Schedule: c.schedule.value, Nodes: c.nodes, Began: c.source.routing.Began, Takes: c.test.takes(), LoadTime: loadTime}
	rows := textfile.NewCSV(out)
	if c.csv {
		rows.Write("round", "src", "dst")
		o.Each = func(round int, from, to string) { rows.Write(strconv.Itoa(round), from, to) }
	}
	p, err := mesh.NewPlan(ctx, w, o)
	switch {
	case err != nil:
		return err
	case c.json:
		render.WriteLine(out, p)
	case !c.csv:
		(&view{env: c.env, out: out}).plan(p)
	}
	_ = rows.Flush() // Flush of out reports errors
	if err := out.Flush(); err != nil {
		return err
	}
	c.source.fabric.PrintStats(c.env)
	return cmdutil.HeadError(&p.Head)
}
