// Package devinfo implements the command devinfo, which shows the RDMA devices of the
// host.
package devinfo

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/simhost"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/pcie"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/report"
)

// command holds the flags of devinfo.
type command struct {
	env   *cmdutil.Env
	wide  bool
	json  bool
	check bool
	uapi  bool
	watch bool

	resources  bool
	statistics bool
	topology   bool
	roce       bool
	svg        bool
	window     time.Duration // of topology and roce

	settings fabricflag.Settings
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"watch"}, Others: []string{"json", "wide", "problems", "uapi", "resources"}},
		{Flags: []string{"json"}, Others: []string{"wide", "svg"}},
		{Flags: []string{"svg"}, Others: []string{"problems"}},
		{Flags: []string{"uapi"}, Others: []string{"wide", "problems"}},
		{Flags: []string{"sim"}, Others: []string{"uapi", "watch", "resources"}},
		{Flags: []string{"resources"}, Others: []string{"uapi", "problems"}},
		{Flags: []string{"topology"}, Others: []string{"uapi", "watch", "resources", "wide", "sim", "roce"}},
		{Flags: []string{"roce"}, Others: []string{"uapi", "watch", "resources", "wide", "sim"}},
	},
	Needs: []cmdutil.Need{
		{Flags: []string{"statistics"}, Others: []string{"resources"}},
		{Flags: []string{"window"}, Others: []string{"topology", "roce"}},
		{Flags: []string{"svg"}, Others: []string{"topology"}},
	},
}

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "devinfo [flags] [DEVICE]",
		Short: "Show the RDMA devices of this host and problems with them",
		Long: strings.TrimSpace(`
devinfo lists the ports of the RDMA devices of this host. With the name of a
device, it shows all attributes of the device: GIDs, P_Keys, counters and
capabilities.

With --resources, it lists the objects that each process has on the devices:
contexts, protection domains, memory regions, completion queues, queue pairs,
shared receive queues and IDs of the connection manager. Kernel modules are in
brackets. --wide lists each object.

With --topology, it shows what is between each GPU and each device in the PCI
Express tree, in the terms of nvidia-smi topo -m, and the links and settings of
the bridges above them. It reads sysfs, and needs no program of a GPU vendor.
GPUs lower their link speed while they are idle: with --window, the speeds are
the highest within that time, and PCI Express errors that increase are findings.

With --roce, it shows the settings of RoCE ports: the way of a traffic class to
DSCP, priority, flow control (PFC), congestion marking (ECN), buffer and queue,
and the parameters of congestion control. Settings that do not fit are findings
with the command that repairs them. With --window, it waits for the LLDP of the
switch, which has its name and port, and often its flow control; it requires
root.

Sources that cannot be read are reported on standard error, with exit code 4.`),
		Example: strings.Trim(`
  # all ports
  ibkit devinfo

  # one device
  ibkit devinfo mlx5_0

  # in a health check: exit code 3 if there are problems
  ibkit devinfo --problems

  # print changes of devices and ports as they happen
  ibkit devinfo --watch

  # the processes that use the devices
  ibkit devinfo --resources

  # the distances between GPUs and devices
  ibkit devinfo --topology

  # while a job runs: link speeds of GPUs, and PCIe errors
  ibkit devinfo --topology --window 10s

  # the settings that keep RoCE packets from being dropped
  ibkit devinfo --roce mlx5_0

  # the switch port of each RoCE port, too
  ibkit devinfo --roce --window 31s

  # states and peers of all queue pairs, and the counters of ports
  ibkit devinfo --resources --wide --statistics`, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return cmdutil.WithHint(cmdutil.UsageErrorf("unexpected argument %q", args[1]), "all ports of a device: ibkit devinfo DEVICE")
			case len(args) == 1 && c.topology:
				return cmdutil.WithHint(cmdutil.UsageErrorf("unexpected argument %q: --topology shows all devices", args[0]), "a picture: --topology --svg > FILE")
			case len(args) == 1 && args[0] == "":
				return cmdutil.UsageErrorf("invalid device %q: want the name of a device", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := rules.Check(cmd.Flags()); err != nil {
				return err
			}
			if cmd.Flags().Changed("window") && c.window <= 0 {
				return cmdutil.UsageErrorf("invalid --window %v: must be greater than 0", c.window)
			}
			return c.run(cmd.Context(), append(args, "")[0])
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&c.wide, "wide", false, "add node GUIDs, boards, PCIe links and device nodes")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.svg, "svg", false, "draw the PCI Express tree (--topology)")
	flags.BoolVar(&c.check, "problems", false, "print problems only; exit code 3 if there are any, 4 if incomplete")
	flags.BoolVar(&c.uapi, "uapi", false, "list the uverbs objects and methods that the kernel supports")
	flags.BoolVar(&c.watch, "watch", false, "print changes of devices and ports until interrupted")
	flags.BoolVar(&c.topology, "topology", false, "show the PCIe paths between GPUs and devices")
	flags.DurationVar(&c.window, "window", 0, "read links, or wait for LLDP, for `TIME` (--topology, --roce)")
	flags.BoolVar(&c.roce, "roce", false, "show the settings of RoCE ports: priorities, PFC, ECN, buffers")
	flags.BoolVar(&c.resources, "resources", false, "list objects by process; each object with --wide or --json")
	flags.BoolVar(&c.statistics, "statistics", false, "add the counters of ports, QPs and memory regions (--resources)")
	flags.StringVar(&c.settings.Sim, "sim", "", "show the local adapter of a simulated `FABRIC` (default: IBKIT_SIM)")
	cmdutil.CompleteFlag(env, cmd, "sim", fabricflag.Fabrics)
	cmdutil.CompleteOperand(env, cmd, cmdutil.DeviceNames)
	return cmd
}

