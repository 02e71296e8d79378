// Package routes is the command that shows forwarding tables.
package routes

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/portindex"
	"github.com/ibkit/ibkit/cmd/internal/shared/routefiles"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ranges"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/report"
)

// command is one call of routes.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags

	files        routefiles.Flags
	lids, to     []string
	ports        string
	all          bool
	multicast    bool
	using        string
	usingSwitch  string // the parts of using
	usingPort    int
	balance      bool
	json, csv    bool
	switches     []string // operands
	destinations []lookup.Address

	options route.Options
	filter  route.TableFilter
	names   *fabric.NameMap
	gid     func(netip.Addr) (ib.GID, error) // of the port with an IP address

	// The selection, after the nodes and links are known.
	nodes []*route.Node
	link  *route.Port // of using
}

// New returns the command routes.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:     "routes [flags] [SWITCH...]",
		Aliases: []string{"tables"},
		Short:   "Show the forwarding tables of switches",
		Long: strings.TrimSpace(`
routes shows the entries of the forwarding tables of all switches, or of some:
for each LID the output port, the port at the other end of its link, and the
port that has the LID. --multicast shows multicast tables, --using the LIDs
that cross a link in each direction, --balance the number of LIDs on parallel
links and on the links to the next level.

SWITCH is a LID, GUID, GID, directed route or node name, which may be a
pattern. The tables of all selected switches are read at the same time.`),
		Example: strings.Trim(`
  # the table of a switch
  ibkit routes leaf1

  # the port of each switch to one destination
  ibkit routes --to node07

  # the LIDs that cross the link of a port, in both directions
  ibkit routes --using 'leaf1[1]'

  # uneven loads; exit code 3 if there are any
  ibkit routes --balance

  # all multicast tables of files of opensm -D 0x43
  ibkit routes --tables /var/log --multicast`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.complete(cmd.Context(), cmd.Flags(), args); err != nil {
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
	flags.StringSliceVar(&c.lids, "lid", nil, "show the entries of a `LID` or of a range of them (5-9)")
	flags.StringSliceVar(&c.to, "to", nil, "show the entries of all LIDs of a `PORT`")
	cmdutil.CompleteFlag(c.env, cmd, "to", fabricflag.NodeNames)
	flags.StringVar(&c.ports, "ports", "", "show the entries with an output port of a `LIST` such as 1-4,7")
	flags.BoolVar(&c.all, "all", false, "include LIDs without a route")
	flags.BoolVar(&c.multicast, "multicast", false, "show the multicast tables")
	flags.StringVar(&c.using, "using", "", "show the LIDs that cross the link of a port `SWITCH[NUMBER]`")
	flags.BoolVar(&c.balance, "balance", false, "show the LIDs per link; exit with 3 if they are uneven")
	c.files.Register(flags)
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.csv, "csv", false, "print comma-separated values")
	c.fabric.Define(c.env, cmd)
	_ = flags.MarkHidden("sm-port") // no subnet manager is queried
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"json"}, Others: []string{"csv"}},
		routefiles.Clash(),
		{Flags: []string{"multicast"}, Others: []string{"to", "all", "using", "balance"}},
		{Flags: []string{"using", "balance"}, Others: []string{"lid", "to", "ports", "all"}},
		{Flags: []string{"using"}, Others: []string{"balance"}},
	},
	Needs: []cmdutil.Need{routefiles.Need()},
}

// complete checks the flags and derives the options.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet, args []string) (err error) {
	if err := rules.Check(flags); err != nil {
		return err
	}
	c.switches = args
	switch {
	case flags.Changed("sm-port"):
		return cmdutil.UsageErrorf("%s has no effect: routes does not query a subnet manager", cmdutil.FlagName(flags, "sm-port"))
	case c.using != "" && len(args) > 0:
		return cmdutil.UsageErrorf("unexpected argument %q: --using names the switch", args[0])
	}
	if c.using != "" {
		var ok bool
		if c.usingSwitch, c.usingPort, ok = fabric.CutPort(c.using); !ok {
			return cmdutil.UsageErrorf("invalid --using %q: want SWITCH[NUMBER]", c.using)
		}
	}
	c.filter.All = c.all
	for _, text := range c.lids {
		r, ok := c.parseRange(text)
		if !ok {
			return cmdutil.UsageErrorf("invalid --lid %q: want a LID or a range of LIDs, %s", text, c.lidBounds())
		}
		c.filter.LIDs = append(c.filter.LIDs, r)
	}
	if c.ports != "" {
		list, err := ranges.Parse(c.ports, "a port number", 255)
		if err != nil {
			return cmdutil.UsageErrorf("invalid --ports: %w", err)
		}
		for _, r := range list {
			for n := int(r[0]); n <= int(r[1]); n++ {
				c.filter.Ports = append(c.filter.Ports, uint8(n))
			}
		}
	}
	for _, text := range c.to {
		a, err := portindex.Parse(text)
		if err != nil {
			return &cmdutil.UsageError{Err: err}
		}
		c.destinations = append(c.destinations, a)
	}
	if err := c.fabric.Complete(ctx, c.env); err != nil {
		return err
	}
	o := &c.options
	o.Source, o.Select = c.fabric.Source(c.env), c.selectTables
	o.Source.NoExtendedPortInfo = true // no speeds
	if o.Loaded, err = c.files.Read(); err != nil {
		return err
	}
	c.gid = c.fabric.GIDByIP(ctx, c.env)
	c.names, err = c.fabric.Names(c.env)
	return err
}

