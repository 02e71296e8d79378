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
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/perf/host"
	"github.com/ibkit/ibkit/umad/device"
)

// LocalSchema identifies the JSON form of a [LocalReport]; schema/counters-local.json
// describes it.
const LocalSchema = "ibkit/counters-local/1"

// A LocalReport is the document that "ibkit counters --local --json" prints after each
// window.
type LocalReport struct {
	Schema string       `json:"schema"`
	Time   time.Time    `json:"time"`
	Window *float64     `json:"window"` // seconds; nil: one reading
	Ports  []*LocalPort `json:"ports"`
}

// A LocalPort has the counters of a port of this host that the kernel reports.
type LocalPort struct {
	Device    string             `json:"device"`
	Number    int                `json:"port"`
	LinkLayer *string            `json:"link_layer"`
	Netdev    *string            `json:"netdev"`
	State     *string            `json:"state"`
	Rate      *string            `json:"rate"`
	Counters  map[string]uint64  `json:"counters"`
	Increase  map[string]*uint64 `json:"increase"` // nil values: the counter was cleared
	Rates     map[string]float64 `json:"rates"`    // per second
}

// netdevCounters are the statistics of the network device of a RoCE port. They include
// traffic other than RDMA.
var netdevCounters = []string{"rx_bytes", "tx_bytes", "rx_packets", "tx_packets", "rx_dropped", "tx_dropped", "rx_errors", "tx_errors"}

// usesLocal reports whether the ports of this host are shown because it has RoCE ports
// only.
func (c *command) usesLocal(err error) bool {
	var none *device.NoPortError
	if !errors.As(err, &none) || none.Device != "" || none.Port != 0 || len(c.options.Targets) > 0 || c.selection.given() {
		return false
	}
	return slices.ContainsFunc(none.Existing, func(p device.LocalPort) bool { return p.Attr.LinkLayer == "Ethernet" })
}

// given reports whether a flag selects nodes of a fabric.
func (s *selection) given() bool {
	return len(s.nodes) > 0 || s.ports != "" || s.switches || s.cas || s.routers
}

// runLocal shows the counters of the local ports.
func (c *command) runLocal(ctx context.Context) error {
	before, err := c.readLocal(ctx)
	if err != nil {
		return err
	}
	if c.options.Window <= 0 {
		return c.printLocal(before, nil)
	}
	problems := false
	next := before.Time
	for i := 0; c.options.Windows < 0 || i < c.options.Windows; i++ {
		next = next.Add(c.options.Window)
		select {
		case <-ctx.Done():
			if c.watch {
				return cmdutil.ResultError(false, problems)
			}
			return ctx.Err()
		case <-time.After(time.Until(next)):
		}
		now, err := c.readLocal(ctx)
		if err != nil {
			return err
		}
		increased := now.compare(before)
		problems = problems || increased
		if err := c.printLocal(now, before); err != nil {
			return err
		}
		before = now
	}
	return cmdutil.ResultError(false, problems)
}

// readLocal reads the counters of the local ports from sysfs, and their network devices
// by netlink.
func (c *command) readLocal(ctx context.Context) (*LocalReport, error) {
	root := c.env.Sysfs()
	r, err := devinfo.Run(ctx, devinfo.Options{Sysfs: root, Device: c.fabric.Device})
	if err != nil {
		return nil, err
	}
	report := &LocalReport{Schema: LocalSchema, Time: time.Now(), Ports: []*LocalPort{}}
	for _, d := range r.Devices {
		for _, p := range d.Ports {
			if c.fabric.Port != 0 && int(c.fabric.Port) != p.Number {
				continue
			}
			local := &LocalPort{Device: d.Name, Number: p.Number, LinkLayer: p.LinkLayer, Netdev: p.Netdev, Rate: p.Rate, Counters: map[string]uint64{}}
			if p.State != nil {
				local.State = render.Ptr(ib.PortState(*p.State).String())
			}
			for _, part := range []map[string]uint64{d.HWCounts, p.Counters, p.HWCounts} {
				maps.Copy(local.Counters, part)
			}
			local.addNetdev(sysfs.FS(root))
			report.Ports = append(report.Ports, local)
		}
	}
	if len(report.Ports) == 0 {
		return nil, errors.New("read local counters: the host has no RDMA port")
	}
	return report, nil
}

