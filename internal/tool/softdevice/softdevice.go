// Package softdevice adds and deletes software RDMA devices: Soft-RoCE and software iWARP
// on a network device.
package softdevice

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/rdmahost"
	"github.com/ibkit/ibkit/internal/rdmanl"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/verbs"
)

// A driver is a software device driver.
type driver struct {
	id     verbs.DriverID
	module string // of the kernel
}

// drivers are the drivers by link type (MODULE_ALIAS_RDMA_LINK in the kernel's modules).
var drivers = map[string]driver{
	"rxe": {verbs.DriverRXE, "rdma_rxe"},
	"siw": {verbs.DriverSIW, "siw"},
}

// Types are the software device link types.
var Types = []string{"rxe", "siw"}

// An Action is a change to a host's devices.
type Action string

// The actions.
const (
	Add    Action = "add"
	Delete Action = "delete"
)

// A Change is a change to make.
type Change struct {
	Action Action `json:"action"`
	Device string `json:"device"`
	Type   string `json:"type"`   // "" if a device to delete has an unknown type
	Netdev string `json:"netdev"` // "" for a device to delete without a network device
}

// A User is a process or a kernel module that uses a device.
type User struct {
	devinfo.Owner
	Contexts int `json:"contexts"`
	QPs      int `json:"qps"`
	CMIDs    int `json:"cm_ids"`
}

// A Plan is a change that has been checked against the host's devices.
type Plan struct {
	Began time.Time
	Change
	Needless bool   // the device exists as wanted
	NetdevUp bool   // of Add
	Users    []User // for a device to delete

	index uint32
}

// ErrNotSoftware is the error for a device to delete that is not a software device.
var ErrNotSoftware = errors.New("not a software device")

// A kernel is the host that is changed.
type kernel interface {
	devices() ([]rdmahost.Device, error)
	users(device string) (*devinfo.Resources, error)
	netdevUp(name string) (bool, error)
	addLink(name, linkType, netdev string) error
	deleteLink(index uint32) error
	ready(device string) (Port, bool)
}

// Check checks a change without making it.
func Check(c Change) (*Plan, error) { return check(host{}, c) }

func check(k kernel, c Change) (*Plan, error) {
	began := time.Now()
	devices, err := k.devices()
	if err != nil {
		return nil, err
	}
	check := checkAdd
	if c.Action == Delete {
		check = checkDelete
	}
	p, err := check(k, c, devices)
	if err != nil {
		return nil, err
	}
	p.Began = began
	return p, nil
}

// maxName is the name length in bytes (IB_DEVICE_NAME_MAX less the NUL). The kernel cuts
// longer names off.
const maxName = 63

func checkAdd(k kernel, c Change, devices []rdmahost.Device) (*Plan, error) {
	if c.Device == "" || len(c.Device) > maxName || strings.ContainsAny(c.Device, "%/ \t\n") || c.Device == "." || c.Device == ".." {
		return nil, fmt.Errorf("add device %q: invalid name: want at most %d bytes without %%, / and blanks", c.Device, maxName)
	}
	p := &Plan{Change: c}
	var err error
	if p.NetdevUp, err = k.netdevUp(c.Netdev); err != nil {
		return nil, fmt.Errorf("add device %s: %w", c.Device, err)
	}
	for _, d := range devices {
		same := kind(d) == c.Type && netdev(d) == c.Netdev
		switch {
		case d.Name == c.Device && same:
			p.Needless = true
		case d.Name == c.Device:
			return nil, fmt.Errorf("add device %s: %w", c.Device, fs.ErrExist)
		case same:
			return nil, fmt.Errorf("add device %s: %s has the %s device %s: %w", c.Device, c.Netdev, c.Type, d.Name, fs.ErrExist)
		}
	}
	return p, nil
}

func checkDelete(k kernel, c Change, devices []rdmahost.Device) (*Plan, error) {
	i := slices.IndexFunc(devices, func(d rdmahost.Device) bool { return d.Name == c.Device && d.Netlink != nil })
	if i < 0 {
		return nil, fmt.Errorf("delete device %s: %w", c.Device, devinfo.ErrNoDevice)
	}
	d := devices[i]
	c.Type, c.Netdev = kind(d), netdev(d)
	if c.Type == "" && d.DriverID != nil {
		return nil, fmt.Errorf("delete device %s (%v): %w", c.Device, verbs.DriverID(*d.DriverID), ErrNotSoftware)
	}
	r, err := k.users(c.Device)
	if err != nil {
		return nil, err
	}
	return &Plan{Change: c, Users: users(r), index: d.Netlink.Index}, nil
}

