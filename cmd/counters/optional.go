package counters

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/change"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/roce"
)

// noCounters is the value of --optional that disables all.
const noCounters = "none"

// setOptional enables a list of optional counters after a confirmation.
func (c *command) setOptional(ctx context.Context) (failed error) {
	wanted := slices.DeleteFunc(slices.Clone(c.optional), func(name string) bool { return name == noCounters })
	h := roce.Host{Sysfs: c.env.Sysfs()}
	ports, err := c.optionalPorts(ctx, h, wanted)
	if err != nil {
		return err
	}
	log, err := c.change.OpenLog(c.env, nil)
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, log.Close()) }()
	names := cmdutil.Visible(strings.Join(c.optional, ", "))
	for _, p := range ports {
		fmt.Fprintf(c.env.Out, "%s: %s, wanted: %s\n", p.Name(), enabled(p), names)
	}
	if c.change.DryRun {
		return nil
	}
	question := fmt.Sprintf("Enable only these optional counters (%s) of %s?", names, plural.Count(len(ports), "port", "ports"))
	if err := c.change.Confirm(ctx, c.env, "enable counters", question); err != nil {
		return err
	}
	var summary change.Summary
	for _, p := range ports {
		attrs := []slog.Attr{slog.String("change", "optional "+strings.Join(c.optional, ",")), slog.String("ports", p.Name())}
		if err := log.Begin(attrs...); err != nil {
			return fmt.Errorf("write log: %w", err)
		}
		result, err := h.SetOptional(p, wanted)
		summary.Add(result)
		if errors.Is(err, fs.ErrPermission) {
			err = cmdutil.WithHint(err, "run as root")
		}
		if err != nil {
			cmdutil.PrintError(c.env, "error", err)
		}
		if err := log.End(result, err, attrs...); err != nil {
			return fmt.Errorf("write log: %w", err)
		}
		fmt.Fprintf(c.env.Out, "%s: %v: %s\n", p.Name(), result, enabled(p))
	}
	return summary.Err(nil)
}

// optionalPorts returns the selected ports with optional counters.
func (c *command) optionalPorts(ctx context.Context, h roce.Host, wanted []string) (ports []*roce.PortSettings, _ error) {
	r, err := devinfo.Run(ctx, devinfo.Options{Sysfs: c.env.Sysfs(), Device: c.fabric.Device, NoOpen: true})
	if err != nil {
		return nil, err
	}
	for _, d := range r.Devices {
		for _, p := range d.Ports {
			if c.fabric.Port != 0 && int(c.fabric.Port) != p.Number {
				continue
			}
			s, _ := h.Port(d, p)
			if err := s.CheckOptional(wanted); err != nil {
				return nil, err
			}
			if len(s.Optional) > 0 {
				ports = append(ports, s)
			}
		}
	}
	if len(ports) == 0 {
		return nil, fmt.Errorf("enable counters: no port of %s has optional counters", c.fabric.Device)
	}
	return ports, nil
}

func enabled(p *roce.PortSettings) string {
	return "enabled: " + render.OrAbsent(strings.Join(p.EnabledOptional(), ", "))
}
