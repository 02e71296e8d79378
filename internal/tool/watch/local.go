package watch

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/rdmanl"
	"github.com/ibkit/ibkit/verbs"
)

// watchLocal watches this host's devices, and their ports' network devices, until ctx ends.
func (r *run) watchLocal(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 2)
	go func() { failed <- devinfo.Watch(ctx, devinfo.Options{Sysfs: r.Sysfs}, r.deviceChange) }()
	go func() { failed <- r.watchNetdevs(ctx) }()
	r.up(Local, "RDMA devices of this host")
	err := <-failed
	ended := ctx.Err() != nil
	stop()
	err = errors.Join(err, <-failed)
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
	e := &Event{Time: c.Time, Source: Local, Event: DeviceEvent, Level: Info, Subject: &Place{Name: c.Device}, Device: &DeviceData{Name: &c.Device}}
	if c.Port != 0 {
		e.Subject.Port, e.Device.Port = new(uint8(c.Port)), new(uint32(c.Port))
	}
	async := func(name string, level Level) {
		e.Level, e.Text, e.Device.Type = level, name, &name
	}
	switch c.Kind {
	case devinfo.Initial:
		if state := ib.PortState(c.State); state != ib.PortActive {
			r.up(Local, fmt.Sprintf("%v is %v", e.Subject, state))
		}
		return
	case devinfo.Added:
		e.Event, e.Text = DeviceAdded, "the kernel registered the device"
	case devinfo.Removed:
		e.Event, e.Level, e.Text = DeviceRemoved, Problem, "the kernel removed the device"
	case devinfo.Up:
		async(verbs.EventPortActive.String(), Recovery)
	case devinfo.Down:
		async(verbs.EventPortErr.String(), Problem)
	case devinfo.Other:
		async(c.Event, levelOf(c.Event))
	case devinfo.Failed:
		r.lost(Local, fmt.Errorf("events of %s: %w", c.Device, c.Err))
		return
	default:
		return
	}
	r.add(e)
}

// levelOf returns an asynchronous event's level.
func levelOf(event string) Level {
	switch event {
	case verbs.EventDeviceFatal.String(), verbs.EventCQErr.String(), verbs.EventQPFatal.String(), verbs.EventQPReqErr.String(),
		verbs.EventQPAccessErr.String(), verbs.EventPathMigErr.String(), verbs.EventSRQErr.String(), verbs.EventWQFatal.String():
		return Problem
	}
	return Info
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
	e := &Event{
		Source: Local, Event: NetdevDown, Level: Problem, Subject: &Place{Name: n.name}, Device: &DeviceData{Netdev: &n.name},
		Text: n.text(),
	}
	if n.running {
		e.Event, e.Level = NetdevUp, Recovery
	}
	if device != "" {
		e.Device.Name, e.Device.Port = &device, &port
		e.Text = fmt.Sprintf("network device of %s/%d: %s", device, port, n.text())
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
