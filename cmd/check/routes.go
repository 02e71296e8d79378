package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/routefiles"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/internal/tool/route/dump"
	"github.com/ibkit/ibkit/report"
)

// routes is one call of check routes.
type routes struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags

	files        routefiles.Flags
	save, diff   string
	withSwitches bool
	pathSLs      bool
	smKey        string
	kinds, fail  []report.Kind
	limit        int
	json, csv    bool

	options route.Options
	names   *fabric.NameMap
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

--tables reads files instead: a routing that --save stored, or a topology
(opensm-subnet.lst, or the output of ibnetdiscover) with tables (opensm.fdbs,
.mcfdbs, .slvl and .psl of opensm -D 0x43 or ibdiagnet, output of dump_fts). A
directory stands for the files in it.`),
		Example: strings.Trim(`
  # the routing of the fabric; exit code 3 if it has findings
  ibkit check routes

  # store the tables; later: the paths that changed since
  ibkit check routes --save routes.tables
  ibkit check routes --diff routes.tables

  # the dumps of opensm -D 0x43
  ibkit check routes --tables /var/log

  # the most flows on a link if all hosts send to another one
  ibkit check routes --pattern shift,random

  # compare multicast trees with the members of their groups
  ibkit check routes --sm-key 1

  # without hardware: the shortest paths in a torus have credit loops
  ibkit check routes --sim torus,sm=minhop`, "\n"),
		Args: cmdutil.NoArguments,
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
	c.files.Register(flags)
	flags.StringVar(&c.save, "save", "", "store nodes and tables in `FILE`")
	flags.StringVar(&c.diff, "diff", "", "show differences from the routing stored in `FILE`")
	cmdutil.EnumListFlag(cmd, &c.options.Analyze.Patterns, "pattern", route.Patterns, "measure the congestion of a traffic `PATTERN`")
	flags.BoolVar(&c.withSwitches, "with-switches", false, "include paths from and to the LIDs of switches")
	flags.BoolVar(&c.pathSLs, "path-sls", false, "query the service level of each path if there are credit loops")
	flags.StringVar(&c.smKey, "sm-key", "", "SM_Key, to read members of groups: a `KEY`, @FILE, or - for a prompt")
	cmdutil.EnumListFlag(cmd, &c.kinds, "finding", route.Kinds, "show only a `FINDING`")
	cmdutil.EnumListFlag(cmd, &c.fail, "fail-on", route.Kinds, "exit with 3 for a `FINDING` (default: --finding, or all)")
	flags.IntVar(&c.limit, "limit", 10, "print at most `N` findings of each kind; 0: all")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.csv, "csv", false, "print the findings as comma-separated values")
	c.fabric.Define(c.env, cmd)
}

// routesRules are the relations between the flags.
var routesRules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"json"}, Others: []string{"csv"}},
		routefiles.Clash("path-sls", "sm-key"),
		{Flags: []string{"csv"}, Others: []string{"diff", "pattern"}},
	},
	Needs: []cmdutil.Need{routefiles.Need()},
}

// complete checks the flags and derives the options.
func (c *routes) complete(ctx context.Context, flags *pflag.FlagSet) (err error) {
	if err := routesRules.Check(flags); err != nil {
		return err
	}
	switch {
	case c.limit < 0:
		return cmdutil.UsageErrorf("invalid --limit %d: want at least 0", c.limit)
	}
	o := &c.options
	if len(c.fail) == 0 {
		c.fail = c.kinds
	}
	if err := c.fabric.Complete(ctx, c.env); err != nil {
		return err
	}
	if o.SMKey, err = c.fabric.SMKey(ctx, c.env, c.smKey); err != nil {
		return err
	}
	if flags.Changed("sm-port") && o.SMKey == 0 && !c.pathSLs {
		return cmdutil.UsageErrorf("%s has no effect without --sm-key or --path-sls", cmdutil.FlagName(flags, "sm-port"))
	}
	o.Source, o.SMLID = c.fabric.Source(c.env), c.fabric.SMLID
	o.Source.NoExtendedPortInfo = true // no speeds
	o.PathSLs, o.Analyze.WithSwitches = c.pathSLs, c.withSwitches
	if o.Loaded, err = c.files.Read(); err != nil {
		return err
	}
	c.names, err = c.fabric.Names(c.env)
	return err
}

// run reads, analyses and prints.
func (c *routes) run(ctx context.Context) error {
	var before *route.Routing
	if c.diff != "" {
		var err error
		if before, err = dump.Load([]string{c.diff}, dump.LoadOptions{LMC: c.files.LMC}); err != nil {
			return cmdutil.WithFileHint(&cmdutil.UsageError{Err: err}, cmdutil.TablesHint)
		}
	}
	bar := render.NewProgress(c.env.ErrOut)
	c.options.Source.Progress = bar.Update
	a, err := route.Check(ctx, c.options)
	bar.Close()
	if err != nil {
		return err
	}
	if a.EndPorts == 0 && !a.Partial() {
		err := errors.New("analyze routing: no port has a LID, so that there are no paths")
		return cmdutil.WithHint(err, "check that a subnet manager has configured the fabric: ibkit sm")
	}
	routefiles.PrintFailures(c.fabric.Failures(c.env, "warning"), a.Routing, c.names)
	if err := c.store(a); err != nil {
		return err
	}
	var changes []route.Change
	if before != nil {
		if before.Partial() {
			fmt.Fprintf(c.env.ErrOut, "warning: the routing stored in %s is partial\n", cmdutil.Visible(c.diff))
			routefiles.PrintFailures(c.fabric.Failures(c.env, "warning"), before, c.names)
		}
		changes = route.Diff(before, a.Routing, c.names)
		if changes == nil {
			changes = []route.Change{}
		}
	}
	findings := a.Findings(c.names)
	out := render.NewOutput(c.env.Out)
	partial := a.Partial() || before != nil && before.Partial()
	c.print(out, a, c.selected(findings), changes, partial)
	if err := out.Flush(); err != nil {
		return err
	}
	c.fabric.PrintStats(c.env)
	return cmdutil.ResultError(partial, slices.ContainsFunc(findings, c.fails) || len(changes) > 0)
}

// store writes the file of --save. A partial result does not replace another one.
func (c *routes) store(a *route.Analysis) error {
	if c.save == "" {
		return nil
	}
	if info, err := os.Stat(c.save); err == nil && info.Mode().IsRegular() && a.Partial() {
		fmt.Fprintf(c.env.ErrOut, "warning: %s was not replaced, because the result is partial\n", cmdutil.Visible(c.save))
		return nil
	}
	if err := fileout.Write(c.save, func(w io.Writer) error { return dump.Save(w, a.Routing) }); err != nil {
		return fmt.Errorf("store routing: %w", err)
	}
	return nil
}

// selected returns the findings to be printed.
func (c *routes) selected(findings []report.Finding) []report.Finding {
	if len(c.kinds) == 0 {
		return findings
	}
	return slices.DeleteFunc(slices.Clone(findings), func(f report.Finding) bool { return !slices.Contains(c.kinds, f.Kind) })
}

// fails reports whether a finding makes the command exit with code 3.
func (c *routes) fails(f report.Finding) bool {
	return len(c.fail) == 0 || slices.Contains(c.fail, f.Kind)
}

func (c *routes) print(out *render.Output, a *route.Analysis, findings []report.Finding, changes []route.Change, partial bool) {
	switch {
	case c.json:
		r := a.Report(findings, changes, c.names)
		r.Partial = partial
		render.WriteLine(out, r)
	case c.csv:
		printFindingsCSV(out, findings)
	default:
		c.printSummary(out, a, partial)
		c.printFindings(out, findings)
		for _, change := range changes {
			fmt.Fprintf(out, "changed: %s\n", change.Detail)
		}
		if c.diff != "" && len(changes) == 0 {
			where := ""
			if partial {
				where = " in the tables that were read"
			}
			fmt.Fprintf(out, "no differences from %s%s\n", c.diff, where)
		}
	}
}

func printFindingsCSV(out io.Writer, findings []report.Finding) {
	w := textfile.NewCSV(out, "kind", "severity", "subject", "node_guid", "port", "count", "detail")
	for _, f := range findings {
		guid, port := "", ""
		if f.NodeGUID != nil {
			guid = f.NodeGUID.String()
		}
		if f.Port != nil {
			port = strconv.Itoa(*f.Port)
		}
		w.Write(string(f.Kind), string(f.Severity), f.Subject, guid, port, strconv.FormatUint(f.Data.(*route.FindingData).Count, 10), f.Detail)
	}
	_ = w.Flush() // Flush of out reports errors
}
