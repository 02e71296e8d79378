package check

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/routefiles"
	"github.com/ibkit/ibkit/internal/tool/check"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/topology"
)

// fabricCheck is one call of check fabric.
type fabricCheck struct {
	verdict
	fabric  fabricflag.Flags
	source  fabricflag.Source
	files   routefiles.Flags
	options check.FabricOptions

	plan, since, smKey string
	vendorKey          string
	window, smWait     time.Duration
}

// newFabric returns the command check fabric.
func newFabric(env *cmdutil.Env) *cobra.Command {
	c := &fabricCheck{verdict: verdict{env: env, scope: "fabric"}}
	for _, s := range check.FabricStages() {
		c.stages = append(c.stages, stage{s.Name, s.About, s.Kinds})
	}
	cmd := &cobra.Command{
		Use:   "fabric [flags]",
		Short: "Check a fabric: links, partitions, counters, routing, cabling",
		Long: strings.TrimSpace(`
check fabric scans a fabric and runs the stages of --list: the checks of
ibdiagnet and UFM. It prints the findings of each cable and node together, the
worst first, with the next steps, then a table of the stages, and last the
reason for the exit code.

The stages cables, temperature, power and ber read registers of NVIDIA devices,
as ibkit phy does, for at most a minute: in fabrics up to 4096 link ends, and in
larger fabrics with --phy, or if --only names the stage.

With --from FILE it checks a stored fabric: a cache, the JSON of linkinfo with
attributes, ibdiagnet2.db_csv, or the directory with the files of ibdiagnet or
of ibkit topology --ibdiagnet. Stages that send requests are skipped.

The exit code is 0 if there are no errors, 3 if there are, 4 if a part could not
be checked; --format nagios has the codes 0 to 3 of Nagios, --format nhc 0 or 1,
and --format npd 0 to 2 of Node Problem Detector.`),
		Example: strings.Trim(`
  # all stages; exit code 3 if there are errors
  ibkit check fabric

  # errors since yesterday, bit error rates, and the cabling against a plan
  ibkit counters --save counters.baseline
  ibkit check fabric --since counters.baseline --plan plan.csv

  # some stages, and their thresholds
  ibkit check fabric --only links,speed,sm
  ibkit check fabric --write-thresholds thresholds.yaml
  ibkit check fabric --thresholds thresholds.yaml

  # a stored fabric
  ibkit topology --ibdiagnet files
  ibkit check fabric --from files

  # a plugin of Nagios, a report for a CI server
  ibkit check fabric --format nagios
  ibkit check fabric --format junit > fabric.xml

  # without hardware
  ibkit check fabric --sim demo`, "\n"),
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.complete(cmd.Context(), cmd.Flags()); err != nil {
				return err
			}
			defer c.fabric.PrintStats(env)
			return c.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	c.register(cmd)
	flags.StringVar(&c.plan, "plan", "", "compare the cabling with the plan in `FILE`")
	flags.DurationVar(&c.window, "window", 0, "read counters twice in this `TIME`, for errors now and bit error rates")
	flags.DurationVar(&c.smWait, "sm-wait", 0, "`TIME` between two readings of subnet managers; 0s: one (default 1s)")
	flags.StringVar(&c.since, "since", "", "compare counters with the baseline in `FILE` (ibkit counters --save)")
	c.source.Define(cmd)
	flags.StringSliceVar(&c.files.Load, "tables", nil, "read forwarding tables from the files or the directory `PATH`")
	c.files.RegisterLMC(flags)
	flags.BoolVar(&c.options.Registers, "phy", false, "read the registers of more than 4096 link ends, too")
	flags.StringVar(&c.vendorKey, "vs-key", "", "vendor key for registers: a `KEY`, @FILE, or - for a prompt")
	flags.StringVar(&c.smKey, "sm-key", "", "SM_Key, to read members of groups: a `KEY`, @FILE, or - for a prompt")
	c.fabric.Define(env, cmd)
	c.wrap(cmd)
	return cmd
}

// fabricRules are the relations between the flags.
var fabricRules = cmdutil.FlagRules{
	Clashes: append([]cmdutil.Clash{
		{Flags: []string{"window"}, Others: []string{"since"}},
	}, verdictRules...),
	Needs: []cmdutil.Need{routefiles.Need()},
}

// complete checks the flags and reads the files.
func (c *fabricCheck) complete(ctx context.Context, flags *pflag.FlagSet) (err error) {
	if err := fabricRules.Check(flags); err != nil {
		return err
	}
	if err := c.verdict.complete(flags); err != nil {
		return err
	}
	if flags.Changed("window") && c.window <= 0 {
		return cmdutil.UsageErrorf("invalid --window %v: want a time above 0", c.window)
	}
	if flags.Changed("sm-wait") {
		if c.smWait < 0 {
			return cmdutil.UsageErrorf("invalid --sm-wait %v: want 0s or more", c.smWait)
		}
		c.limits.SMWait = c.smWait
	}
	if c.list || c.writeThresholds != "" {
		return nil
	}
	if err := c.checkRequirements(flags, []requirement{{"plan", []string{"plan"}}, {"ber", []string{"window", "since", "phy"}}}); err != nil {
		return err
	}
	if err := c.source.Complete([]string{"window", "sm-wait", "sm-key", "phy", "vs-key"}, nil); err != nil {
		return err
	}
	o := &c.options
	if err := c.readStored(); err != nil {
		return err
	}
	if c.plan != "" {
		if o.Plan, err = topology.ReadPlan(c.plan); err != nil {
			return &cmdutil.UsageError{Err: cmdutil.WithFileHint(err, cmdutil.PlanHint)}
		}
	}
	if c.since != "" {
		if o.Since, err = counters.ReadBaselineFile(c.since); err != nil {
			return &cmdutil.UsageError{Err: cmdutil.WithFileHint(err, cmdutil.BaselineHint)}
		}
	}
	if err := c.fabric.Complete(ctx, c.env); err != nil {
		return err
	}
	if o.Since != nil {
		c.fabric.ContinueSimulation(o.Since.Simulation)
	}
	if o.SMKey, err = c.fabric.SMKey(ctx, c.env, c.smKey); err != nil {
		return err
	}
	if o.VendorKey, err = fabricflag.OptionalKey(ctx, c.env, "vendor key", c.vendorKey); err != nil {
		return err
	}
	o.Source, o.SMLID = c.source.Fabric(&c.fabric.Settings, c.env), c.fabric.SMLID
	o.Window, o.Limits, o.Only, o.Skip = c.window, c.limits, c.only, c.skip
	o.Names, err = c.fabric.Names(c.env)
	return err
}

// readStored reads the stored fabric. A directory of ibdiagnet has the tables, too.
func (c *fabricCheck) readStored() (err error) {
	if info, err := os.Stat(c.source.File); err == nil && info.IsDir() && len(c.files.Load) == 0 {
		c.files.Load = []string{c.source.File}
	}
	if c.options.Stored, err = c.source.Database(); err != nil || !c.selects("routing") {
		return err
	}
	c.options.Tables, err = c.files.Read()
	return err
}

// waits describes the times between two readings, which the check waits, or is "".
func (c *fabricCheck) waits() string {
	if c.options.Stored != nil {
		return ""
	}
	var waits []string
	if d := c.limits.SMWait; d > 0 && c.selects("sm") {
		waits = append(waits, fmt.Sprintf("subnet managers twice, %v apart (--sm-wait)", d))
	}
	if d := c.window; d > 0 && (c.selects("counters") || c.selects("ber")) {
		waits = append(waits, fmt.Sprintf("counters twice, %v apart (--window)", d))
	}
	if len(waits) == 0 {
		return ""
	}
	return "reading " + strings.Join(waits, ", ")
}

// run checks the fabric.
func (c *fabricCheck) run(ctx context.Context) error {
	if done, err := c.prepare(); done {
		return err
	}
	bar := render.NewProgress(c.env.ErrOut)
	c.options.Source.Progress = bar.Update
	if wait := c.waits(); wait != "" && c.format == formatText {
		bar.Wait(wait)
	}
	r, err := check.Fabric(ctx, c.options)
	bar.Close()
	if c.window > 0 {
		c.fabric.WarnEarlyEvents(c.env)
	}
	if err != nil {
		return fabricflag.WithHint(err)
	}
	return c.print(r)
}
