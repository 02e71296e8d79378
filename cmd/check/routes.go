package check

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/route"
)

// routes is one call of check routes.
type routes struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags

	load         []string
	lmc          uint8
	save, diff   string
	patterns     []string
	withSwitches bool
	pathSLs      bool
	kinds, fail  []string
	limit        int
	json, csv    bool

	options route.Options
	names   *fabric.NameMap
}

func kindNames() []string {
	var names []string
	for _, k := range route.Kinds {
		names = append(names, string(k))
	}
	return names
}

// newRoutes returns the command check routes.
func newRoutes(env *cmdutil.Env) *cobra.Command {
	c := &routes{env: env}
	cmd := &cobra.Command{
		Use:   "routes [flags]",
		Short: "Check the routing of a fabric: reachability, loops, balance",
		Long: strings.TrimSpace(`
check routes reads the forwarding tables of all switches and follows the path
from each end port to each LID. It reports paths that do not arrive, forwarding
loops, credit loops, links with uneven loads, and multicast trees with defects.

--load reads files instead: a routing that --save stored, or a topology
(opensm-subnet.lst, or a cache of ibnetdiscover) with tables (opensm.fdbs,
.mcfdbs, .slvl and .psl of opensm -D 0x43 or ibdiagnet, output of dump_fts). A
directory stands for the files in it.`),
		Example: strings.Trim(`
  # the routing of the fabric; exit code 3 if it has findings
  ibkit check routes

  # store the tables; later: the paths that changed since
  ibkit check routes --save before
  ibkit check routes --diff before

  # the dumps of opensm -D 0x43
  ibkit check routes --load /var/log

  # the most flows on a link if all hosts send to another one
  ibkit check routes --pattern shift,random

  # without hardware: the shortest paths in a torus have credit loops
  ibkit check routes --sim torus`, "\n"),
		Args:                  cmdutil.NoArguments,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.complete(cmd.Context(), cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	c.define(cmd)
	return cmd
}

func (c *routes) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&c.load, "load", nil, "read the files or the directory `PATH` instead of scanning")
	flags.Uint8Var(&c.lmc, "lmc", 0, "LMC `N` of end ports, if files do not contain it (--load)")
	flags.StringVar(&c.save, "save", "", "store nodes and tables in `FILE`")
	flags.StringVar(&c.diff, "diff", "", "show differences from the routing stored in `FILE`")
	cmdutil.EnumListFlag(cmd, &c.patterns, "pattern", "", route.Patterns, "measure the congestion of a traffic `PATTERN`")
	flags.BoolVar(&c.withSwitches, "with-switches", false, "include paths from and to the LIDs of switches")
	flags.BoolVar(&c.pathSLs, "path-sls", false, "query the service level of each path if there are credit loops")
	cmdutil.EnumListFlag(cmd, &c.kinds, "finding", "", kindNames(), "show only findings of a `KIND`")
	cmdutil.EnumListFlag(cmd, &c.fail, "fail-on", "", kindNames(), "exit with 3 for a `KIND` (default: --finding, or all)")
	flags.IntVar(&c.limit, "limit", 10, "print at most `N` findings of each kind; 0: all")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.csv, "csv", false, "print the findings as comma-separated values")
	c.fabric.Define(c.env, cmd)
}

// routesRules are the relations between the flags.
var routesRules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"json"}, Others: []string{"csv"}},
		{Flags: []string{"load"}, Others: []string{"sim", "Ca", "Port", "timeout", "sm_port", "m_key", "outstanding_smps", "errors", "path-sls"}},
		{Flags: []string{"csv"}, Others: []string{"diff", "pattern"}},
	},
	Needs: []cmdutil.Need{{Flags: []string{"lmc"}, Others: []string{"load"}}},
}

