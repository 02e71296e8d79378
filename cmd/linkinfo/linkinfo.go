// Package linkinfo is the command that shows the links of a fabric.
package linkinfo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// command is one call of linkinfo or iblinkinfo.
type command struct {
	env     *cmdutil.Env
	dialect fabricflag.Dialect
	fabric  fabricflag.Flags

	// The options of iblinkinfo.
	portGUID              string
	route                 string
	all                   bool
	hops                  int
	down                  bool
	line                  bool
	additional            bool
	loadCache             string
	diff, diffcheck       string
	filterDownPorts       string
	switchesOnly, casOnly bool
	showVersion           bool

	// The options of linkinfo.
	cache      string
	json       bool
	csv        bool
	attributes bool
	showKeys   bool
	links      filter
	table      table

	// What they come to.
	options linkinfo.Options
	checks  linkinfo.Checks
	names   *fabric.NameMap
}

func New(env *cmdutil.Env) *cobra.Command { return newCommand(env, fabricflag.Native) }

func NewClassic(env *cmdutil.Env) *cobra.Command {
	cmd := newCommand(env, fabricflag.Classic)
	cmd.Use, cmd.Hidden = "iblinkinfo [flags]", true
	return cmd
}

func newCommand(env *cmdutil.Env, d fabricflag.Dialect) *cobra.Command {
	c := &command{env: env, dialect: d}
	cmd := &cobra.Command{
		Use:   "linkinfo [flags]",
		Short: "Show the links of a fabric and what is wrong with them",
		Long: strings.TrimSpace(`
linkinfo scans an InfiniBand fabric and shows its links: what each runs at, what
is on the other side, and what is wrong with it.

A link is reported as slow or narrow where it runs below what both of its ends
support and have enabled, as limited where the ends could do more than is
enabled.`),
		Example: strings.Trim(`
  # all links, with what is wrong with them
  ibkit linkinfo

  # only links with a problem; exit code 3 if there are any
  ibkit linkinfo --problems

  # what is linked to one switch, by the GUID of its port
  ibkit linkinfo -G 0x0002c90200423e10

  # for scripts
  ibkit linkinfo --json | jq -r '.nodes[] | .name'

  # what changed since the scan that was stored
  ibkit linkinfo --cache before
  ibkit linkinfo --diff before

  # without hardware, against a running ibsim
  ibkit linkinfo --sim ibsim`, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmdutil.UsageErrorf("unexpected argument %q", args[0])
			}
			return nil
		},
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.resolve(cmd.Context(), cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
	c.define(cmd)
	return cmd
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&c.portGUID, "port-guid", "G", "", "show the node with this port `GUID`, and scan no further than its neighbours")
	flags.StringVarP(&c.portGUID, "switch", "S", "", "the same as --port-guid `GUID`")
	cmdutil.CompleteFlag(c.env, cmd, "port-guid", fabricflag.NodeGUIDs)
	cmdutil.CompleteFlag(c.env, cmd, "switch", fabricflag.NodeGUIDs)
	flags.StringVarP(&c.route, "Direct", "D", "", "show the node at the end of a directed route, a `ROUTE` such as 0,1,3")
	flags.BoolVarP(&c.all, "all", "a", false, "with -G or -D: show all nodes that were found on the way")
	flags.IntVarP(&c.hops, "hops", "n", 0, "scan no further than `N` hops (default: 1 with -G or -D, else everywhere)")
	flags.BoolVarP(&c.down, "down", "d", false, "show only ports whose link is down")
	flags.BoolVarP(&c.line, "line", "l", false, "print each link on one line, in the form of iblinkinfo -l")
	flags.BoolVarP(&c.additional, "additional", "p", false, "show the ports' HOQLife and VLStallCount too")
	flags.BoolVar(&c.switchesOnly, "switches-only", false, "show only switches")
	flags.BoolVar(&c.casOnly, "cas-only", false, "show only channel adapters")
	flags.StringVar(&c.loadCache, "load-cache", "", "show what was stored in `FILE` instead of scanning")
	flags.StringVar(&c.cache, "cache", "", "store what was found in `FILE`, which ibnetdiscover and iblinkinfo can read")
	flags.StringVar(&c.diff, "diff", "", "show what differs from the fabric stored in `FILE`")
	flags.StringVar(&c.diffcheck, "diffcheck", "port,state", "what --diff compares, a `LIST` of port, state, lid, nodedesc")
	cmdutil.CompleteList(c.env, cmd, "diffcheck", cmdutil.Constant("port", "state", "lid", "nodedesc"))
	flags.StringVar(&c.filterDownPorts, "filterdownports", "", "leave out ports that are down and were down in the fabric stored in `FILE`")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.csv, "csv", false, "print comma-separated values")
	if c.dialect == fabricflag.Native {
		flags.BoolVar(&c.switchesOnly, "switches", false, "the same as --switches-only")
		flags.BoolVar(&c.casOnly, "cas", false, "the same as --cas-only")
		flags.BoolVar(&c.attributes, "attributes", false, "include the attributes as received, PortInfo and others (--json)")
		flags.BoolVar(&c.showKeys, "show-keys", false, "show M_Keys, printed as 0 by default (--json --attributes)")
		c.links.define(c.env, cmd)
		c.table.define(c.env, cmd)
	} else {
		flags.BoolVarP(&c.showVersion, "version", "V", false, "print the version")
	}
	c.fabric.Define(c.env, cmd)
	cmdutil.Abbreviate(flags)
}

