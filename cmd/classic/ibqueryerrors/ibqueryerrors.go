// Package ibqueryerrors implements ibqueryerrors from infiniband-diags.
package ibqueryerrors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// command is an ibqueryerrors call.
type command struct {
	*getopt.Diag
	guid, route   string
	byGUID, byDR  bool
	skipSL        bool
	thresholdFile string
	loadCache     string
	types         map[mad.NodeType]bool // empty: all
	suppressed    []string
	reportPort    bool
	data          bool // traffic on ports with errors
	onlyData      bool // traffic on all ports
	details       bool
	clearErrors   bool
	clearData     bool

	names        *fabric.NameMap
	thresholds   counters.Thresholds
	hasThreshold bool // the file exists
	levels       map[ib.LID]uint8
	totals       totals
}

// totals are the summary numbers.
type totals struct{ nodes, badNodes, ports, badPorts, failures int }

// New returns ibqueryerrors.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{
		Diag: getopt.NewDiag(env, "ibqueryerrors"), thresholdFile: env.ConfigFile(counters.DefaultThresholdPath),
		types: map[mad.NodeType]bool{}, levels: map[ib.LID]uint8{},
	}
	setGUID := func(value string) error {
		c.guid, c.byGUID = value, true
		return nil
	}
	ofType := func(t mad.NodeType) func(string) error {
		return func(string) error {
			c.types[t] = true
			return nil
		}
	}
	options := []getopt.Option{
		{Long: "suppress", Short: 's', Arg: "<err1,err2,...>", Help: "suppress errors listed", Set: c.suppress},
		{Long: "suppress-common", Short: 'c', Help: "suppress some of the common counters", Set: func(string) error {
			c.addSuppressed("PortRcvSwitchRelayErrors")
			return nil
		}},
		{Long: "node-name-map", Arg: "<file>", Help: "node name map file", Set: getopt.Text(&c.NameMap)},
		{Long: "port-guid", Short: 'G', Arg: "<port_guid>", Help: "report the node containing the port specified by <port_guid>", Set: setGUID, Complete: fabricflag.NodeGUIDs},
		{Short: 'S', Arg: "<port_guid>", Help: `Same as "-G" for backward compatibility`, Set: setGUID, Complete: fabricflag.NodeGUIDs},
		{Long: "Direct", Short: 'D', Arg: "<dr_path>", Help: "report the node containing the port specified by <dr_path>", Set: func(value string) error {
			c.route, c.byDR = value, true
			return nil
		}},
		{Long: "skip-sl", Help: "don't obtain SL to all destinations", Set: getopt.True(&c.skipSL)},
		{Long: "report-port", Short: 'r', Help: "report port link information", Set: getopt.True(&c.reportPort)},
		{Long: "threshold-file", Arg: "<val>", Help: "specify an alternate threshold file, default: " + counters.DefaultThresholdPath, Set: getopt.Text(&c.thresholdFile)},
		{Long: "GNDN", Short: 'R', Help: "(This option is obsolete and does nothing)", Set: getopt.Ignore},
		{Long: "data", Help: "include data counters for ports with errors", Set: getopt.True(&c.data)},
		{Long: "switch", Help: "print data for switches only", Set: ofType(mad.NodeTypeSwitch)},
		{Long: "ca", Help: "print data for CA's only", Set: ofType(mad.NodeTypeCA)},
		{Long: "router", Help: "print data for routers only", Set: ofType(mad.NodeTypeRouter)},
		{Long: "details", Help: "include transmit discard details", Set: getopt.True(&c.details)},
		{Long: "counters", Help: "print data counters only", Set: getopt.True(&c.onlyData)},
		{Long: "clear-errors", Short: 'k', Help: "Clear error counters after read", Set: getopt.True(&c.clearErrors)},
		{Long: "clear-counts", Short: 'K', Help: "Clear data counters after read", Set: getopt.True(&c.clearData)},
		{Long: "load-cache", Arg: "<file>", Help: "filename of ibnetdiscover cache to load", Set: getopt.Text(&c.loadCache)},
		{Long: "outstanding_smps", Short: 'o', Arg: "<val>", Help: "specify the number of outstanding SMP's which should be issued during the scan", Set: func(value string) error {
			if c.Window = getopt.Strtol(value); c.Window < 0 || c.Window > math.MaxInt32 {
				c.Window = 0
			}
			return nil
		}},
	}
	return &getopt.Tool{
		Name: "ibqueryerrors", Family: getopt.InfinibandDiags,
		Options: append(options, c.Options("DGKLs")...), Run: c.run,
	}
}

// suppress parses a counter list. Unknown names have no effect.
func (c *command) suppress(list string) error {
	for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		mad.Visit(&mad.PortCounters{}, func(known string, _ int, v uint64) uint64 {
			if name == known && name != qp1Dropped {
				c.addSuppressed(name)
			}
			return v
		})
	}
	return nil
}

func (c *command) addSuppressed(name string) { c.suppressed = append(c.suppressed, name) }

func (c *command) run(ctx context.Context, _ []string) error {
	if err := c.Complete(ctx, c.Env); err != nil {
		return err
	}
	port, err := c.Open(ctx)
	if err != nil {
		device, number := c.LocalPort()
		return c.Iberror("main", err, "Failed to open port; %s:%d\n", device, number)
	}
	defer port.Close()
	if c.byDR && c.loadCache != "" {
		fmt.Fprintln(c.Env.ErrOut, "Cannot specify cache and direct route path")
		return &cmdutil.ExitError{Code: getopt.ExitFailure}
	}
	if c.names, err = c.Names(c.Env); err != nil {
		return err
	}
	client := umad.NewClient(port, c.Client(c.Env))
	s := scope{command: c, client: client, port: port}
	nodes, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	out := render.NewOutput(c.Env.Out)
	err = c.report(ctx, out, client, nodes)
	if err == nil {
		c.printSummary(out)
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return err
	}
	if c.totals.badPorts > 0 {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return nil
}

// readThresholds reads the thresholds. A missing file has no effect.
func (c *command) readThresholds() error {
	err := c.thresholds.ReadFile(c.thresholdFile)
	var invalid *textfile.Error
	switch {
	case err == nil:
		c.hasThreshold = true
	case errors.As(err, &invalid):
		return &cmdutil.ExitError{Code: cmdutil.ExitUsage, Err: err}
	case c.thresholdFile != c.Env.ConfigFile(counters.DefaultThresholdPath):
		fmt.Fprintf(c.Env.ErrOut, "warning: %v\n", err)
	}
	return nil
}

func (c *command) printSummary(out *render.Output) {
	t := &c.totals
	fmt.Fprintf(out, "\n## Summary: %d nodes checked, %d bad nodes found\n", t.nodes, t.badNodes)
	fmt.Fprintf(out, "##          %d ports checked, %d ports have errors beyond threshold\n", t.ports, t.badPorts)
	if c.hasThreshold {
		fmt.Fprint(out, "## Thresholds: ")
		for _, given := range c.thresholds.Given {
			if given.Counter != counters.QP1Dropped {
				fmt.Fprintf(out, "[%v = %d]", given.Counter, given.Limit)
			}
		}
		fmt.Fprintln(out)
	} else {
		fmt.Fprintln(out, "## (null)") // as the C library prints a text that is missing
	}
	if t.failures > 0 {
		fmt.Fprintf(out, "##          %d PMA query failures\n", t.failures)
	}
	fmt.Fprint(out, "## Suppressed:")
	for _, name := range c.suppressed {
		fmt.Fprint(out, " ", name)
	}
	fmt.Fprintln(out)
}
