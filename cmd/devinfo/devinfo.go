// Package devinfo is the command that shows the RDMA devices of this host.
package devinfo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
)

// command is one call of devinfo.
type command struct {
	env   *cmdutil.Env
	wide  bool
	json  bool
	check bool
	uapi  bool
	watch bool
}

// rules are what devinfo's flags have to do with each other.
var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"watch"}, Others: []string{"json", "wide", "check", "uapi"}},
		{Flags: []string{"json"}, Others: []string{"wide"}},
		{Flags: []string{"uapi"}, Others: []string{"wide", "check"}},
	},
}

func New(env *cmdutil.Env) *cobra.Command {
	c := &command{env: env}
	cmd := &cobra.Command{
		Use:   "devinfo [flags] [DEVICE]",
		Short: "Show the RDMA devices of this host and what is wrong with them",
		Long: strings.TrimSpace(`
devinfo shows the ports of this host's RDMA devices. With the name of a device it
shows all that is known about it: GIDs, P_Keys, counters, capabilities.

What the kernel did not let it see is named, and the exit code is 4 then.`),
		Example: strings.Trim(`
  # all ports
  ibkit devinfo

  # one device
  ibkit devinfo mlx5_0

  # for health checks: exit code 3 if something is wrong
  ibkit devinfo --check

  # what happens to devices and ports, as it happens
  ibkit devinfo --watch`, "\n"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cmdutil.UsageErrorf("unexpected argument %q", args[1])
			}
			return nil
		},
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := rules.Check(cmd.Flags()); err != nil {
				return err
			}
			return c.run(cmd.Context(), append(args, "")[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&c.wide, "wide", false, "show node GUIDs, boards, P_Keys and device nodes too")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.check, "check", false, "print only what is wrong; exit code 3 if anything is, 4 if not all could be seen")
	flags.BoolVar(&c.uapi, "uapi", false, "show which objects and methods the kernel answers to")
	flags.BoolVar(&c.watch, "watch", false, "print what happens to devices and ports, until interrupted")
	cmdutil.CompleteOperand(env, cmd, cmdutil.DeviceNames)
	return cmd
}

func (c *command) run(ctx context.Context, device string) error {
	o := devinfo.Options{Sysfs: c.env.Sysfs(), Device: device, UAPI: c.uapi}
	if c.watch {
		return c.runWatch(ctx, o)
	}
	r, err := devinfo.Run(ctx, o)
	if err != nil {
		return err
	}
	if len(r.Devices) == 0 {
		return errNoDevices
	}
	out := render.NewOutput(c.env.Out)
	v := &view{out: out, palette: render.NewPalette(c.env.Out, c.env.Getenv)}
	switch {
	case c.json:
		err = printJSON(out, r)
	case c.uapi:
		err = v.uapi(r)
	case c.check:
		v.findings(r)
	case device != "":
		err = v.page(r.Devices[0])
		v.findings(r)
	default:
		err = v.table(r, c.wide)
		v.findings(r)
	}
	for _, p := range r.Problems {
		from := strings.TrimSpace("ibkit devinfo " + p.Device)
		fmt.Fprintf(c.env.ErrOut, "%s: %s\n", from, p.Text)
		if p.Hint != "" {
			fmt.Fprintf(c.env.ErrOut, "hint: %s\n", p.Hint)
		}
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	return cmdutil.ResultError(len(r.Problems) > 0, c.check && len(r.Findings) > 0)
}

// A noDevicesError says that there is nothing to show.
type noDevicesError struct{}

var errNoDevices = noDevicesError{}

func (noDevicesError) Error() string { return "find RDMA devices: there are none" }

func (noDevicesError) Is(e error) bool { return e == fs.ErrNotExist }

func (noDevicesError) Hint() string {
	return "is the driver of the card loaded? for Soft-RoCE: rdma link add rxe0 type rxe netdev eth0"
}

func printJSON(out *render.Output, r *devinfo.Result) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