// kind returns a device's link type, or "".
func kind(d rdmahost.Device) string {
	for name, driver := range drivers {
		if d.DriverID != nil && verbs.DriverID(*d.DriverID) == driver.id {
			return name
		}
	}
	return ""
}

// netdev returns a device's network device, or "".
func netdev(d rdmahost.Device) string {
	if len(d.Ports) == 0 {
		return ""
	}
	return d.Ports[0].Netdev
}

// ownModules are kernel modules that have objects on every device and release them with it.
var ownModules = []string{"ib_core", "ib_cm", "iw_cm", "rdma_cm", "ib_umad"}

// users returns a device's users other than the RDMA core.
func users(r *devinfo.Resources) []User {
	list := []User{}
	for _, d := range r.Devices {
		for _, u := range d.Usages() {
			if u.Kernel == nil || !slices.Contains(ownModules, *u.Kernel) {
				list = append(list, User{Owner: u.Owner, Contexts: u.Contexts, QPs: u.QPs, CMIDs: u.CMIDs})
			}
		}
	}
	return list
}

// A Port is a new device's port.
type Port struct {
	Active bool
	GID    string // first entry in the GID table; "" if it is empty
}

// Apply makes the change. After Add, it waits until the port is active and has a GID, at
// most for the given time, and returns the port; a network device that is down never
// gets ready. Delete returns when all processes have closed the device.
func (p *Plan) Apply(ctx context.Context, wait time.Duration) (Port, error) {
	return p.apply(ctx, host{}, wait)
}

func (p *Plan) apply(ctx context.Context, k kernel, wait time.Duration) (Port, error) {
	if p.Action == Delete {
		if err := k.deleteLink(p.index); err != nil {
			return Port{}, fmt.Errorf("delete device %s: %w", p.Device, err)
		}
		return Port{}, nil
	}
	if !p.Needless {
		if err := k.addLink(p.Device, p.Type, p.Netdev); err != nil {
			return Port{}, fmt.Errorf("add device %s: %w", p.Device, cause(p, err))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		port, ready := k.ready(p.Device)
		if ready || !p.NetdevUp || ctx.Err() != nil {
			return port, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// A NoDriverError reports a device type that the kernel does not support, or not on a
// network device.
type NoDriverError struct {
	Type, Module, Netdev string
	Err                  error
}

func (e *NoDriverError) Error() string {
	return fmt.Sprintf("the kernel has no module %s, or the module does not support %s: %v", e.Module, e.Netdev, e.Err)
}

func (e *NoDriverError) Unwrap() error { return e.Err }

// cause returns a failed Add's cause. The kernel returns EINVAL for an unknown type, siw
// also for network devices other than Ethernet; rxe returns EPERM for a VLAN.
func cause(p *Plan, err error) error {
	if errors.Is(err, unix.EINVAL) {
		return &NoDriverError{p.Type, drivers[p.Type].module, p.Netdev, err}
	}
	return err
}

// A host is this process's host.
type host struct{}

func (host) devices() ([]rdmahost.Device, error) {
	devices, problems := rdmahost.Query{Sysfs: sysfs.Default, Netlink: true, Ports: true, UVerbs: true}.Devices()
	for _, p := range problems {
		if errors.Is(p.Err, fs.ErrNotExist) {
			continue // the kernel has no RDMA devices yet
		}
		return nil, p.Err
	}
	return devices, nil
}

func (host) users(device string) (*devinfo.Resources, error) {
	return devinfo.ListResources(device, false)
}

func (host) netdevUp(name string) (bool, error) {
	i, err := net.InterfaceByName(name)
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // without Go's names: route ip+net
	}
	if err != nil {
		return false, fmt.Errorf("find network device %s: %w", name, err)
	}
	return i.Flags&net.FlagUp != 0 && i.Flags&net.FlagRunning != 0, nil
}

func (host) addLink(name, linkType, netdev string) error {
	return withConn(func(c *rdmanl.Conn) error { return c.AddLink(name, linkType, netdev) })
}

func (host) deleteLink(index uint32) error {
	return withConn(func(c *rdmanl.Conn) error { return c.DeleteLink(index) })
}

func withConn(call func(*rdmanl.Conn) error) error {
	c, err := rdmanl.Dial()
	if err != nil {
		return err
	}
	defer c.Close()
	return call(c)
}

// ready returns a device's port, and whether it is active and has a GID.
func (host) ready(device string) (Port, bool) {
	p, err := sysfs.Default.Port(device, 1)
	if err != nil {
		return Port{}, false
	}
	port := Port{Active: p.State == 4}
	if gids := sysfs.Default.GIDs(device, 1); len(gids) > 0 {
		port.GID = gids[0].GID.String()
	}
	return port, port.Active && port.GID != ""
}
