package watch

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/rdmanl"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/verbs"
)

// watchLocal watches this host's devices, the network devices of their ports and the traffic
// of RoCE ports, until ctx ends.
func (r *run) watchLocal(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 3)
	go func() { failed <- devinfo.Watch(ctx, devinfo.Options{Sysfs: r.Sysfs}, r.deviceChange) }()
	go func() { failed <- r.watchNetdevs(ctx) }()
	go func() { failed <- r.watchRoCE(ctx) }()
	r.up(Local, "RDMA devices of this host")
	err := <-failed
	ended := ctx.Err() != nil
	stop()
	err = errors.Join(err, <-failed, <-failed)
	switch {
	case ended:
		return nil
	case r.requires(Local):
		return &requiredError{err}
	}
	r.losses.Add(1)
	r.lost(Local, err)
	return err
}

// deviceChange reports a change to a device or its ports.
func (r *run) deviceChange(c devinfo.Change) {
	place, device := &report.Place{Name: &c.Device}, &DeviceData{Name: &c.Device}
	if c.Port != 0 {
		place.Port, device.Port = new(c.Port), new(uint32(c.Port))
	}
	add := func(kind report.EventKind, severity report.Severity, detail string) {
		e := newEvent(Local, kind, severity, detail).about(place, nil)
		e.Time, e.Data.Device = c.Time, device
		r.add(e)
	}
	async := func(name string, severity report.Severity) {
		device.Type = &name
		add(report.DeviceEvent, severity, name)
	}
	switch c.Kind {
	case devinfo.Initial:
		if state := c.State; state != ib.PortActive {
			r.up(Local, fmt.Sprintf("%v is %v", place, state))
		}
	case devinfo.Added:
		add(report.DeviceAdded, report.Info, "the kernel registered the device")
	case devinfo.Removed:
		add(report.DeviceRemoved, report.Error, "the kernel removed the device")
	case devinfo.Up:
		async(verbs.EventPortActive.String(), report.Recovery)
	case devinfo.Down:
		async(verbs.EventPortErr.String(), report.Error)
	case devinfo.Other:
		async(c.Event, severityOf(c.Event))
	case devinfo.Failed:
		r.lost(Local, fmt.Errorf("events of %s: %w", c.Device, c.Err))
	}
}

// severityOf returns an asynchronous event's severity.
func severityOf(event string) report.Severity {
	switch event {
	case verbs.EventDeviceFatal.String(), verbs.EventCQErr.String(), verbs.EventQPFatal.String(), verbs.EventQPReqErr.String(),
		verbs.EventQPAccessErr.String(), verbs.EventPathMigErr.String(), verbs.EventSRQErr.String(), verbs.EventWQFatal.String():
		return report.Error
	}
	return report.Info
}

// watchNetdevs watches network devices until ctx ends.
func (r *run) watchNetdevs(ctx context.Context) error {
	n, err := openNetdevs()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { n.Close() })()
	defer n.Close()
	known := netdevTable{}
	return n.read(func(s netdevState) {
		if known.changed(s) {
			r.netdev(s)
		}
	}, func(err error) {
		r.losses.Add(1)
		r.lost(Local, err)
		r.up(Local, "network devices of this host")
	})
}

// netdev reports that an RDMA port's network device can transmit, or cannot any more. The
// kernel sends a message for each change to any attribute.
func (r *run) netdev(n netdevState) {
	device, port := rdmaPort(n.index)
	if device == "" && !n.infiniband {
		return
	}
	e := newEvent(Local, report.NetdevDown, report.Error, n.text()).about(&report.Place{Name: &n.name}, nil)
	e.Data.Device = &DeviceData{Netdev: &n.name}
	if n.running {
		e.Kind, e.Severity = report.NetdevUp, report.Recovery
	}
	if device != "" {
		e.Data.Device.Name, e.Data.Device.Port = &device, &port
		e.Detail = fmt.Sprintf("network device of %s/%d: %s", device, port, n.text())
	}
	r.add(e)
}

// rdmaPort returns a network device's RDMA port, "" for a device without RDMA.
func rdmaPort(index uint32) (device string, port uint32) {
	c, err := rdmanl.Dial()
	if err != nil {
		return "", 0
	}
	defer c.Close()
	devices, err := c.Devices()
	if err != nil {
		return "", 0
	}
	for _, d := range devices {
		ports, err := c.Ports(d.Index)
		if err != nil {
			continue
		}
		for _, p := range ports {
			if p.NetdevIndex != nil && *p.NetdevIndex == index {
				return d.Name, p.Number
			}
		}
	}
	return "", 0
}