// parseRange parses a LID or a range of LIDs, unicast or multicast ones.
func (c *command) parseRange(text string) (r route.LIDRange, ok bool) {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	a, errA := strconv.ParseUint(first, 0, 16)
	b, errB := strconv.ParseUint(last, 0, 16)
	r = route.LIDRange{First: ib.LID(a), Last: ib.LID(b)}
	valid := r.First.IsUnicast() && r.Last.IsUnicast()
	if c.multicast {
		valid = r.First.IsMulticast() && r.Last.IsMulticast()
	}
	return r, errA == nil && errB == nil && valid && a <= b
}

func (c *command) lidBounds() string {
	if c.multicast {
		return "0xc000 to 0xfffe"
	}
	return "1 to 0xbfff"
}

// find finds the switches and the link of the command line in a routing.
func (c *command) find(r *route.Routing) error {
	x := portindex.New(r, c.names, c.gid)
	if c.using != "" {
		nodes, err := x.Switches(c.usingSwitch)
		if err != nil {
			return err
		}
		ports := len(nodes[0].Ports) - 1
		switch {
		case len(nodes) > 1:
			return fmt.Errorf("find %s: got %d switches, want 1", c.using, len(nodes))
		case c.usingPort < 1 || c.usingPort > ports:
			return fabric.NoPortError(c.usingSwitch, c.usingPort, ports)
		}
		c.link = &nodes[0].Ports[c.usingPort]
		c.nodes = nodes
		if c.link.Peer != nil && c.link.Peer.Node.IsSwitch() && c.link.Peer.Node != nodes[0] {
			c.nodes = append(c.nodes, c.link.Peer.Node)
		}
		return nil
	}
	for i := range c.destinations {
		p, _, err := x.Port(&c.destinations[i])
		if err != nil {
			return err
		}
		c.filter.LIDs = append(c.filter.LIDs, route.LIDRange{First: p.LID, Last: p.LID + 1<<p.LMC - 1})
	}
	for _, text := range c.switches {
		nodes, err := x.Switches(text)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if !slices.Contains(c.nodes, n) {
				c.nodes = append(c.nodes, n)
			}
		}
	}
	if len(c.switches) == 0 {
		for _, n := range r.Nodes {
			if n.IsSwitch() {
				c.nodes = append(c.nodes, n)
			}
		}
	}
	return nil
}

// selectTables returns the tables to read. The balance needs those of all switches.
func (c *command) selectTables(r *route.Routing) (o route.ReadOptions, err error) {
	if err := c.find(r); err != nil || c.balance {
		return o, err
	}
	o.Switches = []*route.Node{}
	for _, n := range c.nodes {
		if n.Tables != nil { // otherwise its SwitchInfo failed
			o.Switches = append(o.Switches, n)
		}
	}
	switch {
	case c.filter.LIDs != nil:
		o.LIDs = blockLIDs(c.filter.LIDs)
	case c.multicast:
		o.LIDs = blockLIDs([]route.LIDRange{{First: ib.MinMulticastLID, Last: ib.MaxMulticastLID}})
	}
	return o, nil
}

// blockLIDs returns a LID of each block that has LIDs of some ranges.
func blockLIDs(ranges []route.LIDRange) (lids []ib.LID) {
	for _, r := range ranges {
		const step = 32 // entries of the smaller kind of blocks
		for lid := int(r.First); lid < int(r.Last); lid += step {
			lids = append(lids, ib.LID(lid))
		}
		lids = append(lids, r.Last)
	}
	return lids
}

// run reads the tables and prints them.
func (c *command) run(ctx context.Context) error {
	bar := render.NewProgress(c.env.ErrOut)
	c.options.Source.Progress = bar.Update
	r, err := route.Scan(ctx, c.options)
	bar.Close()
	switch {
	case err != nil:
		return err
	case len(c.files.Load) > 0:
		if err := c.find(r); err != nil {
			return err
		}
	}
	routefiles.PrintFailures(c.fabric.Failures(c.env, "warning"), r, c.names)
	routefiles.PrintChanging(c.fabric.Failures(c.env, "warning"), r, c.names)
	v := &view{command: c, routing: r, partial: r.Partial() || slices.ContainsFunc(c.nodes, c.isUnknown)}
	if !v.partial && c.selects() && !slices.ContainsFunc(c.nodes, c.hasEntries) {
		return fmt.Errorf("select entries: no entry matches")
	}
	if c.balance {
		if v.groups, err = c.measure(ctx, r); err != nil {
			return err
		}
	}
	v.head = report.NewHead(route.TablesSchema, r.Began)
	v.head.Add(route.UnevenGroups(v.groups, c.names)...)
	v.head.Fail(r.ReportFailures(c.names)...)
	v.head.Partial = v.partial
	out := render.NewOutput(c.env.Out)
	v.print(out)
	if err := out.Flush(); err != nil {
		return err
	}
	c.fabric.PrintStats(c.env)
	return cmdutil.HeadError(&v.head)
}

// measure returns the groups of links of the selected switches.
func (c *command) measure(ctx context.Context, r *route.Routing) ([]route.PortGroup, error) {
	a, err := route.Analyze(ctx, r, route.AnalyzeOptions{})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(a.Groups, func(g route.PortGroup) bool { return !slices.Contains(c.nodes, g.Switch) }), nil
}

// isUnknown reports whether the table of a switch to be shown was not read.
func (c *command) isUnknown(n *route.Node) bool {
	return n.Tables == nil || !c.multicast && !n.Tables.Known()
}

// selects reports whether the command line selects entries.
func (c *command) selects() bool { return c.filter.LIDs != nil || c.filter.Ports != nil }

// hasEntries reports whether a switch has selected entries.
func (c *command) hasEntries(n *route.Node) bool {
	if c.multicast {
		return len(n.Tables.Groups(&c.filter)) > 0
	}
	return len(n.Tables.Entries(&c.filter)) > 0
}
