package devinfo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ibkit/ibkit/internal/rdmahost"
	"github.com/ibkit/ibkit/internal/rdmanl"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/verbs"
)

// Options select the devices and the sources to read. The zero value reads all
// information but the UAPI, of all devices.
type Options struct {
	// Sysfs is the mount point of sysfs; default "/sys". For any other value, the
	// files are those of another host: Run neither queries netlink nor opens
	// devices.
	Sysfs string
	Dev   string // directory of device nodes; default "/dev/infiniband"

	Device string // name of the only device to read; "" for all

	PCINames []byte // a database of PCI names (pci.ids); nil: built-in names only

	Brief     bool // read only the fields that ibv_devinfo shows, or ibstat with SysfsOnly
	SysfsOnly bool // neither query netlink nor open devices
	NoOpen    bool // do not open devices
	UAPI      bool // list the methods that the kernel supports
}

// ErrNoDevice is the error for a device name that does not exist.
var ErrNoDevice = errors.New("no such device")

// Run reads the devices of the host. A source that cannot be read is a Problem of the
// Result. Run returns an error if Options.Device does not exist, together with the
// Result, or if the context ends.
func Run(ctx context.Context, o Options) (*Result, error) {
	o = o.withDefaults()
	r := &Result{Head: report.NewHead(Schema, time.Now()), Devices: []*Device{}}
	for _, e := range o.enumerate(r) {
		if o.Device != "" && e.Name != o.Device {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if d := o.read(r, e); d != nil {
			r.Devices = append(r.Devices, d)
		}
	}
	if o.Device != "" && len(r.Devices) == 0 {
		return r, fmt.Errorf("find device %s: %w", o.Device, ErrNoDevice)
	}
	o.addIPoIB(r.Devices)
	r.Add(findings(r.Devices, o)...)
	return r, nil
}

func (o Options) withDefaults() Options {
	o.Sysfs = cmp.Or(o.Sysfs, string(sysfs.Default))
	o.Dev = cmp.Or(o.Dev, "/dev/infiniband")
	return o
}

func (o Options) sysfs() sysfs.FS { return sysfs.FS(o.Sysfs) }

// live reports whether the files are those of the running kernel.
func (o Options) live() bool { return o.sysfs() == sysfs.Default }

// Names returns the names of the devices that libibverbs lists, in its order: the
// devices whose uverbs node exists in Options.Dev. For the files of another host, nodes
// are only checked if Options.Dev is set.
func Names(o Options) []string {
	checkNodes := o.Dev != ""
	o = o.withDefaults()
	devices, _ := verbs.Host{Sysfs: o.Sysfs, Dev: o.Dev}.Devices()
	var names []string
	for _, d := range devices {
		if _, err := os.Stat(d.Path); err != nil && (checkNodes || o.live()) {
			continue
		}
		names = append(names, d.Name)
	}
	return names
}

// enumerate lists the devices.
func (o Options) enumerate(r *Result) []rdmahost.Device {
	devices, problems := rdmahost.Query{
		Sysfs: o.sysfs(), Netlink: o.live() && !o.SysfsOnly, UVerbs: !o.SysfsOnly, Ports: !o.Brief,
	}.Devices()
	for _, p := range problems {
		r.add(p.Device, []error{p.Err})
	}
	return devices
}

// device returns the verbs device to open.
func (o Options) device(e rdmahost.Device) verbs.Device {
	d := verbs.Device{Name: e.Name, Path: filepath.Join(o.Dev, e.UVerbs)}
	if e.DriverID != nil {
		d.Driver = verbs.DriverID(*e.DriverID)
	}
	return d
}

// add adds a problem for each error.
func (r *Result) add(device string, errs []error) {
	for _, err := range errs {
		p := Problem{Device: device, Err: err}
		if errors.Is(err, fs.ErrPermission) {
			p.Advice = "run as root, or give your user read access"
		}
		r.Problems = append(r.Problems, p)
		r.Fail(p.failure())
	}
}

// read reads one device. It returns nil if the device has been removed.
func (o Options) read(r *Result, e rdmahost.Device) *Device {
	d := &Device{Name: e.Name}
	var problems []error
	o.readDevice(d, &problems)
	if e.Netlink != nil {
		d.mergeNetlink(e.Netlink)
	}
	if e.UVerbs != "" {
		d.UVerbs = &e.UVerbs
	}
	if e.Netlink == nil && (d.NodeType == nil && len(problems) == 0 || !o.exists(d.Name)) {
		return nil // removed after it was listed
	}
	device := o.device(e)
	if e.DriverID != nil {
		d.DriverID = new(device.Driver.String())
	}
	o.open(d, device, &problems)
	d.addModel(o, &problems)
	if o.SysfsOnly || !o.Brief {
		o.readPorts(d, &problems)
	}
	if e.Netlink != nil {
		d.mergePorts(e.Ports)
	}
	d.portTables(o)
	r.add(d.Name, problems)
	return d
}

// exists reports whether sysfs has the device.
func (o Options) exists(name string) bool {
	return o.sysfs().Dir(nil, "class/infiniband", name).Exists()
}

// open opens the device and queries it.
func (o Options) open(d *Device, device verbs.Device, problems *[]error) {
	if d.UVerbs == nil || !o.live() || o.SysfsOnly || o.NoOpen {
		return
	}
	c, err := device.Open()
	if err != nil {
		d.OpenError = err
		*problems = append(*problems, err)
		return
	}
	defer c.Close()
	addProblem := func(err error) {
		if err != nil && !errors.Is(err, verbs.ErrUnknownMethod) {
			*problems = append(*problems, err)
		}
	}
	d.DriverID = new(c.Driver().String())
	d.CompVectors = new(c.CompVectors())
	attr, err := c.QueryDevice()
	if err != nil {
		d.QueryError = err
		addProblem(err)
	} else {
		d.Attr = &attr
		d.addLimits()
		if counters, err := c.CompCounterCaps(); err == nil {
			d.CompCounters = &counters
			d.Extended.CompCounters = newCompCounters(&counters)
		}
	}
	if d.Extended != nil && !o.Brief {
		d.Extended.DMABuf = dmaBuf(c.CheckDMABuf())
	}
	if d.GIDs, err = c.GIDTable(); err != nil {
		addProblem(err)
	}
	if o.UAPI {
		methods, err := c.Methods()
		addProblem(err)
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
			addProblem(err)
		} else {
			p.Attr = &attr
		}
		if speed, err := c.PortSpeed(uint32(n)); err == nil {
			p.Effective = &speed
		}
		d.Ports = append(d.Ports, p)
	}
}

