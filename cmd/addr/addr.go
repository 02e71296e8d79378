// Package addr is the command that shows all addresses of ports.
package addr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
)

// command is one call of addr.
type command struct {
	env      *cmdutil.Env
	fabric   fabricflag.Flags
	allPorts bool
	source   lookup.Mode
	file     string
	json     bool
	plain    bool
	csv      bool
	columns  []string

	byGUID, byRoute bool // the kind of all targets

	names   *fabric.NameMap
	options lookup.Options
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:     "addr [flags] [TARGET...]",
		Aliases: []string{"resolve"},
		Short:   "Show every address of a port, given any of them",
		Long: strings.TrimSpace(`
addr finds ports by an address of any kind, and shows all their addresses: LIDs,
GIDs, GUIDs, node name. Without a TARGET, it shows the local port. A TARGET is

  7, 0x1f, 4-9           a LID or a range of them
  0x0002c9030010a1b2     the GUID of a port, or of a node with all its ports
  0,1,3                  a directed route; 5,0,1 begins at LID 5
  fe80::2:c903:10:a1b2   a GID
  192.0.2.7              an IP address, over RoCE or over IP over InfiniBand
  node07, 'node07[1]'    a node, or a port of it, by its name in the node name
                         map, its description, or the first word of that
  'node0*'               all nodes whose name matches a shell pattern

A prefix selects the kind of an ambiguous address: name:17, guid:0xbeef, lid:,
route:, gid:, ip:2001:db8::7.

addr locates ports by a query of subnet administration, or by a scan if there is
no subnet administration. It queries the ports for their attributes, and subnet
administration in place of ports that do not respond. IP addresses are looked up
in the neighbour table of the kernel. For an address that is not in the table,
addr sends an empty UDP packet to the discard port of the host, so that the
kernel resolves it.`),
		Example: strings.Trim(`
  # the local port
  ibkit addr

  # the LID of a node, for scripts
  ibkit addr --plain --columns lid node07

  # the port with a LID
  ibkit addr 7

  # all ports of the node with a GUID
  ibkit addr --all-ports 0x0002c9030010a1b2

  # the GIDs of a host on a RoCE network
  ibkit addr 192.0.2.7`, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			addresses, err := c.complete(cmd.Context(), cmd.Flags(), args)
			if err != nil {
				return err
			}
			return c.run(cmd.Context(), addresses)
		},
	}
	c.define(cmd)
	cmdutil.CompleteOperands(env, cmd, fabricflag.NodeNames)
	return cmd
}

func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&c.byGUID, "Guid", "G", false, "parse all targets as GUIDs")
	flags.BoolVar(&c.byRoute, "Direct", false, "parse all targets as directed routes")
	flags.BoolVarP(&c.allPorts, "all-ports", "a", false, "show all ports of the nodes found")
	cmdutil.EnumFlag(cmd, &c.source, "source", lookup.ModeAll, lookup.Modes, "`SOURCE` of ports (all: sa, else a scan of the nodes)")
	flags.StringVar(&c.file, "targets-file", "", "read more targets from `FILE`, one per line (-: standard input)")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.csv, "csv", false, "print CSV")
	flags.BoolVar(&c.plain, "plain", false, "print columns separated by tabs, without a header")
	cmdutil.EnumListFlag(cmd, &c.columns, "columns", columnNames(), "show a `LIST` of columns")
	c.fabric.Define(c.env, cmd)
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"json"}, Others: []string{"plain", "columns"}},
		{Flags: []string{"csv"}, Others: []string{"json", "plain"}},
		{Flags: []string{"Guid"}, Others: []string{"Direct"}},
	},
}

// complete validates the command line and returns the targets.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet, args []string) ([]lookup.Address, error) {
	if err := rules.Check(flags); err != nil {
		return nil, err
	}
	addresses, err := cmdutil.ParseTargets(c.env, args, c.byGUID, c.byRoute, c.file)
	if err != nil {
		return nil, err
	}
	if c.names, err = c.fabric.CompleteNames(ctx, c.env); err != nil {
		return nil, err
	}
	c.options = c.fabric.Resolve(c.env, c.names)
	c.options.Mode = c.source
	if len(args) == 0 && c.file == "" {
		addresses = []lookup.Address{lookup.Self()}
	}
	return addresses, nil
}

