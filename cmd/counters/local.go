package counters

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad/device"
)

// netdevCounters are the statistics of a port's network device. They include traffic other
// than RDMA.
var netdevCounters = []string{"rx_bytes", "tx_bytes", "rx_packets", "tx_packets", "rx_dropped", "tx_dropped", "rx_errors", "tx_errors"}

// usesLocal reports whether the ports of this host are shown because it has RoCE ports
// only.
func (c *command) usesLocal(err error) bool {
	var none *device.NoPortError
	if !errors.As(err, &none) || none.Device != "" || none.Port != 0 || len(c.options.Targets) > 0 || c.selection.Given() || c.selection.ports != "" {
		return false
	}
	return slices.ContainsFunc(none.Existing, func(p device.LocalPort) bool { return p.Attr.LinkLayer == "Ethernet" })
}

// runLocal shows the counters of the local ports.
func (c *command) runLocal(ctx context.Context) error {
	before, err := c.readLocal(ctx)
	if err != nil {
		return err
	}
	if c.options.Window <= 0 {
		if err := c.printLocal(before, nil); err != nil {
			return err
		}
		return cmdutil.HeadError(&before.Head)
	}
	bar := render.NewProgress(c.env.ErrOut)
	defer bar.Close()
	c.showWait(bar.Wait)
	problems, partial := false, before.Partial
	next := before.Began
	for i := 0; c.options.Windows < 0 || i < c.options.Windows; i++ {
		next = next.Add(c.options.Window)
		select {
		case <-ctx.Done():
			if c.watch {
				return cmdutil.ResultError(partial, problems)
			}
			return ctx.Err()
		case <-time.After(time.Until(next)):
		}
		bar.Close()
		now, err := c.readLocal(ctx)
		if err != nil {
			return err
		}
		now.Compare(before)
		addTroubles(now)
		problems, partial = problems || now.HasProblem(), partial || now.Partial
		if err := c.printLocal(now, before); err != nil {
			return err
		}
		before = now
	}
	return cmdutil.ResultError(partial, problems)
}

// readLocal reads the counters of the local ports from sysfs, and their network devices
// by netlink.
func (c *command) readLocal(ctx context.Context) (*counters.ReportLocal, error) {
	root := c.env.Sysfs()
	r, err := devinfo.Run(ctx, devinfo.Options{Sysfs: root, Device: c.fabric.Device, NoOpen: true})
	if err != nil {
		return nil, err
	}
	local := counters.NewReportLocal()
	local.Fail(r.Failures...)
	for _, d := range r.Devices {
		for _, p := range d.Ports {
			if c.fabric.Port != 0 && int(c.fabric.Port) != p.Number {
				continue
			}
			port := &counters.LocalPort{Device: d.Name, Number: p.Number, LinkLayer: p.LinkLayer, Netdev: p.Netdev, Rate: p.Rate, Counters: map[string]uint64{}}
			if p.State != nil {
				port.State = new(p.State.String())
			}
			for _, part := range []map[string]uint64{d.HWCounts, p.Counters, p.HWCounts} {
				maps.Copy(port.Counters, part)
			}
			addNetdev(local, port, sysfs.FS(root))
			addStatistics(local, port, d, p, roce.Host{Sysfs: root})
			local.Ports = append(local.Ports, port)
		}
	}
	switch {
	case len(local.Ports) > 0:
	case len(r.Devices) > 0 && c.fabric.Port != 0:
		return nil, cmdutil.WithHint(fmt.Errorf("read local counters: no device has the port %d", c.fabric.Port), "list all ports: ibkit devinfo")
	default:
		return nil, cmdutil.WithHint(errors.New("read local counters: this host has no RDMA port"), "find the cause: ibkit doctor")
	}
	return local, nil
}

// addNetdev adds the statistics of the network device of a port.
func addNetdev(r *counters.ReportLocal, p *counters.LocalPort, files sysfs.FS) {
	if p.Netdev == nil {
		return
	}
	var problems []error // none for a network device without statistics
	dir := files.Dir(&problems, "class/net", *p.Netdev, "statistics")
	for _, name := range netdevCounters {
		if v := dir.Uint(name, 64); v != nil {
			p.Counters["netdev_"+name] = *v
		}
	}
	for _, err := range problems {
		r.Fail(report.Failure{Subject: devinfo.PortName(p.Device, p.Number), Port: &p.Number, Error: err.Error()})
	}
}

// addStatistics adds the statistics of the network devices of a port that is judged.
func addStatistics(r *counters.ReportLocal, c *counters.LocalPort, d *devinfo.Device, p *devinfo.Port, h roce.Host) {
	if !roce.Judged(d, p) {
		return
	}
	c.RoCE, _ = h.Port(d, p)
	problems := h.AddOptional(c.Counters, c.RoCE)
	for _, l := range c.RoCE.Links {
		problems = append(problems, h.AddStatistics(c.Counters, l.Netdev)...)
	}
	for _, err := range problems {
		r.Fail(report.Failure{Subject: c.RoCE.Name(), Port: &c.Number, Error: err.Error()})
	}
}