// complete checks the flags and derives the options.
func (c *routes) complete(ctx context.Context, flags *pflag.FlagSet) (err error) {
	if err := routesRules.Check(flags); err != nil {
		return err
	}
	switch {
	case c.lmc > 7:
		return cmdutil.UsageErrorf("invalid --lmc %d: want 0 to 7", c.lmc)
	case c.limit < 0:
		return cmdutil.UsageErrorf("invalid --limit %d: want at least 0", c.limit)
	}
	o := &c.options
	for _, name := range c.patterns {
		p, err := route.ParsePattern(name)
		if err != nil {
			return &cmdutil.UsageError{Err: err}
		}
		o.Analyze.Patterns = append(o.Analyze.Patterns, p)
	}
	if len(c.fail) == 0 {
		c.fail = c.kinds
	}
	if err := c.fabric.Complete(ctx, c.env); err != nil {
		return err
	}
	o.Open, o.Client, o.SMLID = c.fabric.Open(c.env), c.fabric.Client(c.env), c.fabric.SMLID
	o.Load, o.LMC, o.PathSLs, o.Analyze.WithSwitches = c.load, c.lmc, c.pathSLs, c.withSwitches
	c.names, err = c.fabric.Names(c.env)
	return err
}

// run reads, analyses and prints.
func (c *routes) run(ctx context.Context) error {
	var before *route.Routing
	if c.diff != "" {
		var err error
		if before, err = route.Load([]string{c.diff}, route.LoadOptions{LMC: c.lmc}); err != nil {
			return &cmdutil.UsageError{Err: err}
		}
	}
	bar := render.NewProgress(c.env.ErrOut)
	c.options.Progress = bar.Update
	a, err := route.Check(ctx, c.options)
	bar.Close()
	switch {
	case err != nil && len(c.load) > 0 && ctx.Err() == nil:
		return &cmdutil.UsageError{Err: err} // as for all files that the user names
	case err != nil:
		return err
	}
	c.printFailures(a)
	if c.save != "" {
		if err := fileout.Write(c.save, a.Routing.Save); err != nil {
			return fmt.Errorf("store routing: %w", err)
		}
	}
	var changes []route.Change
	if before != nil {
		changes = route.Diff(before, a.Routing, c.names)
		if changes == nil {
			changes = []route.Change{}
		}
	}
	findings := a.Findings(c.names)
	out := render.NewOutput(c.env.Out)
	c.print(out, a, c.selected(findings), changes)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return cmdutil.ResultError(a.Partial(), slices.ContainsFunc(findings, c.fails) || len(changes) > 0)
}

// printFailures prints the requests without a response.
func (c *routes) printFailures(a *route.Analysis) {
	for i, f := range a.Routing.Failures {
		if i == fabricflag.MaxFailures && c.fabric.Verbose == 0 {
			fmt.Fprintf(c.env.ErrOut, "warning: %d more failures (-v prints all)\n", len(a.Routing.Failures)-i)
			break
		}
		name := "unknown node"
		if f.Node != nil {
			name = c.names.NameOf(f.Node.GUID, f.Node.Desc)
		}
		fmt.Fprintf(c.env.ErrOut, "warning: %s: %v\n", name, f.Err)
	}
}

// selected returns the findings to be printed.
func (c *routes) selected(findings []route.Finding) []route.Finding {
	if len(c.kinds) == 0 {
		return findings
	}
	return slices.DeleteFunc(slices.Clone(findings), func(f route.Finding) bool { return !slices.Contains(c.kinds, string(f.Kind)) })
}

// fails reports whether a finding makes the command exit with code 3.
func (c *routes) fails(f route.Finding) bool {
	return len(c.fail) == 0 || slices.Contains(c.fail, string(f.Kind))
}

func (c *routes) print(out *render.Output, a *route.Analysis, findings []route.Finding, changes []route.Change) {
	switch {
	case c.json:
		out.Write(render.MustMarshal(route.NewReport(a, findings, changes, c.names)))
		out.WriteByte('\n')
	case c.csv:
		printFindingsCSV(out, findings)
	default:
		c.printSummary(out, a)
		c.printFindings(out, findings)
		for _, change := range changes {
			fmt.Fprintf(out, "changed: %s\n", change.Detail)
		}
	}
}

func printFindingsCSV(out io.Writer, findings []route.Finding) {
	w := csv.NewWriter(out)
	_ = w.Write([]string{"kind", "node_guid", "count", "detail"}) // Flush of out reports errors
	for _, f := range findings {
		guid := ""
		if f.Node != nil {
			guid = f.Node.GUID.String()
		}
		_ = w.Write([]string{string(f.Kind), guid, strconv.FormatUint(f.Count, 10), f.Detail})
	}
	w.Flush()
}