// dmaBuf reports whether a device registers dma-bufs: nil if that is unknown, for example
// because the process may create no further object.
func dmaBuf(err error) *bool {
	switch {
	case err == nil:
		return new(true)
	case errors.Is(err, verbs.ErrUnknownMethod), errors.Is(err, verbs.ErrUnsupported):
		return new(false)
	}
	return nil
}

// port returns the port with the given number. It adds the port if necessary.
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

func (d *Device) mergeNetlink(n *rdmanl.Device) {
	d.Index, d.SMI = &n.Index, n.SMI
	if n.Parent != "" {
		d.Parent = &n.Parent
	}
	d.NodeType = cmp.Or(d.NodeType, nodeType(n.NodeType))
	d.NodeGUID = cmp.Or(d.NodeGUID, n.NodeGUID)
	d.SysImageGUID = cmp.Or(d.SysImageGUID, n.SysImageGUID)
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

// addLimits sets the fields that encode the attributes in JSON.
func (d *Device) addLimits() {
	d.Limits = maps.Collect(Limits(d.Attr))
	d.Caps, _ = d.Attr.Caps.Names()
	if d.Attr.CapsEx != nil {
		ex, _ := d.Attr.CapsEx.Names()
		d.Caps = append(d.Caps, ex...)
	}
	d.Extended = newExtended(d.Attr)
}