// addTroubles adds the verdicts on ports that are judged, and a finding for each other error counter that
// increased.
func addTroubles(r *counters.ReportLocal) {
	for _, p := range r.Ports {
		if p.RoCE != nil && r.Window != nil {
			r.Add(roce.Verdicts(p.RoCE, p.Increases(), *r.Window)...)
		}
		for _, name := range slices.Sorted(maps.Keys(p.Increase)) {
			if p.RoCE != nil && roce.Judges(name) {
				continue
			}
			increase := p.Increase[name]
			if meaning := host.Trouble(name); meaning != "" && increase != nil && *increase > 0 {
				f := report.New(report.Increased, fmt.Sprintf("%s/%d", p.Device, p.Number), fmt.Sprintf("%s +%d: %s", name, *increase, meaning))
				f.Port = &p.Number
				r.Add(f)
			}
		}
	}
}

// localFailures returns the files that could not be read.
func localFailures(r *counters.ReportLocal) []error {
	var all []error
	for _, f := range r.Failures {
		all = append(all, fmt.Errorf("%s: %s", f.Subject, f.Error))
	}
	return all
}

// A localRow is a counter of a local port.
type localRow struct {
	*counters.LocalPort
	name string
}

// printLocal writes the counters that are not 0, or those that changed in the window.
func (c *command) printLocal(r, before *counters.ReportLocal) error {
	out := render.NewOutput(c.env.Out)
	if c.json {
		render.WriteLine(out, r)
		return out.Flush()
	}
	c.printFailures(localFailures(r))
	if c.watch && render.IsTerminal(c.env.Out) {
		out.WriteString("\x1b[H\x1b[2J")
	}
	colour := render.NewPalette(c.env.Out, c.env.Getenv)
	var rows []localRow
	for _, p := range r.Ports {
		for _, name := range slices.Sorted(maps.Keys(p.Counters)) {
			changed, compared := p.Increase[name]
			switch {
			case c.rows.all,
				before == nil && p.Counters[name] > 0,
				before != nil && compared && (changed == nil || *changed > 0):
				rows = append(rows, localRow{p, name})
			}
		}
	}
	columns := []render.Column[localRow]{
		render.TextColumn("DEVICE", func(w localRow) string { return w.Device }),
		render.TextColumn("PORT", func(w localRow) string { return strconv.Itoa(w.Number) }),
		render.TextColumn("NETDEV", func(w localRow) string { return orAbsent(w.Netdev) }),
		render.TextColumn("COUNTER", func(w localRow) string { return w.name }),
		render.TextColumn("VALUE", func(w localRow) string { return strconv.FormatUint(w.Counters[w.name], 10) }),
	}
	if before != nil {
		columns = append(columns, render.TextColumn("PER SECOND", func(w localRow) string {
			if v, ok := w.Rates[w.name]; ok {
				return rateText(v)
			}
			return "cleared"
		}))
	}
	columns = append(columns, render.TextColumn("MEANING", func(w localRow) string { return localMeaning(w, c) }))
	if len(rows) > 0 {
		render.Columns(out, columns, rows)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(out, "%s: %s: %s\n", colour.Bad(string(f.Kind)), f.Subject, f.Detail)
		if f.Hint != "" {
			fmt.Fprintf(out, "  next: %s\n", c.env.NextStep(f.Hint))
		}
	}
	fmt.Fprintf(out, "%s of this host%s\n", plural.Count(len(r.Ports), "port", "ports"), localVerdict(r, len(rows)))
	return out.Flush()
}

// localVerdict returns the end of the summary of local ports. Without a window, counters are
// not judged.
func localVerdict(r *counters.ReportLocal, rows int) string {
	switch {
	case r.Window == nil && rows == 0:
		return ": no counter is above 0"
	case r.Window == nil:
		return "; with --window 10s: rates and findings"
	case len(r.Findings) == 0:
		return fmt.Sprintf(", window %.2f s: no findings", *r.Window)
	}
	return fmt.Sprintf(", window %.2f s: %s", *r.Window, plural.Count(len(r.Findings), "finding", "findings"))
}

// localMeaning returns the meaning of a counter of errors, or of data.
func localMeaning(w localRow, c *command) string {
	rate, isRate := w.Rates[w.name]
	switch meaning := host.Trouble(w.name); {
	case meaning != "":
		return render.NewPalette(c.env.Out, c.env.Getenv).Warn(meaning)
	case roce.Meaning(w.name) != "":
		return roce.Meaning(w.name)
	case isRate && (w.name == "netdev_rx_bytes" || w.name == "netdev_tx_bytes"):
		return fmt.Sprintf("%.3f Gb/s, with traffic other than RDMA", rate*8/1e9)
	}
	return render.Absent
}

func orAbsent(s *string) string {
	if s == nil {
		return render.Absent
	}
	return *s
}
