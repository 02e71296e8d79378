// Package link is the command that adds and deletes software RDMA devices.
package link

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/change"
	"github.com/ibkit/ibkit/cmd/internal/changelog"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/tool/softdevice"
)

// command is one call of link add or link delete.
type command struct {
	env    *cmdutil.Env
	wanted softdevice.Change

	change change.Flags
	force  []string
	wait   time.Duration
	json   bool
}

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{change.DryRunClash, {Flags: []string{"dry-run"}, Others: []string{"wait"}}},
}

// addFlags are flags in examples.
var addFlags = map[softdevice.Action]string{softdevice.Add: " --type rxe --netdev eth0"}

// inUse is the reason not to delete a device that is in use.
const inUse = "in-use"

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "link",
		Short: "Add and delete software RDMA devices",
		Long: strings.TrimSpace(`
link adds software RDMA devices to network devices, and deletes them: Soft-RoCE
(rxe) and software iWARP (siw). It requires root.

ibkit devinfo shows the devices of a host, and ibkit devinfo --resources the
processes that use them.`),
	}
	cmdutil.RequireCommand(cmd)
	cmd.AddCommand(newAdd(env), newDelete(env))
	return cmd
}

func newAdd(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env, wanted: softdevice.Change{Action: softdevice.Add}}
	cmd := c.command("add [flags] NAME --type TYPE --netdev NETDEV", "Add a software RDMA device to a network device", `
add adds a device and waits until its port is active and has an address. If the
device exists already, add changes nothing.

The form of rdma link add works, too: NAME type TYPE netdev NETDEV. The kernel
loads the module of the type: rdma_rxe or siw. Devices do not survive
a restart of the host.`, `
  # Soft-RoCE on eth0
  ibkit link add rxe0 --type rxe --netdev eth0

  # software iWARP, in a script
  ibkit link add siw0 --type siw --netdev eth0 --yes`)
	flags := cmd.Flags()
	cmdutil.EnumFlag(cmd, &c.wanted.Type, "type", "", softdevice.Types, "`TYPE` of the device")
	flags.StringVar(&c.wanted.Netdev, "netdev", "", "`NAME` of the network device below the device")
	c.define(cmd)
	flags.DurationVar(&c.wait, "wait", 10*time.Second, "wait this `TIME` for the port")
	cmdutil.CompleteFlag(env, cmd, "netdev", netdevs)
	cmdutil.CompleteOperand(env, cmd, cmdutil.Constant("rxe0", "siw0"))
	return cmd
}

func newDelete(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env, wanted: softdevice.Change{Action: softdevice.Delete}}
	cmd := c.command("delete [flags] NAME", "Delete a software RDMA device", `
delete deletes a device. It lists the processes and the kernel modules that use
it, and refuses to delete it unless --force names the reason in-use: connections
break, and delete waits until all processes have closed the device.`, `
  # the programs that use the device
  ibkit link delete rxe0 --dry-run

  # delete it
  ibkit link delete rxe0`)
	cmd.Aliases = []string{"del"} // of iproute2
	c.define(cmd)
	cmdutil.EnumListFlag(cmd, &c.force, "force", []string{inUse}, "delete the device despite a `REASON`")
	cmdutil.CompleteOperand(env, cmd, cmdutil.DeviceNames)
	return cmd
}

// command returns a subcommand with an operand.
func (c *command) command(use, short, long, example string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Long: strings.TrimSpace(long), Example: strings.Trim(example, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := c.readWords(cmd.Flags(), args)
			if err != nil {
				return err
			}
			if err := c.complete(cmd.Flags(), args); err != nil {
				return err
			}
			return c.run(cmd.Context())
		},
	}
}

// define declares the flags of both subcommands.
func (c *command) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	c.change.Define(cmd, "")
	flags.BoolVar(&c.json, "json", false, "print JSON")
}

// netdevs are the names of the network devices, for shells.
func netdevs(env *cmdutil.Env, _ *pflag.FlagSet) []string {
	var unread []error
	return sysfs.FS(env.Sysfs()).Dir(&unread, "class/net").Names()
}

// readWords reads "type TYPE netdev NETDEV" after the name of a device, as rdma link add of
// iproute2 has it, and returns the other arguments.
func (c *command) readWords(flags *pflag.FlagSet, args []string) ([]string, error) {
	if len(args) < 3 || len(args)%2 == 0 {
		return args, nil
	}
	for i := 1; i < len(args); i += 2 {
		switch {
		case args[i] != "type" && args[i] != "netdev" || flags.Lookup(args[i]) == nil:
			return args, nil
		case flags.Changed(args[i]):
			return nil, cmdutil.UsageErrorf("%s is given twice", args[i])
		}
		if err := flags.Set(args[i], args[i+1]); err != nil {
			return nil, &cmdutil.UsageError{Err: fmt.Errorf("invalid %s %q: %w", args[i], args[i+1], errors.Unwrap(err))}
		}
	}
	return args[:1], nil
}