// An answer contains the ports of one target.
type answer struct {
	target lookup.Address
	ports  []*lookup.Port
	err    error // the cause if there are no ports
}

// isKnown reports whether the attributes of a port are known.
func (a answer) isKnown() bool {
	return slices.ContainsFunc(a.ports, func(p *lookup.Port) bool { return p.Node != nil || p.Host != nil })
}

func (c *command) run(ctx context.Context, addresses []lookup.Address) (err error) {
	began := time.Now()
	bar := render.NewProgress(c.env.ErrOut)
	defer bar.Close()
	c.options.Progress = bar.Update

	var client *umad.Client
	local := umad.PortAttr{LinkLayer: lookup.Ethernet}
	s, err := c.fabric.Source(c.env).Open(ctx)
	switch {
	case err == nil:
		defer func() {
			if closed := s.Close(); err == nil {
				err = closed
			}
		}()
		client, local = s.Client, s.Local()
	case !c.needsNoPort(err, addresses):
		return err
	}
	resolver := lookup.New(client, local, c.options)
	answers, err := c.find(ctx, resolver, addresses)
	bar.Close()
	if err != nil && (ctx.Err() == nil || !slices.ContainsFunc(answers, answer.isKnown)) {
		return err
	}
	missed := resolver.Missed()
	view := &view{began: began, env: c.env, names: c.names, local: local, answers: answers, missed: missed, columns: c.columns}
	document := view.report()
	out := render.NewOutput(c.env.Out)
	switch {
	case c.json:
		render.WriteLine(out, document)
	case c.plain:
		view.plain(out)
	case c.csv:
		view.csv(out)
	default:
		view.table(out)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if err != nil { // interrupted
		return &cmdutil.ExitError{Code: cmdutil.ExitPartial, Err: err}
	}
	c.fabric.PrintStats(c.env)
	c.fabric.PrintMissed(c.env, missed)
	return c.exitError(answers, &document.Head)
}

// needsNoPort reports whether the targets can be found without the port that could not
// be opened: hosts on Ethernet, if this host has RoCE ports only.
func (c *command) needsNoPort(err error, addresses []lookup.Address) bool {
	var none *device.NoPortError
	if !errors.As(err, &none) || none.Device != "" || none.Port != 0 {
		return false
	}
	overEthernet := slices.ContainsFunc(none.Existing, func(p device.LocalPort) bool { return p.Attr.LinkLayer == lookup.Ethernet })
	return overEthernet && !slices.ContainsFunc(addresses, func(a lookup.Address) bool {
		return a.Kind == lookup.LID || a.Kind == lookup.GUID || a.Kind == lookup.Route && a != lookup.Self()
	})
}

// find finds the ports of all targets and queries their attributes.
func (c *command) find(ctx context.Context, r *lookup.Resolver, addresses []lookup.Address) ([]answer, error) {
	answers := make([]answer, len(addresses))
	var all []*lookup.Port
	for i, a := range addresses {
		answer := &answers[i]
		answer.target = a
		if answer.ports, answer.err = r.Find(ctx, a); answer.err != nil {
			answer.err = withHint(answer.err, c.options.Mode)
		}
		if ctx.Err() != nil {
			return answers, ctx.Err()
		}
		all = append(all, answer.ports...)
	}
	if err := r.Describe(ctx, all); err != nil {
		return answers, err
	}
	if !c.allPorts {
		return answers, nil
	}
	var more []*lookup.Port
	for i := range answers {
		answer := &answers[i]
		found := len(answer.ports)
		var err error
		if answer.ports, err = r.Siblings(ctx, answer.ports); err != nil && answer.err == nil {
			answer.err = fmt.Errorf("find other ports of the node: %w", err)
		}
		more = append(more, answer.ports[found:]...)
	}
	return answers, r.Describe(ctx, more)
}
