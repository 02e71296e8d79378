// Package ibnetdiscover implements ibnetdiscover from infiniband-diags.
package ibnetdiscover

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
)

// command is an ibnetdiscover call.
type command struct {
	*getopt.Diag
	text          topology.Text
	show          bool
	list          []mad.NodeType
	ports         bool
	cache         string
	loadCache     string
	diff          string
	checks        topology.Checks
	compareFabric *fabric.Fabric
}

// New returns ibnetdiscover.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "ibnetdiscover"), checks: topology.DefaultChecks}
	list := func(types ...mad.NodeType) func(string) error {
		return func(string) error {
			c.list = types
			return nil
		}
	}
	options := []getopt.Option{
		{Long: "full", Short: 'f', Help: "show full information (ports' speed and width, vlcap)", Set: getopt.True(&c.text.Full)},
		{Long: "show", Short: 's', Help: "show more information", Set: getopt.True(&c.show)},
		{Long: "list", Short: 'l', Help: "list of connected nodes", Set: list(mad.NodeTypeCA, mad.NodeTypeSwitch, mad.NodeTypeRouter)},
		{Long: "grouping", Short: 'g', Help: "show grouping", Set: getopt.True(&c.text.Group)},
		{Long: "Hca_list", Short: 'H', Help: "list of connected CAs", Set: list(mad.NodeTypeCA)},
		{Long: "Switch_list", Short: 'S', Help: "list of connected switches", Set: list(mad.NodeTypeSwitch)},
		{Long: "Router_list", Short: 'R', Help: "list of connected routers", Set: list(mad.NodeTypeRouter)},
		{Long: "node-name-map", Arg: "<file>", Help: "node name map file", Set: getopt.Text(&c.NameMap)},
		{Long: "cache", Arg: "<file>", Help: "filename to cache ibnetdiscover data to", Set: getopt.Text(&c.cache)},
		{Long: "load-cache", Arg: "<file>", Help: "filename of ibnetdiscover cache to load", Set: getopt.Text(&c.loadCache)},
		{Long: "diff", Arg: "<file>", Help: "filename of ibnetdiscover cache to diff", Set: getopt.Text(&c.diff)},
		{Long: "diffcheck", Arg: "<key(s)>", Help: "specify checks to execute for --diff", Set: c.setChecks},
		{Long: "ports", Short: 'p', Help: "obtain a ports report", Set: getopt.True(&c.ports)},
		{Long: "max_hops", Short: 'm', Help: "report max hops discovered by the library", Set: getopt.True(&c.text.MaxHops)},
		{Long: "outstanding_smps", Short: 'o', Arg: "<val>", Help: "specify the number of outstanding SMP's which should be issued during the scan", Set: c.setWindow},
	}
	return &getopt.Tool{
		Name: "ibnetdiscover", Family: getopt.InfinibandDiags, Operands: "[topology-file]",
		Options: append(options, c.Options("DGKLs")...), Run: c.run,
	}
}

// setWindow reads a number as C reads it; 0 is the default.
func (c *command) setWindow(value string) error {
	if n := getopt.Strtoull(value); n <= math.MaxInt32 {
		c.Window = int(n)
	}
	return nil
}

func (c *command) setChecks(value string) (err error) {
	if c.checks, err = topology.ParseChecks(value); err != nil {
		fmt.Fprintln(c.Env.ErrOut, err)
		return getopt.ErrUsage
	}
	return nil
}

func (c *command) run(ctx context.Context, operands []string) error {
	if err := c.Complete(ctx, c.Env); err != nil {
		return err
	}
	if len(operands) > 0 {
		if err := fileout.Check(operands[0]); err != nil {
			return c.Iberror("main", err, "can't open file %s for writing", operands[0])
		}
	}
	var err error
	if c.text.Names, err = c.Names(c.Env); err != nil {
		return err
	}
	if c.diff != "" {
		if c.compareFabric, err = fabric.ReadCacheFile(c.diff); err != nil {
			return c.Iberror("main", err, "loading cached fabric for diff failed\n")
		}
	}
	f, err := c.scan(ctx)
	if f == nil {
		return err
	}
	links.PrintWarnings(c.Env, &linkinfo.Result{Fabric: f}, nil, c.Verbose > 0)
	if err != nil {
		cmdutil.PrintError(c.Env, "error", err)
	}
	if err := c.write(operands, f); err != nil {
		return err
	}
	if c.cache != "" {
		if err := f.WriteCacheFile(c.cache); err != nil {
			return c.Iberror("main", err, "caching ibnetdiscover data failed\n")
		}
	}
	if f.Aborted != nil {
		return &cmdutil.ExitError{Code: getopt.ExitFailure}
	}
	return nil
}

// write prints the fabric, or writes it to the file in operands, if given.
func (c *command) write(operands []string, f *fabric.Fabric) error {
	if len(operands) == 0 {
		return c.print(c.Env.Out, f)
	}
	return fileout.Write(operands[0], func(out io.Writer) error { return c.print(out, f) })
}

func (c *command) scan(ctx context.Context) (*fabric.Fabric, error) {
	c.text.Time = time.Now()
	if c.loadCache != "" {
		f, err := fabric.ReadCacheFile(c.loadCache)
		if err != nil {
			return nil, c.Iberror("main", err, "loading cached fabric failed\n")
		}
		return f, nil
	}
	bar := render.NewProgress(c.Env.ErrOut)
	source := c.Source()
	source.Progress = bar.Update
	f, err := topology.Run(ctx, topology.Options{Source: source})
	bar.Close()
	c.text.Time = time.Now()
	if f == nil {
		return nil, c.Iberror("main", err, "discover failed\n")
	}
	if c.show {
		if err := topology.WriteVisits(c.Env.Out, f); err != nil {
			return nil, err
		}
	}
	return f, err
}

// print writes the selected view. The report on ports does not go to the file.
func (c *command) print(out io.Writer, f *fabric.Fabric) error {
	switch {
	case c.ports:
		return c.text.WritePorts(c.Env.Out, f)
	case c.list != nil:
		return c.text.WriteList(out, f, c.list...)
	case c.compareFabric != nil:
		_, err := c.text.WriteDiff(out, c.compareFabric, f, c.checks)
		return err
	}
	return c.text.WriteTopology(out, f)
}
