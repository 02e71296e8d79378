// Package route is the command that shows the paths between ports.
package route

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/route"
)

// command is one call of route.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags

	load      []string
	lmc       uint8
	pairsFile string
	from      string
	toAll     bool
	problems  bool
	json      bool

	options route.Options
	names   *fabric.NameMap
}

// New returns the command route.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "route [flags] A B",
		Short: "Show the paths between two ports, in both directions",
		Long: strings.TrimSpace(`
route follows the forwarding tables from port A to port B and back, and shows
each link of the path with its rate. The first of the slowest links has a *. It
reports paths that do not arrive, links that are not active, and paths that are
longer than the shortest one.

A and B are LIDs, GUIDs, GIDs, directed routes or node names, as in ibkit addr;
NAME/2 is port 2 of a node. route scans the fabric and reads the entries of the
two LIDs in all tables.`),
		Example: strings.Trim(`
  # the path between two hosts
  ibkit route node01 node16

  # many pairs, one per line; exit code 3 if one of them has a problem
  ibkit route --pairs pairs.txt --problems

  # the paths from a host to all ports
  ibkit route --from node01 --to-all --problems

  # from files of opensm -D 0x43, or a routing that check routes stored
  ibkit route --load /var/log node01 node16`, "\n"),
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			pairs, err := c.complete(cmd.Context(), cmd.Flags(), args)
			if err != nil {
				return err
			}
			return c.run(cmd.Context(), pairs)
		},
	}
	c.define(cmd)
	cmdutil.CompleteOperands(env, cmd, fabricflag.NodeNames)
	return cmd
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&c.pairsFile, "pairs", "", "read pairs of ports from `FILE`, one pair per line (-: standard input)")
	flags.StringVar(&c.from, "from", "", "show the paths from a `PORT` (--to-all)")
	flags.BoolVar(&c.toAll, "to-all", false, "show the paths to all other end ports (--from)")
	flags.BoolVar(&c.problems, "problems", false, "show only pairs with a problem")
	flags.StringSliceVar(&c.load, "load", nil, "read the files or the directory `PATH` instead of scanning")
	flags.Uint8Var(&c.lmc, "lmc", 0, "LMC `N` of end ports, if files do not contain it (--load)")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	c.fabric.Define(c.env, cmd)
	_ = flags.MarkHidden("sm_port") // no subnet manager is queried
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"pairs"}, Others: []string{"from", "to-all"}},
		{Flags: []string{"load"}, Others: []string{"sim", "Ca", "Port", "timeout", "m_key", "outstanding_smps", "errors"}},
	},
	Needs: []cmdutil.Need{
		{Flags: []string{"lmc"}, Others: []string{"load"}},
		{Flags: []string{"to-all"}, Others: []string{"from"}},
		{Flags: []string{"from"}, Others: []string{"to-all"}},
	},
}

// A pair is the texts of two ports.
type pair struct{ from, to string }

// complete checks the flags and returns the pairs.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet, args []string) (pairs []pair, err error) {
	if err := rules.Check(flags); err != nil {
		return nil, err
	}
	if flags.Changed("sm_port") {
		return nil, cmdutil.UsageErrorf("%s has no effect: route does not query a subnet manager", cmdutil.FlagName(flags, "sm_port"))
	}
	switch {
	case c.lmc > 7:
		return nil, cmdutil.UsageErrorf("invalid --lmc %d: want 0 to 7", c.lmc)
	case c.pairsFile != "" || c.toAll:
		if len(args) > 0 {
			return nil, cmdutil.UsageErrorf("unexpected argument %q", args[0])
		}
	case len(args) != 2:
		return nil, cmdutil.UsageErrorf("want two ports, got %d", len(args))
	default:
		pairs = []pair{{args[0], args[1]}}
	}
	if c.pairsFile != "" {
		if pairs, err = c.readPairs(); err != nil {
			return nil, &cmdutil.UsageError{Err: err}
		}
	}
	if err := c.fabric.Complete(ctx, c.env); err != nil {
		return nil, err
	}
	o := &c.options
	o.Open, o.Client, o.Load, o.LMC = c.fabric.Open(c.env), c.fabric.Client(c.env), c.load, c.lmc
	c.names, err = c.fabric.Names(c.env)
	return pairs, err
}