// complete validates the command line.
func (c *command) complete(flags *pflag.FlagSet, args []string) error {
	if err := rules.Check(flags); err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		return cmdutil.Missing("device name")
	case len(args) != 1:
		return cmdutil.WithHint(cmdutil.UsageErrorf("number of device names: got %d, want 1", len(args)), "for example: ibkit link "+string(c.wanted.Action)+" rxe0"+addFlags[c.wanted.Action])
	case args[0] == "":
		return cmdutil.UsageErrorf("invalid device name: empty")
	case c.wanted.Action == softdevice.Add && c.wanted.Type == "":
		return cmdutil.WithHint(cmdutil.UsageErrorf("--type is required: rxe or siw"), "for example: --type rxe for Soft-RoCE")
	case c.wanted.Action == softdevice.Add && c.wanted.Netdev == "":
		return cmdutil.WithHint(cmdutil.UsageErrorf("--netdev is required"), "for example: --netdev eth0; list: ip link")
	case c.wait < 0:
		return cmdutil.UsageErrorf("invalid --wait %v: want at least 0", c.wait)
	case c.env.Getenv("IBKIT_SIM") != "":
		return cmdutil.WithHint(cmdutil.UsageErrorf("a change of devices of this host and IBKIT_SIM are mutually exclusive"), "unset IBKIT_SIM")
	}
	c.wanted.Device = args[0]
	return c.env.CheckRunningKernel("link changes")
}

// run checks the change, and makes it.
func (c *command) run(ctx context.Context) error {
	plan, err := softdevice.Check(c.wanted)
	if err != nil {
		return withHint(err)
	}
	if !c.json {
		c.showPlan(plan)
	}
	refused := c.refuse(plan)
	if c.change.DryRun || refused != nil {
		c.showJSON(plan.Report())
		return refused
	}
	if !plan.Needless {
		question := map[softdevice.Action]string{softdevice.Add: "Add", softdevice.Delete: "Delete"}[plan.Action]
		if err := c.change.Confirm(ctx, c.env, fmt.Sprintf("%s %s", plan.Action, plan.Device), question+" "+plan.Device+"?"); err != nil {
			return err
		}
	}
	r, err := c.apply(ctx, plan)
	c.showJSON(r)
	if err != nil {
		return withHint(err)
	}
	if !c.json {
		c.showResult(r)
	}
	return cmdutil.HeadError(&r.Head)
}

// apply makes the change and records it.
func (c *command) apply(ctx context.Context, plan *softdevice.Plan) (_ *softdevice.Report, failed error) {
	var log *changelog.Log
	if !plan.Needless {
		var err error
		if log, err = c.change.OpenLog(c.env, nil); err != nil {
			return plan.ReportResult(softdevice.Port{}, err), err
		}
		defer func() { failed = errors.Join(failed, log.Close()) }()
	}
	attrs := []slog.Attr{slog.String("change", string(plan.Action)), slog.String("device", plan.Device), slog.String("type", plan.Type), slog.String("netdev", plan.Netdev)}
	if err := log.Begin(attrs...); err != nil {
		return plan.ReportResult(softdevice.Port{}, err), err
	}
	bar := render.NewProgress(c.env.ErrOut)
	if c.wait > 0 && !c.json && !plan.Needless {
		bar.Wait(fmt.Sprintf("waiting up to %v for the port (--wait)", c.wait))
	}
	port, err := plan.Apply(ctx, c.wait)
	bar.Close()
	r := plan.ReportResult(port, err)
	return r, errors.Join(err, log.End(r.Outcome, err, attrs...))
}

// refuse returns the reason not to make the change, or nil.
func (c *command) refuse(p *softdevice.Plan) error {
	if len(p.Users) == 0 || slices.Contains(c.force, inUse) {
		return nil
	}
	err := fmt.Errorf("refused to delete %s: it is in use by %s (%s)", p.Device, plural.Count(len(p.Users), "program", "programs"), inUse)
	return cmdutil.WithHint(err, "end the programs, or delete it nevertheless: --force "+inUse)
}

// withHint adds a hint to the cause of a failure.
func withHint(err error) error {
	noDriver, ok := errors.AsType[*softdevice.NoDriverError](err)
	switch {
	case ok:
		return cmdutil.WithHint(err, "load the module to see the reason: modprobe "+noDriver.Module+"; dmesg")
	case errors.Is(err, fs.ErrPermission):
		return cmdutil.WithHint(err, "run as root, on a network device that is not a VLAN")
	case errors.Is(err, softdevice.ErrNotSoftware):
		return cmdutil.WithHint(err, "only devices of the types rxe and siw can be deleted")
	case errors.Is(err, devinfo.ErrNoDevice):
		return cmdutil.WithHint(err, "list all devices: ibkit devinfo")
	}
	return err
}
