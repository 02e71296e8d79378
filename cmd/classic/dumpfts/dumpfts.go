// Package dumpfts implements dump_fts, dump_lfts and dump_mfts from infiniband-diags.
package dumpfts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/forwarding"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// command is a tool call.
type command struct {
	*getopt.Diag
	forwarding.Options
	replaced string // tool name in the old names' warning; "": no warning
}

// New returns dump_fts.
func New(env *cmdutil.Env) *getopt.Tool { return newTool(env, "dump_fts", "", false) }

// NewLFTs returns dump_lfts.
func NewLFTs(env *cmdutil.Env) *getopt.Tool { return newTool(env, "dump_lfts", "dump_fts", false) }

// NewMFTs returns dump_mfts.
func NewMFTs(env *cmdutil.Env) *getopt.Tool { return newTool(env, "dump_mfts", "dump_fts -M", true) }

func newTool(env *cmdutil.Env, name, replaced string, multicast bool) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "dump_fts"), replaced: replaced}
	c.Multicast = multicast
	return &getopt.Tool{
		Name: name, Family: getopt.InfinibandDiags, Operands: "[<dest dr_path|lid|guid> [<startlid> [<endlid>]]]",
		Examples: []string{
			" -- Unicast examples:",
			"-a\t# same, but dump all lids, even with invalid out ports",
			"-n\t# simple dump format - no destination resolving",
			"10\t# dump lids starting from 10",
			"0x10 0x20\t# dump lid range",
			" -- Multicast examples:",
			"-M\t# dump all non empty mlids of switch with lid 4",
			"-M 0xc010 0xc020\t# same, but with range",
			"-M -n\t# simple dump format",
		},
		Options: append(c.Define(&c.NameMap), c.Diag.Options("KGDLs")...), Run: c.runAs,
	}
}

// runAs runs dump_fts. The old names are scripts that print a warning after it and
// exit with the warning's exit code.
func (c *command) runAs(ctx context.Context, operands []string) error {
	err := c.run(ctx, operands)
	if c.replaced == "" {
		return err
	}
	if _, failed := fmt.Fprintf(c.Env.Out, "\n*** WARNING ***: this command has been replaced by %s\n\n\n", c.replaced); failed != nil {
		return fmt.Errorf("write output: %w", failed)
	}
	var exit *cmdutil.ExitError
	if errors.As(err, &exit) && exit.Err != nil {
		cmdutil.PrintError(c.Env, "dump_fts", exit.Err)
	}
	return nil
}

func (c *command) run(ctx context.Context, operands []string) error {
	if err := c.Complete(ctx, c.Env); err != nil {
		return err
	}
	names, err := c.Names(c.Env)
	if err != nil {
		return err
	}
	port, err := c.Open(ctx)
	if err != nil {
		fmt.Fprintln(c.Env.ErrOut, "Failed to discover fabric")
		return &cmdutil.ExitError{Code: getopt.ExitFailure, Err: err}
	}
	defer port.Close()
	d := &dump{command: c, names: names, out: render.NewOutput(c.Env.Out)}
	if err := d.read(ctx, umad.NewClient(port, c.Client(c.Env))); err != nil {
		fmt.Fprintln(c.Env.ErrOut, "Failed to discover fabric")
		return &cmdutil.ExitError{Code: getopt.ExitFailure, Err: err}
	}
	var start, end uint
	if len(operands) > 0 {
		start = uint(getopt.Strtoull(operands[0]))
	}
	if len(operands) > 1 {
		end = uint(getopt.Strtoull(operands[1]))
	}
	d.print(start, end)
	return d.out.Flush()
}

// A dump is a fabric's tables while they are printed.
type dump struct {
	*command
	names   *fabric.NameMap
	out     *render.Output
	nodes   []*fabric.Node // in libibnetdisc's order
	routes  map[*fabric.Node]mad.Route
	tables  map[*fabric.Node]*route.Node
	routing *route.Routing

	failures map[*route.Node][]route.Failure // in block order
	ports    []*forwarding.Destination       // by LID
}