// rules are what linkinfo's flags have to do with each other. -l, --json,
// --csv and --diff exclude each other under the classic name too.
var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"Direct"}, Others: []string{"port-guid", "switch"}},
		{Flags: []string{"load-cache"}, Others: []string{"Direct", "hops", "sim", "Ca", "Port", "timeout", "sm_port", "m_key", "outstanding_smps", "errors"}},
		{Flags: []string{"json", "csv", "line", "diff"}, Others: []string{"wide"}},
		{Flags: []string{"json", "line", "diff"}, Others: []string{"sort", "ends"}},
		{Flags: []string{"json", "csv"}, Others: []string{"additional"}},
		{Flags: []string{"diff"}, Others: []string{"problems", "finding", "state", "width", "speed", "all-ports"}},
	},
	Needs: []cmdutil.Need{
		{Flags: []string{"all", "sm_port"}, Others: []string{"port-guid", "switch", "Direct"}},
		{Flags: []string{"attributes"}, Others: []string{"json"}},
		{Flags: []string{"show-keys"}, Others: []string{"attributes"}},
		{Flags: []string{"diffcheck"}, Others: []string{"diff"}},
	},
}

// resolve checks what the flags say.
func (c *command) resolve(ctx context.Context, flags *pflag.FlagSet) (err error) {
	if c.showVersion {
		return nil
	}
	if c.dialect == fabricflag.Native {
		if err := rules.Check(flags); err != nil {
			return err
		}
	}
	if err := c.fabric.Resolve(ctx, c.env, c.dialect); err != nil {
		return err
	}
	o := &c.options
	o.Open, o.Client = c.fabric.Open(c.env), c.fabric.Client(c.env)
	o.NoExtendedPortInfo = c.fabric.ConfFile.NoExtendedPortInfo
	o.LoadCache, o.MaxHops = c.loadCache, c.hops
	if o.SMLID, err = c.fabric.SMLID(); err != nil {
		return err
	}
	byRoute, byGUID := flags.Changed("Direct"), flags.Changed("port-guid") || flags.Changed("switch")
	switch {
	case byRoute && c.loadCache != "":
		// iblinkinfo calls this an error and not a usage error: 1.
		return errors.New("a directed route (-D) and a cache (--load-cache) exclude each other")
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
		return cmdutil.UsageErrorf("invalid number of hops: %d", c.hops)
	}
	if c.checks, err = linkinfo.ParseChecks(c.diffcheck); err != nil {
		return &cmdutil.UsageError{Err: err}
	}
	// iblinkinfo knows a peer by its GUID, which all ports of a switch share.
	c.checks.PeerPort = c.dialect == fabricflag.Native && c.checks.Connection
	if c.json && (c.csv || c.line || c.diff != "") || c.csv && (c.line || c.diff != "") {
		return cmdutil.UsageErrorf("--json, --csv, --line and --diff exclude each other")
	}
	if err := c.links.resolve(); err != nil {
		return err
	}
	if err := c.table.resolve(); err != nil {
		return err
	}
	c.names, err = c.fabric.Names(c.env)
	return err
}

