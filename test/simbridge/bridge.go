package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/timeline"
	"github.com/ibkit/ibkit/sim"
)

const permissive = ib.PermissiveLID

// A Plug connects a port on this host to a port in the fabric.
type Plug struct {
	Device string // such as "ibtest0"
	Port   uint32 // from 1
	Node   string // in [sim.Fabric.Place] syntax
	Role   Role
}

// A Role is a port's part in a pair of devices, as adapters with planes have them. The two
// ports of a pair are plugged into the same fabric port.
type Role uint8

// The roles. A General port has the capability IsSMDisabled and no subnet management, a
// Management port sends directed-route packets only.
const (
	Both Role = iota // not in a pair
	General
	Management
)

// ParsePlug parses DEVICE[/PORT]=NODE.
func ParsePlug(s string) (Plug, error) {
	place, node, ok := strings.Cut(s, "=")
	device, number, hasPort := strings.Cut(place, "/")
	p := Plug{Device: device, Port: 1, Node: node}
	if !ok || device == "" || strings.ContainsRune(device, '.') || strings.Contains(number, "/") {
		return p, fmt.Errorf("parse plug %q: not of the form DEVICE[/PORT]=NODE", s)
	}
	if hasPort {
		n, err := strconv.ParseUint(number, 10, 8)
		if err != nil || n == 0 {
			return p, fmt.Errorf("parse plug %q: invalid port number %q", s, number)
		}
		p.Port = uint32(n)
	}
	return p, nil
}

// A Bridge carries datagrams between a fabric and the kernel ports that are plugged into
// it. While a Bridge runs, it is the only user of the fabric.
type Bridge struct {
	devices []*device
	delayed *timeline.Timeline[delivery]
	mu      sync.Mutex // guards the fields below
	fabric  *sim.Fabric
	hosts   map[*sim.Port]*host
	out     []delivery // output for the record that is being handled

	segments int // packets with a segment between two hosts so far

	// LoseEvery loses the last of each such number of these packets; 0: no loss. It must
	// be set before Run.
	LoseEvery int
}

// device is a kernel module device.
type device struct {
	name  string
	file  *os.File
	hosts map[uint32]*host
}

// defaultDev is the directory for the module's device nodes.
const defaultDev = "/dev"

// Open opens the devices and plugs their ports into the fabric.
func Open(f *sim.Fabric, plugs []Plug) (*Bridge, error) { return open(f, plugs, defaultDev) }
func open(f *sim.Fabric, plugs []Plug, dev string) (_ *Bridge, err error) {
	b := &Bridge{fabric: f, hosts: map[*sim.Port]*host{}}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.delayed, err = timeline.New[delivery](); err != nil {
		return nil, err
	}
	for _, p := range plugs {
		if err := b.plug(p, dev); err != nil {
			return nil, fmt.Errorf("plug in %s/%d: %w", p.Device, p.Port, err)
		}
	}
	return b, nil
}
func (b *Bridge) plug(p Plug, dev string) error {
	at, err := b.fabric.Place(p.Node)
	if err != nil {
		return err
	}
	if other := b.hosts[at]; other != nil && (p.Role == Both || other.role == p.Role || other.role == Both) {
		return fmt.Errorf("node %q: already plugged in", p.Node)
	}
	d, err := b.device(p.Device, dev)
	if err != nil {
		return err
	}
	if d.hosts[p.Port] != nil {
		return errors.New("already plugged in")
	}
	h := b.newHost(d, p.Port, at)
	h.role = p.Role
	if p.Role != Management {
		b.hosts[at] = h
	}
	if len(d.hosts) == 1 {
		if err := d.write(describeNode(at.Node)); err != nil {
			return err
		}
	}
	if err := d.write(h.describe()); err != nil {
		return err
	}
	return nil
}

// device returns a module device and opens it on first use.
func (b *Bridge) device(name, dev string) (*device, error) {
	for _, d := range b.devices {
		if d.name == name {
			return d, nil
		}
	}
	file, err := os.OpenFile(dev+"/"+name, os.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w (load the module ibtest with enough devices)", err)
	case errors.Is(err, unix.EBUSY):
		return nil, fmt.Errorf("%w: in use by another bridge", err)
	case err != nil:
		return nil, err
	}
	d := &device{name: name, file: file, hosts: map[uint32]*host{}}
	b.devices = append(b.devices, d)
	return d, nil
}
func (d *device) write(r record) error {
	_, err := d.file.Write(r[:])
	return err
}

// Run carries datagrams until the context ends or a device fails. The ports are down
// when it returns.
func (b *Bridge) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	running.Go(func() { b.delayed.Run(b.deliver) })
	for _, d := range b.devices {
		running.Go(func() { cancel(b.serve(d)) })
	}
	running.Go(func() { b.runEvents(ctx) })
	<-ctx.Done()
	b.close()
	running.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// close makes Run return. Closing the files may wait for writes in progress.
func (b *Bridge) close() {
	for _, d := range b.devices {
		d.file.Close()
	}
	if b.delayed != nil {
		b.delayed.End()
	}
}

// serve handles a device's records until the device is closed.
func (b *Bridge) serve(d *device) error {
	var r record
	for {
		n, err := d.file.Read(r[:])
		if err == nil && n != len(r) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("read from %s: %w", d.name, err)
		}
		b.mu.Lock()
		out := b.handle(d, &r)
		b.deliver(out)
		b.mu.Unlock()
	}
}

// runEvents applies the fabric's events when they are due.
func (b *Bridge) runEvents(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		b.mu.Lock()
		b.fabric.Advance()
		b.deliver(b.addPending(nil))
		due, any := b.fabric.NextEvent()
		b.mu.Unlock()
		if !any {
			return
		}
		timer.Reset(time.Until(due))
	}
}
