// Package iblinkinfo implements iblinkinfo from infiniband-diags.
package iblinkinfo

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/umad"
)

// command is an iblinkinfo call.
type command struct {
	*getopt.Diag
	guid, route     string
	guidGiven       bool
	routeGiven      bool
	all             bool
	hops            int
	down, line      bool
	additional      bool
	loadCache       string
	diff            string
	checks          linkinfo.Checks
	filterDownPorts string
	selection       links.Selection
}

// New returns iblinkinfo.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "iblinkinfo")}
	// The C tool compares peers by GUID, which all ports on a switch share.
	c.checks = linkinfo.Checks{Connection: true, State: true}
	setGUID := func(value string) error {
		c.guid, c.guidGiven = value, true
		return nil
	}
	options := []getopt.Option{
		{Long: "node-name-map", Arg: "<file>", Help: "node name map file", Set: getopt.Text(&c.NameMap)},
		{Long: "switch", Short: 'S', Arg: "<port_guid>", Help: "start partial scan at the port specified by <port_guid> (hex format)", Set: setGUID, Complete: fabricflag.NodeGUIDs},
		{Long: "port-guid", Short: 'G', Arg: "<port_guid>", Help: "(same as -S)", Set: setGUID, Complete: fabricflag.NodeGUIDs},
		{Long: "Direct", Short: 'D', Arg: "<dr_path>", Help: "start partial scan at the port specified by <dr_path>", Set: func(value string) error {
			c.route, c.routeGiven = value, true
			return nil
		}},
		{Long: "all", Short: 'a', Help: "print all nodes found in a partial fabric scan", Set: getopt.True(&c.all)},
		{Long: "hops", Short: 'n', Arg: "<hops>", Help: "Number of hops to include away from specified node", Set: number(&c.hops)},
		{Long: "down", Short: 'd', Help: "print only down links", Set: getopt.True(&c.down)},
		{Long: "line", Short: 'l', Help: "(line mode) print all information for each link on a single line", Set: getopt.True(&c.line)},
		{Long: "additional", Short: 'p', Help: "print additional port settings (PktLifeTime, HoqLife, VLStallCount)", Set: getopt.True(&c.additional)},
		{Long: "load-cache", Arg: "<file>", Help: "filename of ibnetdiscover cache to load", Set: getopt.Text(&c.loadCache)},
		{Long: "diff", Arg: "<file>", Help: "filename of ibnetdiscover cache to diff", Set: getopt.Text(&c.diff)},
		{Long: "diffcheck", Arg: "<key(s)>", Help: "specify checks to execute for --diff", Set: c.setChecks},
		{Long: "filterdownports", Arg: "<file>", Help: "filename of ibnetdiscover cache to filter downports", Set: getopt.Text(&c.filterDownPorts)},
		{Long: "outstanding_smps", Short: 'o', Arg: "<val>", Help: "specify the number of outstanding SMP's which should be issued during the scan", Set: number(&c.Window)},
		{Long: "switches-only", Help: "Output only switches", Set: c.setOnly(links.Selection{SwitchesOnly: true})},
		{Long: "cas-only", Help: "Output only CAs", Set: c.setOnly(links.Selection{CAsOnly: true})},
	}
	return &getopt.Tool{
		Name: "iblinkinfo", Family: getopt.InfinibandDiags, FailureCode: cmdutil.ExitFailed,
		Options: append(options, c.Options("DLGKd")...), Run: c.run,
	}
}

// number returns a Set for a number that C reads into an unsigned int, where 0 and values
// out of range mean no limit.
func number(to *int) func(string) error {
	return func(value string) error {
		*to = getopt.Strtol(value)
		if *to < 0 || *to > math.MaxInt32 {
			*to = 0
		}
		return nil
	}
}

// setOnly returns a Set that selects a node type instead of the previous type.
func (c *command) setOnly(s links.Selection) func(string) error {
	return func(string) error {
		c.selection = s
		return nil
	}
}

// setChecks sets checks from a list with empty elements, which the C tool skips.
func (c *command) setChecks(value string) (err error) {
	keys := strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
	if len(keys) == 0 {
		c.checks = linkinfo.Checks{}
		return nil
	}
	value = strings.Join(keys, ",")
	if c.checks, err = linkinfo.ParseChecks(value); err != nil {
		fmt.Fprintln(c.Env.ErrOut, err)
		return getopt.ErrUsage
	}
	return nil
}

