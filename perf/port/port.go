// Package port finds and opens the port of this host that a test goes through, and
// the GID with which it reaches the other side.
package port

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/verbs"
)

// A Port is an active port of an open device.
type Port struct {
	Context *verbs.Context
	Device  string
	Number  uint8
	Attr    verbs.PortAttr
	Limits  verbs.DeviceAttr
	GIDs    []verbs.GIDEntry // of this port

	node string // such as "uverbs0"
}

// removed tells whether the device is gone, or about to be. Unlike CheckPresent of its
// Context it asks nothing of the device, whose requests are few while a test runs.
func (p *Port) removed() bool {
	_, err := os.Stat(filepath.Join(string(sysfs.Default), verbsClass, p.node))
	return errors.Is(err, fs.ErrNotExist)
}

// verbsClass has a folder for each device that can be opened.
const verbsClass = "class/infiniband_verbs"

// ErrNone means that there is no device that could be used.
var ErrNone = errors.New("no RDMA device")

// A NoneError is ErrNone with what to do about it.
type NoneError struct{ text string }

func (e *NoneError) Error() string { return e.text }

// Is makes it ErrNone.
func (e *NoneError) Is(target error) bool { return target == ErrNone }

// Hint says what to do.
func (e *NoneError) Hint() string {
	return "ibkit devinfo shows the devices of this host; a network device can be made one by rdma link add rxe0 type rxe netdev NAME"
}

// OpenAll opens a port of a device; of all devices where the name is empty, and
// the first active port of each where the number is 0. Ports that are not active,
// and those of devices that no data can be moved with, are left out, if there is
// another.
func OpenAll(device string, number uint8) ([]*Port, error) {
	var problems []error
	class := sysfs.Default.Dir(&problems, verbsClass)
	var ports []*Port
	var failures []error
	for _, node := range class.Names() {
		name := class.Sub(node).Text("ibdev")
		if name == nil || device != "" && *name != device {
			continue
		}
		p, err := open(*name, node, number)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		ports = append(ports, p)
	}
	switch {
	case len(ports) > 0:
		return ports, nil
	case len(failures) > 0:
		return nil, errors.Join(failures...)
	case device != "":
		return nil, &NoneError{fmt.Sprintf("open device %s: there is none of that name", device)}
	}
	return nil, &NoneError{"find a device: this host has no RDMA device"}
}

// open opens one port.
func open(device, node string, number uint8) (*Port, error) {
	c, err := verbs.Open(device, filepath.Join("/dev/infiniband", node))
	if err != nil {
		return nil, err
	}
	p := &Port{Context: c, Device: device, Number: number, node: node}
	if err := p.look(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return p, nil
}

// look asks the device about the port.
func (p *Port) look() error {
	err := p.Context.CheckQueues()
	if err != nil {
		return err
	}
	if p.Limits, err = p.Context.QueryDevice(); err != nil {
		return err
	}
	if err := p.find(); err != nil {
		return err
	}
	all, err := p.Context.GIDTable()
	if err != nil {
		return err
	}
	for _, g := range all {
		if g.Port == uint32(p.Number) {
			p.GIDs = append(p.GIDs, g)
		}
	}
	return nil
}

// find takes the port of that number, or the first active one.
func (p *Port) find() error {
	if p.Number != 0 {
		var err error
		p.Attr, err = p.Context.QueryPort(uint32(p.Number))
		if err == nil && p.Attr.State != ib.PortActive {
			err = fmt.Errorf("use port %d of %s: it is %v, not active", p.Number, p.Device, p.Attr.State)
		}
		return err
	}
	for n := range p.Limits.PhysPortCount {
		attr, err := p.Context.QueryPort(uint32(n) + 1)
		if err != nil {
			return err
		}
		if attr.State == ib.PortActive {
			p.Number, p.Attr = n+1, attr
			return nil
		}
	}
	return fmt.Errorf("use %s: none of its ports is active", p.Device)
}

// Ethernet tells whether the port's link is one.
func (p *Port) Ethernet() bool { return p.Attr.LinkLayer == ib.LinkLayerEthernet }

// Close closes the device with all that was made of it.
func (p *Port) Close() error {
	if err := p.Context.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}

// CloseAll closes ports.
func CloseAll(ports []*Port) error {
	var errs []error
	for _, p := range ports {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}