// read scans the fabric and reads all switch tables.
func (d *dump) read(ctx context.Context, client *umad.Client) error {
	f, err := fabric.Discover(ctx, client, fabric.DiscoverOptions{NoExtendedPortInfo: true})
	if err != nil {
		return err
	}
	d.routes = map[*fabric.Node]mad.Route{}
	d.nodes = f.Replay(func(v fabric.Visit) {
		if v.New {
			d.routes[v.Port.Node] = v.Route
		}
	}).Nodes
	d.ports = forwarding.ByLID(d.nodes, d.names)
	d.routing = route.FromFabric(f)
	d.tables = map[*fabric.Node]*route.Node{}
	for i, n := range f.Nodes {
		d.tables[n] = d.routing.Nodes[i]
	}
	if err := route.Read(ctx, client, d.routing, route.ReadOptions{Multicast: d.Multicast}); err != nil {
		return err
	}
	d.failures = map[*route.Node][]route.Failure{}
	for _, failure := range d.routing.Failures {
		d.failures[failure.Node] = append(d.failures[failure.Node], failure)
	}
	for _, failures := range d.failures {
		// The port group is in the highest modifier bits.
		slices.SortFunc(failures, func(a, b route.Failure) int {
			return cmp.Compare(bits.RotateLeft32(a.Modifier, 4), bits.RotateLeft32(b.Modifier, 4))
		})
	}
	return nil
}

// print prints all switch tables.
func (d *dump) print(start, end uint) {
	p := &forwarding.Printer{Options: d.command.Options, Out: d.out, Verbose: d.Verbose > 0, Warn: d.Ibwarn}
	for _, n := range d.nodes {
		if !n.IsSwitch() {
			continue
		}
		s := &forwarding.Switch{
			PortID: "DR path slid 0; dlid 0; " + d.routes[n].String(), GUID: n.GUID, Name: d.names.Name(n), Ports: int(n.Info.NumPorts),
		}
		tables := d.tables[n].Tables
		if n.Switch != nil {
			s.Info = *n.Switch
		} else {
			tables = &route.Tables{} // the switch did not return its attributes
		}
		d.printFailures(n, s)
		if d.Multicast {
			first, last := p.MulticastRange(s, start, end)
			p.MulticastTable(s, first, last, func(lid ib.LID) (mad.PortMask, bool) { return tables.MFT[lid], true })
			continue
		}
		first, last := p.Range(s, start, end)
		p.Unicast(s, first, last, func(lid ib.LID) (uint8, bool) {
			return tables.Lookup(lid), !slices.Contains(tables.Missing, uint16(lid/64))
		}, &forwarding.Destinations{Find: func(lid ib.LID) *forwarding.Destination { return d.ports[lid] }, Unknown: "node info not available fabric scan"})
	}
}

// printFailures prints a switch's blocks that could not be read.
func (d *dump) printFailures(n *fabric.Node, s *forwarding.Switch) {
	for _, failure := range d.failures[d.tables[n]] {
		kind := ""
		switch failure.Attr {
		case mad.AttrLinearForwardingTable.String():
			kind = "LFT"
		case mad.AttrMulticastForwardingTable.String():
			kind = "MFT"
		default:
			continue
		}
		d.WarnRPC(d.Env.ErrOut, getopt.MadRPC, s.PortID, failure.Err)
		var status mad.StatusError
		errors.As(failure.Err, &status)
		fmt.Fprintf(d.Env.ErrOut, "SubnGet(%s) failed on switch '%s' %s Node GUID 0x%x SMA LID %d; MAD status 0x%x AM 0x%x\n",
			kind, s.Name, s.PortID, uint64(n.GUID), n.Ports[0].LID(), uint16(status), failure.Modifier)
	}
}