// addNetdev adds the statistics of the network device of the port.
func (p *LocalPort) addNetdev(files sysfs.FS) {
	if p.Netdev == nil {
		return
	}
	var problems []error // a network device without statistics has no counters
	dir := files.Dir(&problems, "class/net", *p.Netdev, "statistics")
	for _, name := range netdevCounters {
		if v := dir.Uint(name, 64); v != nil {
			p.Counters["netdev_"+name] = *v
		}
	}
}

// compare adds the increases since an earlier report, and reports whether a counter of
// errors increased.
func (r *LocalReport) compare(before *LocalReport) (problems bool) {
	window := r.Time.Sub(before.Time).Seconds()
	r.Window = &window
	for _, p := range r.Ports {
		i := slices.IndexFunc(before.Ports, func(q *LocalPort) bool { return q.Device == p.Device && q.Number == p.Number })
		if i < 0 {
			continue
		}
		p.Increase, p.Rates = map[string]*uint64{}, map[string]float64{}
		for name, v := range p.Counters {
			was, ok := before.Ports[i].Counters[name]
			if !ok || v < was {
				p.Increase[name] = nil
				continue
			}
			p.Increase[name], p.Rates[name] = render.Ptr(v-was), float64(v-was)/window
			problems = problems || v > was && host.Trouble(name) != ""
		}
	}
	return problems
}

// A localRow is a counter of a local port.
type localRow struct {
	*LocalPort
	name string
}

// printLocal writes the counters that are not 0, or those that changed in the window.
func (c *command) printLocal(r, before *LocalReport) error {
	out := render.NewOutput(c.env.Out)
	if c.json {
		out.Write(render.MustMarshal(r))
		out.WriteByte('\n')
		return out.Flush()
	}
	if c.watch && render.IsTerminal(c.env.Out) {
		out.WriteString("\x1b[H\x1b[2J")
	}
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
		localColumn("DEVICE", func(w localRow) string { return w.Device }),
		localColumn("PORT", func(w localRow) string { return strconv.Itoa(w.Number) }),
		localColumn("NETDEV", func(w localRow) string { return orAbsent(w.Netdev) }),
		localColumn("COUNTER", func(w localRow) string { return w.name }),
		localColumn("VALUE", func(w localRow) string { return strconv.FormatUint(w.Counters[w.name], 10) }),
	}
	if before != nil {
		columns = append(columns, localColumn("PER SECOND", func(w localRow) string {
			if v, ok := w.Rates[w.name]; ok {
				return rateText(v)
			}
			return "cleared"
		}))
	}
	columns = append(columns, localColumn("MEANING", func(w localRow) string { return localMeaning(w, c) }))
	if len(rows) > 0 {
		render.Columns(out, columns, rows)
	}
	fmt.Fprintf(out, "%s of this host", render.Count(len(r.Ports), "port", "ports"))
	if r.Window != nil {
		fmt.Fprintf(out, ", window %.2f s", *r.Window)
	}
	fmt.Fprintln(out)
	return out.Flush()
}

// localMeaning returns the meaning of a counter of errors, or of data.
func localMeaning(w localRow, c *command) string {
	rate, isRate := w.Rates[w.name]
	switch meaning := host.Trouble(w.name); {
	case meaning != "":
		return render.NewPalette(c.env.Out, c.env.Getenv).Warn(meaning)
	case isRate && (w.name == "netdev_rx_bytes" || w.name == "netdev_tx_bytes"):
		return fmt.Sprintf("%.3f Gb/s, with traffic other than RDMA", rate*8/1e9)
	}
	return render.Absent
}

func localColumn(header string, text func(localRow) string) render.Column[localRow] {
	return render.Column[localRow]{Header: header, Append: func(b []byte, w localRow) []byte { return append(b, text(w)...) }}
}

func orAbsent(s *string) string {
	if s == nil {
		return render.Absent
	}
	return *s
}
