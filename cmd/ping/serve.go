package ping

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
)

// server is one call of ping --serve.
type server struct {
	env    *cmdutil.Env
	fabric *fabricflag.Flags
	oui    *uint32

	on     bool
	rate   *float64
	debug  bool
	asJSON *bool
}

func (s *server) define(flags *pflag.FlagSet) {
	flags.BoolVar(&s.on, "serve", false, "reply to pings on all ports, or on -C and -P, until interrupted")
	flags.BoolVar(&s.debug, "debug", false, "log each ping (--serve)")
}

// serveFlags are the flags that apply to --serve.
var serveFlags = map[string]bool{
	"serve": true, "rate": true, "debug": true, "json": true, "oui": true, "help": true,
	"sim": true, "config": true, "Ca": true, "Port": true,
}

// check validates the flags of a call with --serve.
func (s *server) check(flags *pflag.FlagSet, args []string) error {
	if err := cmdutil.CheckMode(flags, "serve", serveFlags); err != nil {
		return err
	}
	switch {
	case len(args) > 0:
		return cmdutil.UsageErrorf("unexpected argument %q: --serve waits for others to ping", args[0])
	case *s.oui >= 1<<24:
		return cmdutil.UsageErrorf("invalid --oui 0x%x: not a number of 24 bits", *s.oui)
	case flags.Changed("rate") && !(*s.rate > 0) || math.IsInf(*s.rate, 0):
		return cmdutil.UsageErrorf("invalid --rate %v: want a positive number", *s.rate)
	}
	return nil
}

// run answers pings until ctx ends, and prints the counts.
func (s *server) run(ctx context.Context, flags *pflag.FlagSet, args []string) error {
	if err := s.check(flags, args); err != nil {
		return err
	}
	if err := s.fabric.Complete(ctx, s.env); err != nil {
		return err
	}
	places, err := s.places()
	if err != nil {
		return err
	}
	o := ping.ServeOptions{OUI: *s.oui, Rate: *s.rate}
	if s.debug {
		o.Log = slog.New(slog.NewTextHandler(s.env.ErrOut, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	server := ping.NewServer(o)
	defer s.showOnSignal(server)()
	missing, err := server.ServeAll(ctx, places)
	if err != nil && len(server.Counts().Ports) == 0 {
		return err // no port was served
	}
	if shown := s.show(server.Counts()); err == nil {
		err = shown
	}
	if err == nil {
		err = cmdutil.ResultError(len(missing) > 0, false)
	}
	return err
}

// rescan is the time between searches for new ports.
const rescan = 2 * time.Second

// places returns the ports to serve.
func (s *server) places() (ping.ServePorts, error) {
	p := ping.ServePorts{List: s.devices, Rescan: rescan, Notify: s.notify}
	switch {
	case s.fabric.IsPrivate():
		return p, fabricflag.ErrPrivate
	case s.fabric.Sim == fabricflag.Ibsim:
		p.Rescan = 0 // simulated ports do not return
		p.List = func() ([]ping.ServePort, error) {
			return []ping.ServePort{{Name: "ibsim", Open: fabricflag.OpenResponder(s.env)}}, nil
		}
	}
	return p, nil
}

// devices returns the ports of this host that -C and -P select.
func (s *server) devices() ([]ping.ServePort, error) {
	all, err := device.Host{Sysfs: s.env.Sysfs()}.Ports()
	if err != nil {
		return nil, err
	}
	var places []ping.ServePort
	for _, c := range all {
		if s.fabric.Device != "" && c.Attr.Device != s.fabric.Device || s.fabric.Port != 0 && c.Attr.Number != s.fabric.Port {
			continue
		}
		if c.NodeType == mad.NodeTypeSwitch && c.Attr.Number != 0 {
			continue // its management is at port 0
		}
		places = append(places, ping.ServePort{
			Name: fmt.Sprintf("%s/%d", c.Attr.Device, c.Attr.Number),
			Open: func(context.Context) (umad.Port, error) { return c.Open() },
		})
	}
	if len(places) == 0 {
		return nil, &device.NoPortError{Sysfs: s.env.Sysfs(), Device: s.fabric.Device, Port: s.fabric.Port, Existing: all}
	}
	return places, nil
}

// notify reports a port that is served from now on, or the error of a port.
func (s *server) notify(place string, attr umad.PortAttr, err error) {
	if err != nil {
		cmdutil.PrintError(s.env, "ibkit ping: "+place, err)
		return
	}
	at := attr.LinkLayer
	if attr.LID != 0 {
		at += fmt.Sprintf(", LID %d", attr.LID)
	}
	fmt.Fprintf(s.env.ErrOut, "serving pings at %s (%s)\n", place, at)
	if err := cmdutil.NotifyReady(s.env.Getenv); err != nil {
		cmdutil.PrintError(s.env, "ibkit ping", err)
	}
}

// showOnSignal prints the counts at each SIGUSR1 and SIGQUIT until stop is called.
func (s *server) showOnSignal(server *ping.Server) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGQUIT)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range signals {
			if err := s.show(server.Counts()); err != nil {
				cmdutil.PrintError(s.env, "ibkit ping", err)
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-done
	}
}

// show prints the counts.
func (s *server) show(c ping.ServeCounts) error {
	out := render.NewOutput(s.env.Out)
	view := s.table
	if *s.asJSON {
		view = s.json
	}
	if err := view(out, c); err != nil {
		return err
	}
	return out.Flush()
}

// portName names a port in one word.
func portName(device string, port uint8) string { return fmt.Sprintf("%s/%d", device, port) }

// printablePorts names ports in one line.
func printablePorts(ports []ping.ServedPort) string {
	var names []string
	for _, p := range ports {
		names = append(names, portName(p.Device, p.Port))
	}
	return strings.Join(names, ", ")
}
