package devinfo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/rdmahost"
	"github.com/ibkit/ibkit/verbs"
)

// A ChangeKind is the kind of a Change.
type ChangeKind int

// Kinds of changes.
const (
	Initial ChangeKind = iota // state of a port when watching starts or its device is added
	Added                     // device added
	Removed                   // device removed
	Up                        // port became active
	Down                      // port is no longer active
	Other                     // any other event; Event is its name
	Failed                    // events of the device cannot be read; Err is the reason

	leaving // uverbs node removed; Event is its name
	missed  // the kernel dropped uevents
)

// A Change is an event of a device or a port.
type Change struct {
	Time   time.Time // time of detection
	Kind   ChangeKind
	Device string
	Port   int          // 0 for the device
	State  ib.PortState // of Initial
	Event  string       // of Other, for example "GID_CHANGE"
	Err    error        // of Failed
}

// Watch calls changed for each change, from one goroutine, until the context ends.
// Added and removed devices are reported by uevents of the kernel, changes of ports by
// the asynchronous events of their device, which Watch keeps open.
func Watch(ctx context.Context, o Options, changed func(Change)) error {
	o = o.withDefaults()
	uevents, err := listen()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{options: o, changes: make(chan Change), open: map[string]watched{}}
	defer func() {
		cancel()
		_ = uevents.Close()
	}()
	failed := make(chan error, 1)
	go func() { failed <- w.uevents(ctx, uevents) }()
	w.scan(ctx, changed, true)
	for {
		select {
		case c := <-w.changes:
			w.handle(ctx, c, changed)
		case err := <-failed:
			return cmp.Or(ctx.Err(), err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A watcher holds the state of Watch. Only changes is used by other goroutines.
type watcher struct {
	options Options
	changes chan Change
	open    map[string]watched
}

// watched is an open device.
type watched struct {
	node  string             // for example "uverbs0"
	close context.CancelFunc // closes the device
}

func (w *watcher) wants(device string) bool {
	return w.options.Device == "" || w.options.Device == device
}

// handle processes one change.
func (w *watcher) handle(ctx context.Context, c Change, changed func(Change)) {
	switch c.Kind {
	case leaving:
		// Some drivers, for example rxe, cannot revoke contexts: the removal
		// waits until all processes have closed the device.
		for _, d := range w.open {
			if d.node == c.Event {
				d.close()
			}
		}
		return
	case Removed:
		d, ok := w.open[c.Device]
		if !ok {
			return
		}
		d.close()
		delete(w.open, c.Device)
	case missed:
		w.removeMissing(c.Time, changed)
		w.scan(ctx, changed, false)
		return
	case Added:
		w.scan(ctx, changed, false)
		return
	}
	changed(c)
}

// removeMissing reports the devices that do not exist any more.
func (w *watcher) removeMissing(now time.Time, changed func(Change)) {
	devices := w.options.enumerate(&Result{})
	for _, name := range slices.Sorted(maps.Keys(w.open)) {
		if !slices.ContainsFunc(devices, func(e rdmahost.Device) bool { return e.Name == name }) {
			w.open[name].close()
			delete(w.open, name)
			changed(Change{Time: now, Kind: Removed, Device: name})
		}
	}
}

// scan starts to watch new devices. At the start of watching, all devices are new but
// not reported as Added.
func (w *watcher) scan(ctx context.Context, changed func(Change), start bool) {
	for _, e := range w.options.enumerate(&Result{}) {
		if _, open := w.open[e.Name]; open || !w.wants(e.Name) || e.UVerbs == "" {
			continue
		}
		ctx, cancel := context.WithCancel(ctx)
		w.open[e.Name] = watched{e.UVerbs, cancel}
		if !start {
			changed(Change{Time: time.Now(), Kind: Added, Device: e.Name})
		}
		w.watchDevice(ctx, e, changed)
	}
}

// watchDevice opens a device, reports the state of its ports and starts to read its
// events.
func (w *watcher) watchDevice(ctx context.Context, e rdmahost.Device, changed func(Change)) {
	now := time.Now()
	failed := func(err error) { changed(Change{Time: now, Kind: Failed, Device: e.Name, Err: err}) }
	c, err := w.options.device(e).Open()
	if err != nil {
		failed(err)
		return
	}
	events, err := c.Events() // before the query of the ports, so that no change is lost
	if err != nil {
		failed(errors.Join(err, c.Close()))
		return
	}
	if attr, err := c.QueryDevice(); err == nil {
		for n := 1; n <= int(attr.PhysPortCount); n++ {
			if p, err := c.QueryPort(uint32(n)); err == nil {
				changed(Change{Time: now, Kind: Initial, Device: e.Name, Port: n, State: p.State})
			}
		}
	}
	go func() {
		defer c.Close()
		for {
			event, err := events.Next(ctx)
			if err != nil {
				return // the context ended, or the device was removed, which a uevent reports
			}
			w.send(ctx, fromEvent(e.Name, event))
		}
	}()
}

// fromEvent converts an event to a change.
func fromEvent(device string, e verbs.Event) Change {
	c := Change{Time: time.Now(), Kind: Other, Device: device, Event: e.Type.String()}
	if e.Type.Element() == verbs.ElementPort {
		c.Port = int(e.Element)
	}
	switch e.Type {
	case verbs.EventPortActive:
		c.Kind = Up
	case verbs.EventPortErr:
		c.Kind = Down
	}
	return c
}

func (w *watcher) send(ctx context.Context, c Change) {
	select {
	case w.changes <- c:
	case <-ctx.Done():
	}
}

// uevents converts uevents of RDMA devices to changes until an error. If the kernel dropped
// uevents, because those of the whole host came faster than they were read, it goes on.
func (w *watcher) uevents(ctx context.Context, r io.Reader) error {
	b := make([]byte, 16<<10)
	for {
		n, err := r.Read(b)
		switch {
		case errors.Is(err, unix.ENOBUFS):
			w.send(ctx, Change{Time: time.Now(), Kind: missed})
			continue
		case err != nil:
			return fmt.Errorf("read uevents: %w", err)
		}
		u := parseUevent(b[:n])
		switch {
		case u.subsystem == "infiniband_verbs" && u.action == "add":
			w.send(ctx, Change{Time: time.Now(), Kind: Added})
		case u.subsystem == "infiniband_verbs" && u.action == "remove":
			w.send(ctx, Change{Kind: leaving, Event: u.name})
		case u.subsystem == "infiniband" && u.action == "remove":
			w.send(ctx, Change{Time: time.Now(), Kind: Removed, Device: u.name})
		}
	}
}
