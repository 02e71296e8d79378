// Package port selects and opens the host port that a test uses, and the GID that
// reaches the peer.
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

// A Port is an active port on an open device.
type Port struct {
	Context *verbs.Context
	Device  string
	Number  uint8
	Attr    verbs.PortAttr
	Limits  verbs.DeviceAttr
	GIDs    []verbs.GIDEntry // GIDs on this port

	node string // such as "uverbs0"
}

// removed reports whether the device is removed or about to be. Unlike its Context's
// Present it sends no request to the device, which would disturb a test.
func (p *Port) removed() bool {
	_, err := os.Stat(filepath.Join(string(sysfs.Default), "class/infiniband_verbs", p.node))
	return errors.Is(err, fs.ErrNotExist)
}

// ErrNoDevice is wrapped in Open's error when there is no device with that name, or no
// device at all.
var ErrNoDevice = errors.New("no RDMA device")

// Open opens ports: on a single device, or on all devices if the name is empty; the
// port with that number, or the first active port on each device if the number is 0. It
// skips devices and ports that cannot be used as long as there is another.
func Open(device string, number uint8) ([]*Port, error) {
	devices, err := verbs.Devices()
	failures := []error{err}
	var ports []*Port
	found := false
	for _, d := range devices {
		if device != "" && d.Name != device {
			continue
		}
		found = true
		p, err := open(d, number)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		ports = append(ports, p)
	}
	switch err := errors.Join(failures...); {
	case len(ports) > 0:
		return ports, nil
	case found || err != nil:
		return nil, err
	case device != "":
		return nil, fmt.Errorf("open device %s: %w of this name", device, ErrNoDevice)
	}
	return nil, fmt.Errorf("open device: this host has %w", ErrNoDevice)
}

// open opens a single port.
func open(d verbs.Device, number uint8) (*Port, error) {
	c, err := d.Open()
	if err != nil {
		return nil, err
	}
	p := &Port{Context: c, Device: d.Name, Number: number, node: filepath.Base(d.Path)}
	if err := p.query(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return p, nil
}

// query reads the port's properties.
func (p *Port) query() error {
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

// find selects the port with the requested number, or the first active port.
func (p *Port) find() error {
	count := p.Limits.PhysPortCount
	if p.Number != 0 {
		err := CheckNumber(p.Device, p.Number, count)
		if err != nil {
			return err
		}
		p.Attr, err = p.Context.QueryPort(uint32(p.Number))
		if err == nil && p.Attr.State != ib.PortActive {
			err = fmt.Errorf("use port %d of %s: port is %v, not active", p.Number, p.Device, p.Attr.State)
		}
		return err
	}
	for n := range count {
		attr, err := p.Context.QueryPort(uint32(n) + 1)
		if err != nil {
			return err
		}
		if attr.State == ib.PortActive {
			p.Number, p.Attr = n+1, attr
			return nil
		}
	}
	return fmt.Errorf("use %s: no active port", p.Device)
}

// CheckNumber returns an error if a device with a given port count lacks a port.
func CheckNumber(device string, number, count uint8) error {
	if number <= count {
		return nil
	}
	ports := fmt.Sprintf("%d ports", count)
	if count == 1 {
		ports = "one port"
	}
	return fmt.Errorf("use port %d of %s: the device has %s", number, device, ports)
}

// Ethernet reports whether the link layer is Ethernet.
func (p *Port) Ethernet() bool { return p.Attr.LinkLayer == ib.LinkLayerEthernet }

// Close closes the device and all its objects. Closing a closed port is not an error.
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