// readPairs reads a file of pairs. Empty lines and lines that begin with # are ignored.
func (c *command) readPairs() (pairs []pair, err error) {
	in, name := c.env.In, "standard input"
	if c.pairsFile != "-" {
		file, err := os.Open(c.pairsFile)
		if err != nil {
			return nil, fmt.Errorf("read pairs: %w", err)
		}
		defer file.Close()
		in, name = io.Reader(file), c.pairsFile
	}
	line := 0
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line++
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 {
			return nil, &route.FileError{File: name, Line: line, Problem: fmt.Sprintf("want two ports, got %d", len(fields))}
		}
		pairs = append(pairs, pair{fields[0], fields[1]})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return pairs, nil
}

// An endPair is two ports.
type endPair struct{ from, to *route.Port }

// run reads the routing, follows the paths and prints them.
func (c *command) run(ctx context.Context, pairs []pair) error {
	var ends []endPair
	// find resolves the ports; all entries are read for the paths to all ports.
	find := func(r *route.Routing) (lids []ib.LID, err error) {
		if ends, err = c.find(r, pairs); err != nil || c.toAll {
			return nil, err
		}
		for _, e := range ends {
			lids = append(lids, e.from.LID, e.to.LID)
		}
		return lids, nil
	}
	bar := render.NewProgress(c.env.ErrOut)
	c.options.Progress, c.options.LIDs = bar.Update, find
	r, err := route.Scan(ctx, c.options)
	bar.Close()
	switch {
	case err != nil && len(c.load) > 0:
		return &cmdutil.UsageError{Err: err} // as for all files that the user names
	case err != nil:
		return err
	case len(c.load) > 0:
		if _, err := find(r); err != nil {
			return err
		}
	}
	for _, f := range r.Failures {
		fmt.Fprintf(c.env.ErrOut, "warning: %v\n", f.Err)
	}
	reports, partial, problems := c.trace(r, ends)
	out := render.NewOutput(c.env.Out)
	c.print(out, r.Partial(), reports)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return cmdutil.ResultError(partial, problems)
}

// trace follows the paths between ports in both directions. partial reports that an
// entry was not read.
func (c *command) trace(r *route.Routing, ends []endPair) (reports []route.PairReport, partial, problems bool) {
	for _, e := range ends {
		forward, reverse := r.Trace(e.from, e.to.LID), r.Trace(e.to, e.from.LID)
		p := route.PairReport{
			Forward: route.NewPathReport(&forward, c.names), Reverse: route.NewPathReport(&reverse, c.names), Symmetric: forward.IsReverse(&reverse),
		}
		problem := len(p.Forward.Findings)+len(p.Reverse.Findings) > 0
		partial = partial || forward.Cause == route.Unseen || reverse.Cause == route.Unseen
		problems = problems || problem
		if problem || !c.problems {
			reports = append(reports, p)
		}
	}
	return reports, partial, problems
}

func (c *command) print(out *render.Output, partial bool, reports []route.PairReport) {
	if c.json {
		if reports == nil {
			reports = []route.PairReport{}
		}
		out.Write(render.MustMarshal(route.PathsReport{Schema: route.PathSchema, Partial: partial, Pairs: reports}))
		out.WriteByte('\n')
		return
	}
	for i := range reports {
		if i > 0 {
			out.WriteByte('\n')
		}
		printPath(out, &reports[i].Forward)
		printPath(out, &reports[i].Reverse)
		if !reports[i].Symmetric {
			fmt.Fprintln(out, "the two directions cross different links")
		}
	}
}

// printPath prints the links of a path in a table, and its problems.
func printPath(out *render.Output, p *route.PathReport) {
	fmt.Fprintf(out, "%s to %s, LID %d: %s\n", p.From.Name, p.To.Name, p.LID, render.Count(len(p.Hops), "link", "links"))
	text := func(s *string) string {
		if s == nil {
			return render.Absent
		}
		return *s
	}
	rows := make([]int, len(p.Hops))
	for i := range rows {
		rows[i] = i
	}
	mark := func(i int) string {
		if p.Slowest != nil && *p.Slowest == i {
			return "*"
		}
		return " "
	}
	port := func(r route.ReportPort) string { return fmt.Sprintf("%s[%d]", r.Name, r.Port) }
	render.Columns(out, []render.Column[int]{
		render.TextColumn(" OUTPUT", func(i int) string { return mark(i) + port(p.Hops[i].Output) }),
		render.TextColumn("INPUT", func(i int) string { return port(p.Hops[i].Input) }),
		render.TextColumn("WIDTH", func(i int) string { return text(p.Hops[i].Width) }),
		render.TextColumn("SPEED", func(i int) string { return text(p.Hops[i].Speed) }),
		render.TextColumn("STATE", func(i int) string { return p.Hops[i].State }),
	}, rows)
	for _, f := range p.Findings {
		fmt.Fprintf(out, "problem: %s\n", f)
	}
}
