// Package route is the command that shows the paths between ports.
package route

import (
	"context"
	"net/netip"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/shared/errorcounters"
	"github.com/ibkit/ibkit/cmd/internal/shared/routefiles"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/report"
)

// command is one call of route.
type command struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags

	files     routefiles.Flags
	pairsFile string
	from      string
	toAll     bool
	group     string
	force     bool
	counters  bool
	problems  bool
	failOn    []report.Kind
	json      bool
	csv       bool

	options route.PathsOptions
	names   *fabric.NameMap
	gid     func(netip.Addr) (ib.GID, error) // of the port with an IP address
	errors  *errorcounters.Reader            // nil: not read
	partial bool                             // counters or a pair are missing
	pairs   int                              // that were followed
	unknown int                              // pairs with an unknown port

	failOnGiven bool
	unchecked   []report.Kind // of files
	failures    []report.Failure
}

// New returns the command route.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:     "route [flags] A B",
		Aliases: []string{"path"},
		Short:   "Show the paths between two ports, in both directions",
		Long: strings.TrimSpace(`
route follows the forwarding tables from port A to port B and back, and shows
each link of the path with its rate and findings. The first of the slowest
links has a *. It reports paths that do not arrive, that differ from the record
of subnet administration, or that are longer than the shortest path.

A and B are LIDs, GUIDs, GIDs, directed routes or node names, as in ibkit addr;
NAME[2] is port 2 of a node. route scans the fabric and reads the entries of the
two LIDs in all tables. The service level and the virtual lanes come from the
path record.`),
		Example: strings.Trim(`
  # the path between two hosts, with the error counters of its links
  ibkit route --counters node01 node16

  # many pairs, one per line; exit code 3 if one of them has a problem
  ibkit route --targets-file pairs.txt --problems

  # the paths from a host to all ports, in a table for other programs
  ibkit route --from-port node01 --to-all --csv

  # the path of the packets of a multicast group
  ibkit route --mlid 0xc001 node01 node16

  # from files of opensm -D 0x43, or a routing that check routes stored
  ibkit route --tables /var/log node01 node16`, "\n"),
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
	flags.StringVar(&c.pairsFile, "targets-file", "", "read pairs of ports from `FILE`, one pair per line (-: standard input)")
	flags.StringVar(&c.from, "from-port", "", "show the paths from a `PORT` (--to-all)")
	flags.BoolVar(&c.toAll, "to-all", false, "show the paths to all other end ports (--from-port)")
	flags.StringVar(&c.group, "mlid", "", "show the paths of packets of the multicast group with `LID`")
	flags.BoolVar(&c.force, "unknown-lid", false, "follow the tables to a LID that no known port has")
	flags.BoolVar(&c.counters, "counters", false, "read the error counters of the links")
	flags.BoolVar(&c.problems, "problems", false, "show only pairs with a problem")
	for _, k := range route.PathKinds {
		if k.Info().Severity != report.Info {
			c.failOn = append(c.failOn, k)
		}
	}
	cmdutil.EnumListFlag(cmd, &c.failOn, "fail-on", route.PathKinds, "exit with 3 for a `FINDING`")
	c.files.Register(flags)
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.csv, "csv", false, "print comma-separated values, a line per link")
	c.fabric.Define(c.env, cmd)
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"targets-file"}, Others: []string{"from-port", "to-all"}},
		routefiles.Clash("counters"),
		{Flags: []string{"mlid"}, Others: []string{"unknown-lid"}},
		{Flags: []string{"json"}, Others: []string{"csv"}},
	},
	Needs: []cmdutil.Need{
		routefiles.Need(),
		{Flags: []string{"to-all"}, Others: []string{"from-port"}},
		{Flags: []string{"from-port"}, Others: []string{"to-all"}},
	},
}

// complete checks the flags and returns the pairs.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet, args []string) (pairs []pair, err error) {
	if err := rules.Check(flags); err != nil {
		return nil, err
	}
	switch {
	case c.pairsFile != "" || c.toAll:
		if len(args) > 0 {
			return nil, cmdutil.UsageErrorf("unexpected argument %q", args[0])
		}
	case len(args) == 0:
		return nil, cmdutil.WithHint(cmdutil.Missing("port"), "give both ends, or --from-port A --to-all")
	case len(args) != 2:
		return nil, cmdutil.WithHint(cmdutil.UsageErrorf("number of ports: got %d, want 2", len(args)), "give both ends, or --from-port A --to-all")
	}
	if c.group != "" {
		lid, err := strconv.ParseUint(c.group, 0, 16)
		if err != nil || !ib.LID(lid).IsMulticast() {
			return nil, cmdutil.UsageErrorf("invalid --mlid %q: want a LID from 0x%x to 0x%x", c.group, uint16(ib.MinMulticastLID), uint16(ib.MaxMulticastLID))
		}
		c.options.Group = ib.LID(lid)
	}
	if pairs, err = c.parsePairs(args); err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	c.failOnGiven = flags.Changed("fail-on")
	if c.counters {
		if c.errors, err = errorcounters.New(c.env, nil); err != nil {
			return nil, &cmdutil.UsageError{Err: err}
		}
	}
	if err := c.fabric.Complete(ctx, c.env); err != nil {
		return nil, err
	}
	o := &c.options
	o.Source, o.SMLID = c.fabric.Source(c.env), c.fabric.SMLID
	if o.Loaded, err = c.files.Read(); err != nil {
		return nil, err
	}
	c.gid = c.fabric.GIDByIP(ctx, c.env)
	c.names, err = c.fabric.Names(c.env)
	return pairs, err
}