// run scans and prints.
func (c *command) run(ctx context.Context) error {
	if c.showVersion {
		fmt.Fprintf(c.env.ErrOut, "iblinkinfo BUILD VERSION: %s\n", buildinfo.Version())
		return nil
	}
	compare, err := readFabric(c.diff, "loading cached fabric for diff failed")
	if err != nil {
		return c.cacheError(err)
	}
	downBefore, err := readFabric(c.filterDownPorts, "loading cached fabric for filterdownports failed")
	if err != nil {
		return c.cacheError(err)
	}

	bar := render.NewProgress(c.env.ErrOut)
	c.options.Progress = bar.Update
	result, err := linkinfo.Run(ctx, c.options)
	bar.Close()
	switch {
	case result == nil && c.loadCache != "" && c.dialect == fabricflag.Native:
		return &cmdutil.UsageError{Err: err} // as for every other file that the user gave
	case result == nil:
		return err
	}
	c.explain(result)
	if err != nil {
		cmdutil.PrintError(c.env, "error", err)
	}
	if c.cache != "" {
		if err := result.Fabric.WriteCacheFile(c.cache); err != nil {
			return err
		}
	}
	nodes, err := c.selectNodes(result)
	if err != nil {
		return err
	}
	out := render.NewOutput(c.env.Out)
	code := c.print(out, result, nodes, compare, downBefore)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	// Without its device the work could not be done, whatever was seen before.
	if aborted := result.Fabric.Aborted; aborted != nil && (c.dialect == fabricflag.Classic || errors.Is(aborted, umad.ErrDeviceRemoved)) {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return code
}

// print writes the view that was asked for and returns the outcome.
func (c *command) print(out *render.Output, r *linkinfo.Result, nodes []*fabric.Node, compare, downBefore *fabric.Fabric) error {
	view := &links.Classic{Out: out, Names: c.names, Line: c.line, Additional: c.additional, OnlyDown: c.down, DownBefore: downBefore}
	if compare != nil {
		diffs := linkinfo.Diff(compare, r.Fabric, c.checks, c.isWanted(nodes))
		view.PrintDiff(diffs)
		return c.outcome(r, len(diffs) > 0)
	}
	if c.dialect == fabricflag.Classic && !c.json && !c.csv {
		view.Print(nodes)
		return nil
	}
	ends := c.filter(linkinfo.Ends(r.Fabric, nodes), downBefore)
	problems := len(r.Fabric.Conflicts) > 0 || slices.ContainsFunc(ends, func(e linkinfo.End) bool { return e.HasProblem() })
	c.table.order(ends, c.names)
	switch {
	case c.line:
		view.Only = portsOf(ends)
		view.Print(nodes)
	case c.json:
		links.WriteJSON(out, r.Fabric, nodes, ends, linkinfo.ReportOptions{Attributes: c.attributes, Keys: c.showKeys, Names: c.names})
	case c.csv:
		rows := endRows(ends)
		if c.dialect == fabricflag.Native && !c.table.ends {
			rows = linkinfo.Links(ends)
		}
		links.WriteCSV(out, rows, c.names)
	default:
		c.table.narrowed = c.down || c.links.narrows()
		c.table.additional = c.additional
		c.table.print(out, c.env, r, nodes, ends, c.names)
	}
	return c.outcome(r, problems)
}

func portsOf(ends []linkinfo.End) map[*fabric.Port]bool {
	ports := make(map[*fabric.Port]bool, len(ends))
	for i := range ends {
		ports[ends[i].Port] = true
	}
	return ports
}

// outcome is how the command ends. iblinkinfo knows no findings.
func (c *command) outcome(r *linkinfo.Result, findings bool) error {
	if c.dialect == fabricflag.Classic {
		return nil
	}
	return cmdutil.ResultError(r.Fabric.Partial(), findings)
}

// selectNodes returns the nodes that were asked for.
func (c *command) selectNodes(r *linkinfo.Result) ([]*fabric.Node, error) {
	nodes := r.Fabric.Nodes
	if c.options.Partial && !c.all {
		if r.Node == nil || !c.isWantedType(r.Node) {
			what := "port " + c.portGUID
			if c.options.PortGUID == 0 {
				what = "node at " + c.route
			}
			err := fmt.Errorf("find %s: there is none among the nodes that were asked for", what)
			if c.dialect == fabricflag.Classic {
				cmdutil.PrintError(c.env, "error", err)
				return nil, &cmdutil.ExitError{Code: cmdutil.ExitOK}
			}
			return nil, err
		}
		nodes = []*fabric.Node{r.Node}
	}
	var wanted []*fabric.Node
	for _, n := range nodes {
		if c.isWantedType(n) {
			wanted = append(wanted, n)
		}
	}
	return wanted, nil
}

func (c *command) isWantedType(n *fabric.Node) bool {
	switch {
	case c.switchesOnly && c.casOnly:
		return n.Info.NodeType != mad.NodeTypeRouter
	case c.switchesOnly:
		return n.Info.NodeType == mad.NodeTypeSwitch
	case c.casOnly:
		return n.Info.NodeType == mad.NodeTypeCA
	}
	return true
}

// isWanted returns a filter for a comparison, whose nodes may be of either
// fabric; nil: all are wanted.
func (c *command) isWanted(nodes []*fabric.Node) func(*fabric.Node) bool {
	around := c.options.Partial && !c.all
	if !around && !c.switchesOnly && !c.casOnly && len(c.links.nodes) == 0 {
		return nil
	}
	guids := map[ib.GUID]bool{}
	for _, n := range nodes {
		guids[n.GUID] = true
	}
	return func(n *fabric.Node) bool {
		if around {
			return guids[n.GUID]
		}
		return c.isWantedType(n) && matchesNode(c.links.nodes, n, c.names)
	}
}

// filter leaves out the ports that were not asked for.
func (c *command) filter(ends []linkinfo.End, downBefore *fabric.Fabric) []linkinfo.End {
	kept := ends[:0]
	for _, e := range ends {
		switch {
		case c.down && !e.Down():
		case e.Down() && links.WasDown(downBefore, e.Port):
		case !c.links.wants(&e, c.names, c.down || c.json || c.csv || c.line):
		default:
			kept = append(kept, e)
		}
	}
	return kept
}

// cacheError ends iblinkinfo with the exit code that it has for a cache that
// cannot be read.
func (c *command) cacheError(err error) error {
	if c.dialect == fabricflag.Classic {
		return &cmdutil.ExitError{Code: 255, Err: err}
	}
	return &cmdutil.UsageError{Err: err}
}

func readFabric(path, what string) (*fabric.Fabric, error) {
	if path == "" {
		return nil, nil
	}
	f, err := fabric.ReadCacheFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return f, nil
}
