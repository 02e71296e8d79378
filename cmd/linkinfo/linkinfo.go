// Package linkinfo is the command that shows the links of a fabric.
package linkinfo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/errorcounters"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/cmd/internal/shared/registers"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// command is one call of linkinfo.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags
	source fabricflag.Source

	portGUID        string
	route           string
	all             bool
	hops            int
	down            bool
	additional      bool
	cache           string
	cachePartial    bool
	diff            string
	compare         bool
	diffcheck       []string
	filterDownPorts string
	selection       links.Selection
	json            bool
	csv             bool
	attributes      bool
	showKeys        bool
	phy             bool
	vendorKey       string
	links           filter
	table           table

	// Derived from the flags.
	options linkinfo.Options
	checks  linkinfo.Checks
	key     mad.Key // for registers
	names   *fabric.NameMap
}

// New returns the command linkinfo.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:     "linkinfo [flags] [NODE...]",
		Aliases: []string{"links"},
		Short:   "Show the links of a fabric, their rates and problems",
		Long: strings.TrimSpace(`
linkinfo scans an InfiniBand fabric and shows its links: the two ends, width,
speed, state and findings of each. A NODE is a PATTERN as for --node.

A link is slow or narrow if it runs below the best rate that both ends support
and have enabled, and limited if both ends support more than is enabled.

A node, width, speed or --state Active without a match is a failure. Other
states, --down, --problems and --finding search for faults, and may find none.`),
		Example: strings.Trim(`
  # all links and their findings
  ibkit linkinfo

  # only links with a problem; exit code 3 if there are any
  ibkit linkinfo --problems

  # the links of one switch, by its name, and by the GUID of its port
  ibkit linkinfo leaf1
  ibkit linkinfo --port-guid 0x0002c90200423e10

  # exit code 3 also if a port is disabled
  ibkit linkinfo --fail-on slow,narrow,not-active,disabled

  # modules, light and bit error rates of a switch's links
  ibkit linkinfo --phy leaf1

  # the names of nodes with problems
  ibkit linkinfo --json --problems | jq -r '.nodes[] | .name'

  # the changes since a stored scan
  ibkit linkinfo --save fabric.cache
  ibkit linkinfo --diff fabric.cache

  # differences between the fabric and the subnet manager's records of it
  ibkit linkinfo --compare

  # without hardware, against a running ibsim
  ibkit linkinfo --sim ibsim`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.links.nodes = append(c.links.nodes, args...)
			if err := c.complete(cmd.Context(), cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	c.define(cmd)
	cmdutil.CompleteOperands(env, cmd, fabricflag.NodeNames)
	return cmd
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&c.portGUID, "port-guid", "", "show the node with this port `GUID`; scan up to its neighbours")
	cmdutil.CompleteFlag(c.env, cmd, "port-guid", fabricflag.NodeGUIDs)
	flags.StringVar(&c.route, "route", "", "show the node at the end of a directed `ROUTE` such as 0,1,3")
	flags.BoolVar(&c.all, "all-nodes", false, "show all nodes found on the way (--port-guid, --route)")
	flags.IntVar(&c.hops, "hops", 0, "scan up to `N` hops (default: 1 with --port-guid or --route)")
	flags.BoolVar(&c.down, "down", false, "show only ports with a link that is down")
	flags.BoolVar(&c.additional, "additional", false, "show HOQLife and VLStallCount")
	flags.BoolVar(&c.selection.SwitchesOnly, "switches", false, "show only switches")
	flags.BoolVar(&c.selection.CAsOnly, "cas", false, "show only channel adapters")
	flags.BoolVar(&c.selection.RoutersOnly, "routers", false, "show only routers")
	flags.StringVar(&c.cache, "save", "", "store the fabric in `FILE`, readable by ibnetdiscover and iblinkinfo")
	flags.BoolVar(&c.cachePartial, "save-partial", false, "with --save: store a partial result, too")
	c.source.Define(cmd)
	flags.BoolVar(&c.compare, "compare", false, "show differences from the subnet manager's records")
	flags.StringVar(&c.diff, "diff", "", "show differences from the fabric stored in `FILE`")
	c.diffcheck = []string{"port", "state"}
	cmdutil.EnumListFlag(cmd, &c.diffcheck, "diffcheck", []string{"port", "state", "lid", "nodedesc"}, "compare a `LIST` of properties (--diff, --compare)")
	flags.StringVar(&c.filterDownPorts, "filterdownports", "", "omit ports that are down now and in the fabric stored in `FILE`")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.csv, "csv", false, "print comma-separated values")
	flags.BoolVar(&c.attributes, "attributes", false, "include PortInfo and other attributes as received (--json)")
	flags.BoolVar(&c.showKeys, "show-keys", false, "show M_Keys, printed as 0 by default (--json --attributes)")
	flags.BoolVar(&c.phy, "phy", false, "show modules, light and bit error rates, as ibkit phy")
	flags.StringVar(&c.vendorKey, "vs-key", "", "vendor key of requests: a `KEY`, @FILE or - (prompt)")
	c.links.define(c.env, cmd)
	c.table.define(c.env, cmd)
	c.fabric.Define(c.env, cmd)
}

