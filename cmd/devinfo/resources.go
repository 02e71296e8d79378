package devinfo

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
)

// runResources prints the objects on the devices.
func (c *command) runResources(device string) error {
	if err := c.env.CheckRunningKernel("--resources reads"); err != nil {
		return err
	}
	r, err := devinfo.ListResources(device, c.statistics)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoDevices
	}
	if err != nil {
		return withHint(err, device)
	}
	return c.showResources(r)
}

// showResources prints a list of objects.
func (c *command) showResources(r *devinfo.Resources) error {
	if len(r.Devices) == 0 {
		return errNoDevices
	}
	out := render.NewOutput(c.env.Out)
	if c.json {
		render.WriteDocument(out, r)
	} else {
		v := &resourceView{out: out}
		if c.wide {
			v.objects(r)
		} else {
			v.usages(r)
		}
		v.statistics(r)
	}
	c.printProblems(r.Problems)
	if !r.Keys && (c.json || c.wide) {
		fmt.Fprintln(c.env.ErrOut, "note: keys of memory regions are listed for root only (CAP_NET_ADMIN)")
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return cmdutil.HeadError(&r.Head)
}

// A resourceView prints tables of objects.
type resourceView struct {
	out    *render.Output
	titled bool // a table precedes
}

// table prints a table with a title, unless it is empty.
func table[T any](v *resourceView, title string, columns []render.Column[T], rows []T) {
	if len(rows) == 0 {
		return
	}
	if v.titled {
		fmt.Fprintln(v.out)
	}
	v.titled = true
	fmt.Fprintln(v.out, title)
	render.Columns(v.out, columns, rows)
}

// usageRow is a row of the table of owners.
type usageRow struct {
	device *devinfo.DeviceResources
	devinfo.Usage
}

// usages prints the number of objects of each process and kernel module.
func (v *resourceView) usages(r *devinfo.Resources) {
	var rows []usageRow
	for _, d := range r.Devices {
		all := d.Usages()
		if len(all) == 0 {
			all = []devinfo.Usage{{}}
		}
		for _, u := range all {
			rows = append(rows, usageRow{d, u})
		}
	}
	number := func(header string, listed func(*devinfo.DeviceResources) bool, count func(*usageRow) int) render.Column[usageRow] {
		return render.TextColumn(header, func(r usageRow) string {
			if !listed(r.device) {
				return render.Absent
			}
			return strconv.Itoa(count(&r))
		})
	}
	render.Columns(v.out, []render.Column[usageRow]{
		render.TextColumn("DEVICE", func(r usageRow) string { return r.device.Name }),
		render.TextColumn("PID", func(r usageRow) string { return render.Show(r.PID) }),
		render.TextColumn("PROCESS", func(r usageRow) string { return process(r.Owner) }),
		number("CONTEXTS", func(d *devinfo.DeviceResources) bool { return d.Contexts != nil }, func(r *usageRow) int { return r.Contexts }),
		number("PDS", func(d *devinfo.DeviceResources) bool { return d.PDs != nil }, func(r *usageRow) int { return r.PDs }),
		number("MRS", func(d *devinfo.DeviceResources) bool { return d.MRs != nil }, func(r *usageRow) int { return r.MRs }),
		number("CQS", func(d *devinfo.DeviceResources) bool { return d.CQs != nil }, func(r *usageRow) int { return r.CQs }),
		number("SRQS", func(d *devinfo.DeviceResources) bool { return d.SRQs != nil }, func(r *usageRow) int { return r.SRQs }),
		number("QPS", func(d *devinfo.DeviceResources) bool { return d.QPs != nil }, func(r *usageRow) int { return r.QPs }),
		number("CM IDS", func(d *devinfo.DeviceResources) bool { return d.CMIDs != nil }, func(r *usageRow) int { return r.CMIDs }),
	}, rows)
	v.titled = true
}

// process returns the name of a process, or the name of a kernel module in brackets.
func process(o devinfo.Owner) string {
	if o.Kernel != nil {
		return "[" + *o.Kernel + "]"
	}
	return render.Show(o.Process)
}

// An object is an object of a device with its owner.
type object[T any] struct {
	device string
	of     T
}

// all returns the objects of a kind on all devices.
func all[T any](r *devinfo.Resources, list func(*devinfo.DeviceResources) []T) (objects []object[T]) {
	for _, d := range r.Devices {
		for _, o := range list(d) {
			objects = append(objects, object[T]{d.Name, o})
		}
	}
	return objects
}

// columns returns the columns of a table of objects: the device, the given ones, and
// the owner.
func columns[T any](owner func(*T) devinfo.Owner, given ...render.Column[object[T]]) []render.Column[object[T]] {
	list := []render.Column[object[T]]{render.TextColumn("DEVICE", func(o object[T]) string { return o.device })}
	list = append(list, given...)
	return append(list,
		render.TextColumn("PID", func(o object[T]) string { return render.Show(owner(&o.of).PID) }),
		render.TextColumn("PROCESS", func(o object[T]) string { return process(owner(&o.of)) }))
}

// value returns a column with an attribute of objects.
func value[T, V any](header string, attr func(*T) *V) render.Column[object[T]] {
	return render.TextColumn(header, func(o object[T]) string { return render.Show(attr(&o.of)) })
}

// key returns a column with a key of memory.
func key[T any](header string, attr func(*T) *uint32) render.Column[object[T]] {
	return render.TextColumn(header, func(o object[T]) string {
		k := attr(&o.of)
		if k == nil {
			return render.Absent
		}
		return fmt.Sprintf("0x%08x", *k)
	})
}

// objects prints a table of the objects of each kind.
func (v *resourceView) objects(r *devinfo.Resources) {
	type (
		context = devinfo.ContextObject
		pd      = devinfo.PDObject
		mr      = devinfo.MRObject
		cq      = devinfo.CQObject
		srq     = devinfo.SRQObject
		qp      = devinfo.QPObject
		id      = devinfo.CMIDObject
	)
	table(v, "contexts", columns(func(o *context) devinfo.Owner { return o.Owner },
		value("CONTEXT", func(o *context) *uint32 { return o.Number }),
	), all(r, func(d *devinfo.DeviceResources) []context { return d.Contexts }))
	table(v, "protection domains", columns(func(o *pd) devinfo.Owner { return o.Owner },
		value("PD", func(o *pd) *uint32 { return o.Number }),
		value("CONTEXT", func(o *pd) *uint32 { return o.Context }),
		value("USERS", func(o *pd) *uint64 { return o.Users }),
		key("LOCAL KEY", func(o *pd) *uint32 { return o.LocalDMALKey }),
		key("GLOBAL KEY", func(o *pd) *uint32 { return o.GlobalRKey }),
	), all(r, func(d *devinfo.DeviceResources) []pd { return d.PDs }))
	table(v, "memory regions", columns(func(o *mr) devinfo.Owner { return o.Owner },
		value("MR", func(o *mr) *uint32 { return o.Number }),
		value("PD", func(o *mr) *uint32 { return o.PD }),
		value("LENGTH", func(o *mr) *uint64 { return o.Length }),
		key("LKEY", func(o *mr) *uint32 { return o.LKey }),
		key("RKEY", func(o *mr) *uint32 { return o.RKey }),
	), all(r, func(d *devinfo.DeviceResources) []mr { return d.MRs }))
	table(v, "completion queues", columns(func(o *cq) devinfo.Owner { return o.Owner },
		value("CQ", func(o *cq) *uint32 { return o.Number }),
		value("CONTEXT", func(o *cq) *uint32 { return o.Context }),
		value("ENTRIES", func(o *cq) *uint32 { return o.Entries }),
		value("USERS", func(o *cq) *uint64 { return o.Users }),
		value("POLLED BY", func(o *cq) *string { return o.PollContext }),
	), all(r, func(d *devinfo.DeviceResources) []cq { return d.CQs }))
	table(v, "shared receive queues", columns(func(o *srq) devinfo.Owner { return o.Owner },
		value("SRQ", func(o *srq) *uint32 { return o.Number }),
		value("TYPE", func(o *srq) *string { return o.Type }),
		value("PD", func(o *srq) *uint32 { return o.PD }),
		value("CQ", func(o *srq) *uint32 { return o.CQ }),
		render.TextColumn("QPS", func(o object[srq]) string { return list(o.of.QPs) }),
	), all(r, func(d *devinfo.DeviceResources) []srq { return d.SRQs }))
	table(v, "queue pairs", columns(func(o *qp) devinfo.Owner { return o.Owner },
		value("PORT", func(o *qp) *uint32 { return o.Port }),
		value("QP", func(o *qp) *uint32 { return o.Number }),
		value("TYPE", func(o *qp) *string { return o.Type }),
		value("STATE", func(o *qp) *string { return o.State }),
		value("REMOTE QP", func(o *qp) *uint32 { return o.RemoteQPN }),
		value("RQ PSN", func(o *qp) *uint32 { return o.RQPSN }),
		value("SQ PSN", func(o *qp) *uint32 { return o.SQPSN }),
		value("MIGRATION", func(o *qp) *string { return o.PathMigration }),
		value("PD", func(o *qp) *uint32 { return o.PD }),
	), all(r, func(d *devinfo.DeviceResources) []qp { return d.QPs }))
	table(v, "connection IDs", columns(func(o *id) devinfo.Owner { return o.Owner },
		value("PORT", func(o *id) *uint32 { return o.Port }),
		value("ID", func(o *id) *uint32 { return o.Number }),
		value("STATE", func(o *id) *string { return o.State }),
		value("SPACE", func(o *id) *string { return o.PortSpace }),
		value("TYPE", func(o *id) *string { return o.QPType }),
		value("QP", func(o *id) *uint32 { return o.QPN }),
		value("SOURCE", func(o *id) *string { return o.Source }),
		value("DESTINATION", func(o *id) *string { return o.Destination }),
	), all(r, func(d *devinfo.DeviceResources) []id { return d.CMIDs }))
}

// statistics prints the counters.
func (v *resourceView) statistics(r *devinfo.Resources) {
	for _, d := range r.Devices {
		for _, s := range d.Statistics {
			fmt.Fprintf(v.out, "\ncounters of %s\n", counted(d.Name, s))
			for _, name := range slices.Sorted(maps.Keys(s.Counters)) {
				fmt.Fprintf(v.out, "  %-36s %d\n", name, s.Counters[name])
			}
		}
	}
}

// counted returns the objects with counters: "rxe0/1", "mlx5_0/1, QPs 17, 20-23".
func counted(device string, s devinfo.Statistic) string {
	if s.Port != nil {
		device += "/" + strconv.FormatUint(uint64(*s.Port), 10)
	}
	switch {
	case s.MR != nil:
		return fmt.Sprintf("%s, MR %d", device, *s.MR)
	case s.Counter == nil:
		return device
	}
	text := fmt.Sprintf("%s, set %d (%s)", device, *s.Counter, render.Show(s.Mode))
	if s.QPType != nil {
		text += ", " + *s.QPType
	}
	return text + ", QPs " + render.OrAbsent(strings.Join(s.QPs, ", "))
}
