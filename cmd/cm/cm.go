// Package cm implements the command cm, which connects to an address step by step.
package cm

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/cm"
	"github.com/ibkit/ibkit/verbs"
)

// command holds the flags of cm.
type command struct {
	env       *cmdutil.Env
	options   cm.Options
	serve     bool
	max       int
	json      bool
	histogram bool
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"json"}, Others: []string{"histogram"}},
	},
	Needs: []cmdutil.Need{{Flags: []string{"max"}, Others: []string{"serve"}}},
}

// serveFlags are the flags that apply to --serve.
var serveFlags = map[string]bool{"serve": true, "max": true, "json": true, "help": true}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:     "cm [flags] HOST[:PORT]\n  ibkit cm --serve [flags] [ADDRESS][:PORT]",
		Aliases: []string{"connect"},
		Short:   "Connect to an address step by step, and find the failing step",
		Long: strings.TrimSpace(`
cm connects to a host through the RDMA connection manager, as most programs that
use RDMA do, disconnects, and prints the duration of each step. If a step fails,
it prints the cause and hints; the exit code is then 3.

Steps: address (IP address to RDMA device), route (path, or neighbour on RoCE),
setup (queue pair), connect (request and reply), establish, disconnect.

The peer is any program that accepts connections on the port, or ibkit cm
--serve. The default port is 7471. Setup requires a driver that ibkit has a
provider for: rxe (Soft-RoCE), siw (software iWARP), mlx5, irdma,
bnxt_re or vmw_pvrdma.`),
		Example: strings.Trim(`
  # on one host
  ibkit cm --serve

  # on the other host, or on the same one
  ibkit cm 192.0.2.7

  # the port of NVMe over Fabrics
  ibkit cm 192.0.2.7:4420

  # connections per second, 8 at a time
  ibkit cm --count 1000 --parallel 8 --histogram 192.0.2.7`, "\n"),
		Args: cmdutil.AtMostArguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			address, err := c.check(cmd.Flags(), args)
			if err != nil {
				return err
			}
			if c.serve {
				err = c.runServer(cmd.Context(), address)
			} else {
				c.options.Target = address
				err = c.run(cmd.Context())
			}
			return cmdutil.WithHint(err, openHint(err, verbs.Devices))
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&c.options.Count, "count", "c", 1, "make `N` connections, one after the other")
	flags.IntVar(&c.options.Parallel, "parallel", 1, "make `N` connections at a time")
	flags.Float64Var(&c.options.Rate, "rate", 0, "start at most `N` connections per second (default: no limit)")
	flags.DurationVar(&c.options.Timeout, "step-timeout", 10*time.Second, "`TIME` limit of each step")
	flags.StringVar(&c.options.Local, "bind", "", "connect from this local `ADDRESS` (default: from the route)")
	flags.BoolVar(&c.histogram, "histogram", false, "print a histogram of each step")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.serve, "serve", false, "accept connections until interrupted")
	flags.IntVar(&c.max, "max", 1024, "hold at most `N` connections, and reject others (--serve)")
	cmdutil.CompleteOperand(env, cmd, cmdutil.Constant())
	return cmd
}

// check validates the command line, and returns the address with its port.
func (c *command) check(flags *pflag.FlagSet, args []string) (address string, err error) {
	if err := rules.Check(flags); err != nil {
		return "", err
	}
	if err := cmdutil.CheckMode(flags, "serve", serveFlags); c.serve && err != nil {
		return "", err
	}
	o := &c.options
	switch {
	case o.Count < 1:
		return "", cmdutil.UsageErrorf("invalid --count %d: want at least 1", o.Count)
	case o.Parallel < 1:
		return "", cmdutil.UsageErrorf("invalid --parallel %d: want at least 1", o.Parallel)
	case c.max < 1:
		return "", cmdutil.UsageErrorf("invalid --max %d: want at least 1", c.max)
	case o.Timeout <= 0:
		return "", cmdutil.UsageErrorf("invalid --step-timeout %v: want a time above 0", o.Timeout)
	case flags.Changed("rate") && !(o.Rate > 0) || math.IsInf(o.Rate, 0):
		return "", cmdutil.UsageErrorf("invalid --rate %v: want a positive number", o.Rate)
	case len(args) == 0 && !c.serve:
		return "", cmdutil.Missing("target")
	}
	if o.Local != "" {
		if o.Local, err = withPort(o.Local, 0); err != nil {
			return "", err
		}
	}
	if len(args) == 0 {
		return withPort("", cm.DefaultPort)
	}
	if _, err := netip.ParseAddr(args[0]); strings.TrimSpace(args[0]) == "" || err != nil && !c.serve && strings.HasPrefix(args[0], ":") {
		return "", cmdutil.UsageErrorf("invalid target %q: want HOST or HOST:PORT", args[0])
	}
	return withPort(args[0], cm.DefaultPort)
}

// withPort adds the port to an address without one. An IPv6 address with a port is in
// brackets.
func withPort(address string, port int) (string, error) {
	bare := address
	if inner, ok := strings.CutPrefix(address, "["); ok && strings.HasSuffix(inner, "]") {
		bare = strings.TrimSuffix(inner, "]")
	}
	if _, err := netip.ParseAddr(bare); err == nil || !strings.ContainsAny(address, "[]:") {
		return net.JoinHostPort(bare, strconv.Itoa(port)), nil
	}
	host, given, err := net.SplitHostPort(address)
	if err != nil {
		return "", cmdutil.UsageErrorf("invalid address %q: want HOST or HOST:PORT", address)
	}
	if _, err := strconv.ParseUint(given, 10, 16); err != nil {
		return "", cmdutil.UsageErrorf("invalid port %q: want a number from 0 to 65535", given)
	}
	return net.JoinHostPort(host, given), nil
}

// efaHint is the advice for hosts on AWS.
const efaHint = "EFA has no connection manager: ibkit perf HOST --transport srd"

// openHint returns the advice for a connection manager that is not accessible.
func openHint(err error, devices func() ([]verbs.Device, error)) string {
	path, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return ""
	}
	all, _ := devices() // those that are known
	other := slices.ContainsFunc(all, func(d verbs.Device) bool { return d.Driver != verbs.DriverEFA })
	switch {
	case len(all) > 0 && !other:
		return efaHint
	case errors.Is(path, fs.ErrNotExist):
		return "load the kernel module: modprobe rdma_ucm"
	case errors.Is(path, fs.ErrPermission):
		return "the device node " + path.Path + " is usually readable and writable for all users: see ibkit doctor"
	}
	return ""
}

func (c *command) run(ctx context.Context) error {
	r, err := cm.Run(ctx, c.options)
	if err != nil {
		return err
	}
	out := render.NewOutput(c.env.Out)
	if c.json {
		render.WriteDocument(out, r)
	} else {
		v := &view{out: out, palette: render.NewPalette(c.env.Out, c.env.Getenv), histogram: c.histogram}
		err = v.print(r)
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	return cmdutil.HeadError(&r.Head)
}
