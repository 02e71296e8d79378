// Package ibvasyncwatch implements ibv_asyncwatch from libibverbs.
package ibvasyncwatch

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/libibverbs"
	"github.com/ibkit/ibkit/verbs"
)

// family is ibv_asyncwatch's family: its usage text differs in form from the usage text
// in programs that describe devices.
var family = &getopt.Family{Usage: usage, UsageToOut: true, UsageCode: cmdutil.ExitFailed, FailureCode: cmdutil.ExitFailed}

// command is an ibv_asyncwatch call.
type command struct {
	env      *cmdutil.Env
	settings fabricflag.Settings
	device   string
	help     bool
}

// New returns ibv_asyncwatch.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{env: env}
	tool := &getopt.Tool{
		Name: "ibv_asyncwatch", Family: family, About: "start an asyncwatch process",
		Options: append([]getopt.Option{
			{Long: "ib-dev", Short: 'd', Arg: "<dev>", Help: "use IB device <dev> (default first device found)", Set: getopt.Text(&c.device), Complete: cmdutil.DeviceNames},
			{Long: "help", Short: 'h', Help: "print a help text and exit", Set: func(string) error {
				c.help = true
				return getopt.ErrStop
			}},
		}, getopt.SimOptions(&c.settings)...),
	}
	tool.Run = func(ctx context.Context, _ []string) error {
		if c.help {
			_, err := io.WriteString(env.Out, usage(tool))
			return err
		}
		return c.run(ctx)
	}
	return tool
}

// usage returns asyncwatch.c's usage text.
func usage(t *getopt.Tool) string {
	text := fmt.Sprintf("Usage:\n  %-13s %s\n\nOptions:\n", t.Name+"           ", t.About)
	for _, o := range t.Options {
		if o.Extension {
			continue
		}
		name := fmt.Sprintf("-%c, --%s", o.Short, o.Long)
		if o.Arg != "" {
			name += "=" + o.Arg
		}
		text += fmt.Sprintf("  %-22s %s\n", name, o.Help)
	}
	return text
}

func (c *command) run(ctx context.Context) error {
	if err := libibverbs.Check(c.env, &c.settings, cmdutil.ExitFailed); err != nil {
		return err
	}
	devices, err := verbs.Host{Sysfs: c.env.Sysfs()}.Devices()
	// libibverbs lists only devices with an existing uverbs node.
	i := slices.IndexFunc(devices, func(d verbs.Device) bool {
		_, statErr := os.Stat(d.Path)
		return statErr == nil && (c.device == "" || d.Name == c.device)
	})
	if i < 0 {
		fmt.Fprintf(c.env.ErrOut, "IB device %s not found\n", c.device)
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: err}
	}
	device, err := devices[i].Open()
	if err != nil {
		fmt.Fprintf(c.env.ErrOut, "Couldn't get context for %s\n", devices[i].Name)
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: err}
	}
	defer device.Close()
	events, err := device.Events()
	if err != nil {
		return err
	}
	fmt.Fprintf(c.env.Out, "%s: async event FD %d\n", devices[i].Name, events.FD())
	for {
		e, err := events.Next(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.env.Out, "  event_type %s (%d), port %d\n", name(e.Type), uint32(e.Type), uint32(e.Element))
	}
}

// name returns a device or port event name. Programs receive no events for other
// programs' objects.
func name(t verbs.EventType) string {
	if kind := t.Element(); kind != verbs.ElementPort && t != verbs.EventDeviceFatal && t != verbs.EventDeviceSpeedChange {
		return "unexpected"
	}
	return "IBV_EVENT_" + t.String()
}
