package query

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/sysstat"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// serveFlags are the flags that apply to --serve.
var serveFlags = map[string]bool{
	"serve": true, "debug": true, "oui": true, "help": true, "sim": true, "config": true, "Ca": true, "Port": true,
}

// serve answers queries of the status of this host until ctx ends.
func (c *command) serve(ctx context.Context, flags *pflag.FlagSet, args []string) error {
	if err := cmdutil.CheckMode(flags, "serve", serveFlags); err != nil {
		return err
	}
	switch {
	case len(args) > 0:
		return cmdutil.UsageErrorf("unexpected argument %q: --serve waits for queries of others", args[0])
	case c.oui >= 1<<24:
		return errOUI(c.oui)
	}
	if err := c.fabric.Complete(ctx, c.env); err != nil {
		return err
	}
	open, err := c.fabric.OpenServer(c.env)
	if err != nil {
		return err
	}
	port, err := open(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	o := sysstat.Options{OUI: c.oui}
	if c.debug {
		o.Log = slog.New(slog.NewTextHandler(c.env.ErrOut, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	return sysstat.Serve(ctx, port, o, func() {
		attr := port.Attr()
		fmt.Fprintf(c.env.ErrOut, "serving Ping, HostInfo and CPUInfo at %s/%d (LID %d)\n", attr.Device, attr.Number, attr.LID)
		if err := cmdutil.NotifyReady(c.env.Getenv); err != nil {
			cmdutil.PrintError(c.env, "ibkit query", err)
		}
	})
}

// withServerHint adds a hint to the error of a query for a text: a reply with a status is
// that of a host without a server.
func withServerHint(err error) error {
	var status mad.StatusError
	var failed *umad.Error
	if errors.As(err, &status) || errors.As(err, &failed) && failed.Class == mad.ClassSysstat && errors.Is(err, umad.ErrTimeout) {
		return cmdutil.WithHint(err, "start ibkit query --serve or ibsysstat -S on that host")
	}
	return err
}

func errOUI(oui uint32) error {
	return cmdutil.UsageErrorf("invalid --oui 0x%x: not a number of 24 bits", oui)
}