// rules are the relations between the flags.
var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"route"}, Others: []string{"port-guid"}},
		{Flags: []string{"json"}, Others: []string{"csv"}},
		{Flags: []string{"csv"}, Others: []string{"diff", "compare"}},
		{Flags: []string{"compare"}, Others: []string{
			"diff", "from", "route", "hops", "port-guid", "counters", "wide", "sort", "ends",
			"problems", "finding", "fail-on", "state", "width", "speed", "all-ports", "attributes", "phy",
		}},
		{Flags: []string{"json", "csv", "diff"}, Others: []string{"wide"}},
		{Flags: []string{"counters", "phy"}, Others: []string{"diff"}},
		{Flags: []string{"json", "diff"}, Others: []string{"sort", "ends"}},
		{Flags: []string{"json", "csv", "diff", "compare"}, Others: []string{"additional"}},
		{Flags: []string{"diff"}, Others: []string{"problems", "finding", "fail-on", "state", "width", "speed", "all-ports", "attributes"}},
	},
	Needs: []cmdutil.Need{
		{Flags: []string{"all-nodes"}, Others: []string{"port-guid", "route"}},
		{Flags: []string{"attributes"}, Others: []string{"json"}},
		{Flags: []string{"show-keys"}, Others: []string{"attributes"}},
		{Flags: []string{"vs-key"}, Others: []string{"phy"}},
		{Flags: []string{"diffcheck"}, Others: []string{"diff", "compare"}},
		{Flags: []string{"save-partial"}, Others: []string{"save"}},
	},
}

// complete checks the flags and derives the options.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet) (err error) {
	if err := rules.Check(flags); err != nil {
		return err
	}
	if err := c.source.Complete([]string{"route", "hops", "counters", "phy"}, []string{"route", "hops"}); err != nil {
		return err
	}
	if flags.Changed("sm-port") && !c.source.SA && !c.compare && cmdutil.Given(flags, []string{"port-guid", "route"}) == "" {
		return cmdutil.UsageErrorf("%s requires --port-guid, --route, --from sa or --compare", cmdutil.FlagName(flags, "sm-port"))
	}
	if err := c.fabric.Complete(ctx, c.env); err != nil {
		return err
	}
	if c.key, err = fabricflag.OptionalKey(ctx, c.env, "vendor key", c.vendorKey); err != nil {
		return err
	}
	o := &c.options
	o.Source = c.source.Fabric(&c.fabric.Settings, c.env)
	o.MaxHops, o.SMLID = c.hops, c.fabric.SMLID
	if c.table.counters {
		if c.table.errors, err = errorcounters.New(c.env, o.Source.Discover); err != nil {
			return &cmdutil.UsageError{Err: err}
		}
		o.Source.Discover = c.table.errors.Discover
	}
	byRoute, byGUID := flags.Changed("route"), flags.Changed("port-guid")
	switch {
	case byRoute:
		o.Partial = true
		if o.Route, err = mad.ParseRoute(c.route); err != nil {
			return &cmdutil.UsageError{Err: err}
		}
	case byGUID:
		o.Partial = true
		if o.PortGUID, err = ib.ParseGUID(c.portGUID); err != nil {
			return &cmdutil.UsageError{Err: err}
		}
		if o.PortGUID == 0 {
			return cmdutil.UsageErrorf("parse GUID %q: no port has GUID 0", c.portGUID)
		}
	}
	if c.hops < 0 {
		return cmdutil.UsageErrorf("invalid --hops %d: want at least 0", c.hops)
	}
	if c.compare && !flags.Changed("diffcheck") {
		c.diffcheck = []string{"port", "state", "lid", "nodedesc"}
	}
	if c.checks, err = linkinfo.ParseChecks(strings.Join(c.diffcheck, ",")); err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	c.checks.PeerPort = c.checks.Connection
	c.selection.OnlyStart = o.Partial && !c.all
	if err := c.links.complete(); err != nil {
		return err
	}
	c.names, err = c.fabric.Names(c.env)
	return err
}