func (c *command) run(ctx context.Context, device string) error {
	o := devinfo.Options{Sysfs: c.env.Sysfs(), Device: device, UAPI: c.uapi}
	if c.watch || c.uapi || c.resources || c.topology || c.roce {
		// The kernel has no events and no objects of a simulated adapter.
		if c.env.Getenv("IBKIT_SIM") != "" {
			err := cmdutil.UsageErrorf("--watch, --uapi, --resources, --topology and --roce read devices of this host: they exclude IBKIT_SIM")
			return cmdutil.WithHint(err, "unset IBKIT_SIM")
		}
	}
	if c.resources {
		return c.runResources(device)
	}
	if c.watch {
		return c.runWatch(ctx, o)
	}
	if c.topology {
		return c.runTopology(ctx)
	}
	if c.roce {
		return c.runRoCE(ctx, device)
	}
	root, remove, err := simhost.Sysfs(ctx, c.env, &c.settings)
	if err != nil {
		return err
	}
	defer remove()
	o.Sysfs = root
	if root == "" || root == string(sysfs.Default) {
		o.PCINames = pcie.Database()
	}
	r, err := devinfo.Run(ctx, o)
	if err != nil {
		return withHint(err, device)
	}
	if len(r.Devices) == 0 {
		return errNoDevices
	}
	if c.settings.IsSimulated() {
		r.Findings = slices.DeleteFunc(r.Findings, func(f report.Finding) bool { return f.Kind == report.NoUMAD })
	}
	out := render.NewOutput(c.env.Out)
	v := &view{out: out, palette: render.NewPalette(c.env.Out, c.env.Getenv)}
	switch {
	case c.json:
		render.WriteDocument(out, r)
	case c.uapi:
		err = v.uapi(r)
	case c.check:
		v.problems(&r.Head)
	case device != "":
		err = v.page(r.Devices[0])
		v.findings(&r.Head)
	default:
		err = v.table(r, c.wide)
		v.findings(&r.Head)
	}
	c.printProblems(r.Problems)
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	return cmdutil.ResultError(r.Partial, c.check && r.HasProblem())
}

// printProblems prints the sources that could not be read.
func (c *command) printProblems(all []devinfo.Problem) {
	for _, p := range all {
		cmdutil.PrintError(c.env, strings.TrimSpace("ibkit devinfo "+p.Device), p)
	}
}

// A noDevicesError is the error for a host without RDMA devices.
type noDevicesError struct{}

var errNoDevices = noDevicesError{}

func (noDevicesError) Error() string { return "this host has no RDMA device" }

func (noDevicesError) Is(e error) bool { return e == fs.ErrNotExist }

func (noDevicesError) Hint() string {
	return "run ibkit doctor to find the cause; to create a Soft-RoCE device: ibkit link add rxe0 --type rxe --netdev eth0"
}

// withHint adds a hint to the error for a device name, which may have a port as findings do.
func withHint(err error, device string) error {
	switch name, _, hasPort := fabric.CutPort(strings.Replace(device, ":", "/", 1)); {
	case !errors.Is(err, devinfo.ErrNoDevice):
	case hasPort:
		return cmdutil.WithHint(err, "omit the port: "+name)
	default:
		return cmdutil.WithHint(err, "list all devices: ibkit devinfo")
	}
	return err
}
