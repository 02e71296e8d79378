package devinfo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/ibkit/ibkit/internal/rdmanl"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/verbs"
)

// Options say what to look for. The zero value is all that there is on all
// devices, but UAPI.
type Options struct {
	Sysfs sysfs.FS // default sysfs.Default; another one is looked at alone
	Dev   string   // where device nodes are, default /dev/infiniband

	Device string // only this device

	Brief     bool // what ibv_devinfo, or with SysfsOnly ibstat, shows
	SysfsOnly bool // neither ask netlink nor open devices
	UAPI      bool // ask which methods the kernel has
}

// ErrNoDevice is for a device that was asked for and is not there.
var ErrNoDevice = errors.New("no such device")

// Run looks at the devices. What cannot be seen is a Problem in the result; an
// error is that there is nothing to look at.
func Run(ctx context.Context, o Options) (*Result, error) {
	o = o.withDefaults()
	r := &Result{Devices: []*Device{}, Problems: []Problem{}, Findings: []Finding{}}
	for _, e := range o.enumerate(r) {
		if o.Device != "" && e.name != o.Device {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if d := o.look(r, e); d != nil {
			r.Devices = append(r.Devices, d)
		}
	}
	if o.Device != "" && len(r.Devices) == 0 {
		return r, fmt.Errorf("find device %s: %w", o.Device, ErrNoDevice)
	}
	r.Findings = append(r.Findings, findings(r.Devices, o)...)
	return r, nil
}

func (o Options) withDefaults() Options {
	o.Sysfs = cmp.Or(o.Sysfs, sysfs.Default)
	o.Dev = cmp.Or(o.Dev, "/dev/infiniband")
	return o
}

// live tells whether the kernel of this machine is looked at, not a copy of its
// files.
func (o Options) live() bool { return o.Sysfs == sysfs.Default }

// An entry is a device that was enumerated.
type entry struct {
	name   string
	nl     *rdmanl.Device
	ports  []rdmanl.Port
	uverbs string
	driver *verbs.DriverID
}

// Names returns the names of the devices that have a device node for verbs, in
// the kernel's order, as libibverbs lists them.
func Names(o Options) []string {
	var names []string
	for _, e := range o.withDefaults().enumerate(&Result{}) {
		if e.uverbs != "" {
			names = append(names, e.name)
		}
	}
	return names
}

// enumerate finds the devices by NETLINK_RDMA and by sysfs. Those of netlink come
// first, in its order, which is that of their indices.
func (o Options) enumerate(r *Result) []entry {
	var entries []entry
	if o.live() && !o.SysfsOnly {
		entries = o.fromNetlink(r)
	}
	var problems []error
	nodes := map[string]string{}
	if !o.SysfsOnly {
		class := o.Sysfs.Dir(&problems, "class/infiniband_verbs")
		for _, node := range class.Names() {
			if device := class.Sub(node).Text("ibdev"); device != nil {
				nodes[*device] = node
			}
		}
	}
	known := map[string]bool{}
	for i := range entries {
		e := &entries[i]
		known[e.name] = true
		e.uverbs = cmp.Or(e.uverbs, nodes[e.name])
	}
	var more []entry
	for _, name := range o.Sysfs.Dir(&problems, "class/infiniband").Names() {
		if !known[name] {
			more = append(more, entry{name: name, uverbs: nodes[name]})
		}
	}
	slices.SortFunc(more, func(a, b entry) int {
		return cmp.Or(cmp.Compare(nodeNumber(a.uverbs), nodeNumber(b.uverbs)), cmp.Compare(a.name, b.name))
	})
	entries = append(entries, more...)
	r.add("", problems)
	return entries
}

func nodeNumber(name string) int {
	var n int
	if _, err := fmt.Sscanf(name, "uverbs%d", &n); err != nil {
		return 1 << 30
	}
	return n
}

func (o Options) fromNetlink(r *Result) []entry {
	c, err := rdmanl.Dial()
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.add("", []error{err})
		}
		return nil
	}
	defer c.Close()
	devices, err := c.Devices()
	if err != nil {
		r.add("", []error{err})
	}
	var entries []entry
	for _, d := range devices {
		e := entry{name: d.Name, nl: &d}
		if node, err := c.UVerbs(d.Index); err == nil {
			e.uverbs = node.Name
			if node.DriverID != nil {
				e.driver = new(verbs.DriverID(*node.DriverID))
			}
		}
		if !o.Brief {
			if e.ports, err = c.Ports(d.Index); err != nil {
				r.add(d.Name, []error{err})
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// add notes what could not be seen.
func (r *Result) add(device string, errs []error) {
	for _, err := range errs {
		p := Problem{Device: device, Text: err.Error()}
		if errors.Is(err, fs.ErrPermission) {
			p.Hint = "run as root, or let your user read the file"
		}
		r.Problems = append(r.Problems, p)
	}
}

// look looks at one device, nil if it is gone.
func (o Options) look(r *Result, e entry) *Device {
	d := &Device{Name: e.name}
	var problems []error
	o.readDevice(d, &problems)
	if e.nl != nil {
		d.mergeNetlink(e)
	}
	if e.uverbs != "" {
		d.UVerbs = &e.uverbs
	}
	if d.NodeType == nil && len(problems) == 0 && e.nl == nil {
		return nil // removed since it was listed
	}
	if e.driver != nil {
		d.DriverID = new(e.driver.String())
	}
	o.open(d, e, &problems)
	if o.SysfsOnly || !o.Brief {
		o.readPorts(d, &problems)
	}
	if e.nl != nil {
		d.mergePorts(e.ports)
	}
	d.portTables(o)
	r.add(d.Name, problems)
	return d
}

// open asks the device itself.
func (o Options) open(d *Device, e entry, problems *[]error) {
	if e.uverbs == "" || !o.live() || o.SysfsOnly {
		return
	}
	device := verbs.Device{Name: d.Name, Path: filepath.Join(o.Dev, e.uverbs)}
	if e.driver != nil {
		device.Driver = *e.driver
	}
	c, err := device.Open()
	if err != nil {
		d.OpenError = err
		*problems = append(*problems, err)
		return
	}
	defer c.Close()
	note := func(err error) {
		if err != nil && !errors.Is(err, verbs.ErrUnknownMethod) {
			*problems = append(*problems, err)
		}
	}
	d.DriverID = new(c.Driver().String())
	d.CompVectors = new(c.CompVectors())
	attr, err := c.QueryDevice()
	if err != nil {
		d.QueryError = err
		note(err)
	} else {
		d.Attr = &attr
		d.addLimits()
	}
	if d.GIDs, err = c.GIDTable(); err != nil {
		note(err)
	}
	if o.UAPI {
		methods, err := c.Methods()
		note(err)
		for _, m := range methods {
			d.UAPI = append(d.UAPI, Method{m.Object, m.Name, m.Known})
		}
	}
	if d.Attr == nil {
		return
	}
	for n := 1; n <= int(d.Attr.PhysPortCount); n++ {
		p := &Port{Number: n}
		attr, err := c.QueryPort(uint32(n))
		if err != nil {
			p.QueryError = err
			note(err)
		} else {
			p.Attr = &attr
		}
		if speed, err := c.PortSpeed(uint32(n)); err == nil {
			p.Effective = &speed
		}
		d.Ports = append(d.Ports, p)
	}
}

// port returns a port of the device, new if need be.
func (d *Device) port(number int) *Port {
	for _, p := range d.Ports {
		if p.Number == number {
			return p
		}
	}
	p := &Port{Number: number}
	d.Ports = append(d.Ports, p)
	slices.SortFunc(d.Ports, func(a, b *Port) int { return a.Number - b.Number })
	return p
}

func (d *Device) mergeNetlink(e entry) {
	n := e.nl
	d.Index = &n.Index
	d.NodeType = cmp.Or(d.NodeType, n.NodeType)
	d.NodeGUID = cmp.Or(d.NodeGUID, (*GUID)(n.NodeGUID))
	d.SysImageGUID = cmp.Or(d.SysImageGUID, (*GUID)(n.SysImageGUID))
	if d.Firmware == nil && n.FWVersion != "" {
		d.Firmware = &n.FWVersion
	}
}

func (d *Device) mergePorts(ports []rdmanl.Port) {
	for _, n := range ports {
		p := d.port(int(n.Number))
		p.State = cmp.Or(p.State, n.State)
		p.PhysState = cmp.Or(p.PhysState, n.PhysState)
		p.LMC = cmp.Or(p.LMC, n.LMC)
		if p.LID == nil && n.LID != nil {
			p.LID = new(uint16(*n.LID))
		}
		if p.SMLID == nil && n.SMLID != nil {
			p.SMLID = new(uint16(*n.SMLID))
		}
		if n.Netdev != "" {
			p.Netdev = &n.Netdev
		}
	}
}

// addLimits fills in what JSON shows of the attributes.
func (d *Device) addLimits() {
	d.Limits = maps.Collect(Limits(d.Attr))
	d.Caps, _ = d.Attr.Caps.Names()
	if d.Attr.CapsEx != nil {
		ex, _ := d.Attr.CapsEx.Names()
		d.Caps = append(d.Caps, ex...)
	}
	d.Extended = newExtended(d.Attr)
}