// run scans and prints.
func (c *command) run(ctx context.Context) error {
	compare, err := readFabric(c.diff, "compare fabric")
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	downBefore, err := readFabric(c.filterDownPorts, "filter ports")
	if err != nil {
		return &cmdutil.UsageError{Err: err}
	}

	links.PrintStored(c.env, &c.fabric.Settings, c.diff, compare, c.names)
	links.PrintStored(c.env, &c.fabric.Settings, c.filterDownPorts, downBefore, c.names)

	if c.options.Source.Stored, err = c.source.Stored("save", "attributes"); err != nil {
		return err
	}
	bar := render.NewProgress(c.env.ErrOut)
	c.options.Source.Progress = bar.Update
	result, err := linkinfo.Run(ctx, c.options)
	bar.Close()
	if result == nil {
		return fabricflag.WithHint(err)
	}
	links.PrintWarnings(c.env, result, c.names, c.fabric.Verbose > 0)
	if c.table.errors != nil && c.table.errors.PrintFailures(c.env, c.names, c.fabric.Verbose > 0) {
		c.table.partial = true
	}
	if err != nil {
		cmdutil.PrintError(c.env, "error", err)
	}
	if err := links.StoreCache(c.env, c.cache, result.Fabric, c.cachePartial); err != nil {
		return err
	}
	if c.compare {
		if compare, err = c.records(ctx); err != nil {
			return err
		}
	}
	nodes, ok := c.selection.Nodes(result, result.Fabric.Nodes)
	switch {
	case !ok && result.Node == nil:
		return fmt.Errorf("find %s: no port of the fabric has this GUID", c.portGUID)
	case !ok:
		return fmt.Errorf("find %s: not among the selected nodes", cmp.Or(c.portGUID, "node at "+c.route))
	}
	if c.phy {
		isOther := func(n *fabric.Node) bool { return !c.links.nodes.Match(n, c.names) }
		reader, err := registers.Read(ctx, c.options.Source, c.key, c.names, result.Fabric, slices.DeleteFunc(slices.Clone(nodes), isOther))
		if err != nil {
			return err
		}
		c.table.registers = &registerView{reader}
		if reader.PrintFailures(c.env, c.names, c.fabric.Verbose > 0) {
			c.table.partial = true
		}
	}
	missing := c.links.missing(c.names, result, nodes, compare)
	if len(nodes) == 0 && missing == nil && compare == nil {
		missing = fabricflag.NoneOfType(map[string]bool{"switches": c.selection.SwitchesOnly, "cas": c.selection.CAsOnly, "routers": c.selection.RoutersOnly})
	}
	c.table.incomplete = missing != nil
	out := render.NewOutput(c.env.Out)
	code := c.print(out, result, nodes, compare, downBefore)
	if err := out.Flush(); err != nil {
		return err
	}
	if missing != nil {
		return missing
	}
	// The scan has failed without its device, with or without results.
	if aborted := result.Fabric.Aborted; aborted != nil && errors.Is(aborted, umad.ErrDeviceRemoved) {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return code
}

// records reads the fabric from subnet administration.
func (c *command) records(ctx context.Context) (*fabric.Fabric, error) {
	r, err := linkinfo.Run(ctx, linkinfo.Options{Source: c.fabric.Records(c.env)})
	if err != nil {
		return nil, fabricflag.WithHint(err)
	}
	links.PrintWarnings(c.env, r, c.names, c.fabric.Verbose > 0)
	return r.Fabric, nil
}

// print writes the selected view and returns the exit code as an error.
func (c *command) print(out *render.Output, r *linkinfo.Result, nodes []*fabric.Node, compare, downBefore *fabric.Fabric) error {
	if compare != nil {
		partial := r.Fabric.Partial() || compare.Partial()
		diffs := linkinfo.Diff(compare, r.Fabric, c.checks, c.isWanted(nodes))
		if n := linkinfo.Unreached(compare, r.Fabric, c.isWanted(nodes)); n > 0 {
			fmt.Fprintf(c.env.ErrOut, "warning: not compared: %s that a scan did not reach\n", plural.Count(n, "node", "nodes"))
		}
		if c.json {
			render.WriteLine(out, linkinfo.NewReportDiff(compare, r, diffs, c.names))
		} else {
			c.printDiff(out, diffs, downBefore, partial)
		}
		return cmdutil.ResultError(partial, len(diffs) > 0)
	}
	c.table.withPeers = !c.table.ends && !c.json
	ends := c.filter(linkinfo.Ends(r.Fabric, nodes), downBefore)
	partial := r.Fabric.Partial() || downBefore != nil && downBefore.Partial() || c.table.partial
	failed := slices.ContainsFunc(ends, func(e linkinfo.End) bool { return c.links.fails(e) || c.table.hasErrors(e) })
	if len(c.links.failOn) == 0 && len(r.Fabric.Conflicts) > 0 {
		failed = true
	}
	c.table.fails = c.links.fails
	c.table.order(ends, c.names)
	switch {
	case c.json:
		if c.down || c.links.narrows() {
			nodes = nodesOf(ends)
		}
		o := linkinfo.ReportOptions{Partial: partial, Attributes: c.attributes, Keys: c.showKeys, Names: c.names}
		if c.table.errors != nil {
			o.Counters = reportCounters(c.table.errors)
		}
		if c.table.registers != nil {
			o.PHY = c.table.registers.Report
		}
		links.WriteJSON(out, r, nodes, ends, o)
	case c.csv:
		rows := linkinfo.Links(ends)
		if c.table.ends {
			rows = endRows(ends)
		}
		var more []links.CSVColumn
		if c.table.errors != nil {
			more = csvColumns(c.table.errors)
		}
		if c.table.registers != nil {
			more = append(more, c.table.registers.csvColumns()...)
		}
		links.WriteCSV(out, rows, c.names, more...)
	default:
		c.table.narrowed = c.down || c.links.narrows()
		c.table.partial, c.table.additional = partial, c.additional
		c.table.print(out, c.env, r, nodes, ends, c.names)
	}
	return cmdutil.ResultError(partial, failed)
}

// printDiff prints the differences between two fabrics as a table.
func (c *command) printDiff(out *render.Output, diffs []linkinfo.NodeDiff, downBefore *fabric.Fabric, partial bool) {
	t := &diffTable{
		names: c.names, checks: c.checks, onlyDown: c.down, downBefore: downBefore,
		headers: [2]string{"BEFORE", "NOW"}, index: map[linkChange]int{}, counts: map[string]int{},
	}
	if c.compare {
		t.headers = [2]string{"RECORDS", "FABRIC"}
	}
	for _, d := range diffs {
		t.add(d)
	}
	t.print(out, c.env, partial)
}

// nodesOf returns the nodes of link ends, which are in the order of nodes.
func nodesOf(ends []linkinfo.End) []*fabric.Node {
	var nodes []*fabric.Node
	for i := range ends {
		if n := ends[i].Port.Node; len(nodes) == 0 || nodes[len(nodes)-1] != n {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// isWanted returns a filter for the nodes of a comparison, which may be in either
// fabric; nil selects all.
func (c *command) isWanted(nodes []*fabric.Node) func(*fabric.Node) bool {
	selected := c.selection.InEither(nodes)
	if len(c.links.nodes) == 0 || c.selection.OnlyStart {
		return selected
	}
	return func(n *fabric.Node) bool {
		return (selected == nil || selected(n)) && c.links.nodes.Match(n, c.names)
	}
}

// filter returns the ends that pass the filters. It reuses the memory of ends.
func (c *command) filter(ends []linkinfo.End, downBefore *fabric.Fabric) []linkinfo.End {
	kept := ends[:0]
	for _, e := range ends {
		switch {
		case c.down && !e.Down():
		case e.Down() && links.WasDown(downBefore, e.Port):
		case c.links.problems && !c.table.hasProblem(e):
		case !c.links.wants(&e, c.names, c.down || c.json || c.csv):
		default:
			kept = append(kept, e)
		}
	}
	return kept
}

// readFabric reads a stored fabric; errors begin with failure. It returns nil without
// a path.
func readFabric(path, failure string) (*fabric.Fabric, error) {
	if path == "" {
		return nil, nil
	}
	f, err := fabric.ReadCacheFile(path)
	if f == nil {
		return nil, cmdutil.WithFileHint(fmt.Errorf("%s: %w", failure, err), cmdutil.CacheHint("linkinfo"))
	}
	return f, nil // of a damaged file the valid part
}