func (c *command) run(ctx context.Context, _ []string) error {
	if err := c.Complete(ctx, c.Env); err != nil {
		return err
	}
	guid := ib.GUID(getopt.Strtoull(c.guid))
	o, err := c.scanOptions(guid)
	if err != nil {
		return err
	}
	names, err := c.Names(c.Env)
	if err != nil {
		return err
	}
	compare, err := c.readCache(c.diff, "loading cached fabric for diff failed")
	if err != nil {
		return err
	}
	downBefore, err := c.readCache(c.filterDownPorts, "loading cached fabric for filterdownports failed")
	if err != nil {
		return err
	}
	links.WarnStored(c.Env.ErrOut, c.diff, compare)
	links.WarnStored(c.Env.ErrOut, c.filterDownPorts, downBefore)
	if c.loadCache != "" {
		if o.Source.Stored, err = fabric.ReadCacheFile(c.loadCache); err != nil {
			return err
		}
	}
	c.selection.OnlyStart = (c.routeGiven || c.guidGiven) && !c.all
	r, err := c.scan(ctx, o)
	if r == nil {
		return err
	}
	links.PrintWarnings(c.Env, r, nil, c.Verbose > 0)
	if err != nil {
		cmdutil.PrintError(c.Env, "error", err)
	}
	if c.guidGiven {
		r.Node = nil
		if p := r.Fabric.PortByGUID(guid); p != nil && guid != 0 {
			r.Node = p.Node
		}
	}
	nodes, ok := c.selection.Nodes(r, r.Fabric.Replay(nil).Nodes)
	if !ok {
		fmt.Fprintf(c.Env.ErrOut, "Failed to find port: %s\n", c.guid+c.route)
		return nil
	}
	out := render.NewOutput(c.Env.Out)
	c.print(out, r, nodes, names, compare, downBefore)
	if err := out.Flush(); err != nil {
		return err
	}
	if r.Fabric.Aborted != nil {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return nil
}

// scan scans the fabric. The C tool exceeds its hop limit by a node, by which it finds an
// adapter's other ports, and places in a chassis. If only an adapter is printed, the scan is
// repeated with a hop more.
func (c *command) scan(ctx context.Context, o linkinfo.Options) (*linkinfo.Result, error) {
	bar := render.NewProgress(c.Env.ErrOut)
	defer bar.Close()
	o.Source.Progress = bar.Update
	r, err := linkinfo.Run(ctx, o)
	if err != nil || o.Source.Stored != nil || !c.selection.OnlyStart || r.Node == nil || !r.Node.IsCA() {
		return r, err
	}
	o.MaxHops = max(o.MaxHops, 1) + 1
	return linkinfo.Run(ctx, o)
}

// scanOptions returns the options for the scan. A GUID that is no number scans the
// whole fabric and is not found.
func (c *command) scanOptions(guid ib.GUID) (o linkinfo.Options, err error) {
	o = linkinfo.Options{
		Source: c.Source(), MaxHops: c.hops, SMLID: c.SMLID, Partial: c.routeGiven || guid != 0,
	}
	o.Source.OpenPort = c.openPort
	switch {
	case c.routeGiven && c.loadCache != "":
		fmt.Fprintln(c.Env.ErrOut, "Cannot specify cache and direct route path")
		return o, &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	case c.routeGiven:
		o.Route, err = getopt.ParseRoute(c.route)
	default:
		o.PortGUID = guid
	}
	return o, err
}

func (c *command) openPort(ctx context.Context) (umad.Port, error) {
	port, err := c.Open(ctx)
	if err != nil {
		device, number := c.LocalPort()
		fmt.Fprintf(c.Env.ErrOut, "Failed to open %s port %d\n", device, number)
	}
	return port, err
}

// readCache reads a cache file; nil if path is empty.
func (c *command) readCache(path, failure string) (*fabric.Fabric, error) {
	if path == "" {
		return nil, nil
	}
	f, err := fabric.ReadCacheFile(path)
	if err != nil {
		return nil, c.Iberror("main", err, "%s\n", failure)
	}
	return f, nil
}

func (c *command) print(out *render.Output, r *linkinfo.Result, nodes []*fabric.Node, names *fabric.NameMap, compare, downBefore *fabric.Fabric) {
	view := &links.Classic{Out: out, Names: names, Line: c.line, Additional: c.additional, OnlyDown: c.down, DownBefore: downBefore}
	if compare != nil {
		view.PrintDiff(linkinfo.ClassicDiff(compare, r.Fabric, c.checks, c.selection.InEither(nodes)))
		return
	}
	view.Print(nodes)
}
