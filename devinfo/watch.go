package devinfo

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/ibkit/ibkit/internal/rdmahost"
	"github.com/ibkit/ibkit/verbs"
)

// A ChangeKind is what happened.
type ChangeKind int

// Kinds of changes.
const (
	Seen    ChangeKind = iota // a port as it is when watching begins, or its device appears
	Added                     // a device
	Removed                   // a device
	Up                        // a port is active
	Down                      // a port is not active any more
	Other                     // another event, by its name
	Unseen                    // a device's events cannot be seen

	leaving // the device node of a device is gone; Event is its name
)

// A Change is something that happened to a device or a port.
type Change struct {
	Time   time.Time // when it was seen
	Kind   ChangeKind
	Device string
	Port   int    // 0: the device
	State  uint8  // of Seen, as PortInfo has it
	Event  string // of Other, such as "GID_CHANGE"
	Err    error  // of Unseen
}

// Watch calls changed with what happens, in one goroutine, until the context
// ends. Devices come and go by the kernel's uevents; what happens to a port comes
// from the asynchronous events of its device, which is kept open.
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
	go w.uevents(ctx, uevents)
	w.scan(ctx, changed, true)
	for {
		select {
		case c := <-w.changes:
			w.take(ctx, c, changed)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A watcher knows which devices are watched. All but changes belongs to Watch's
// goroutine.
type watcher struct {
	options Options
	changes chan Change
	open    map[string]watched
}

// A watched device.
type watched struct {
	node  string             // such as "uverbs0"
	close context.CancelFunc // closes it
}

func (w *watcher) wants(device string) bool {
	return w.options.Device == "" || w.options.Device == device
}

// take handles one change.
func (w *watcher) take(ctx context.Context, c Change, changed func(Change)) {
	switch c.Kind {
	case leaving:
		// Drivers that cannot take a context away from its owner, rxe among
		// them, wait with the removal until all have closed the device.
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
	case Added:
		w.scan(ctx, changed, false)
		return
	}
	changed(c)
}

// scan begins to watch devices that are new. At the begin of watching all are.
func (w *watcher) scan(ctx context.Context, changed func(Change), begin bool) {
	for _, e := range w.options.enumerate(&Result{}) {
		if _, open := w.open[e.Name]; open || !w.wants(e.Name) || e.UVerbs == "" {
			continue
		}
		ctx, cancel := context.WithCancel(ctx)
		w.open[e.Name] = watched{e.UVerbs, cancel}
		if !begin {
			changed(Change{Time: time.Now(), Kind: Added, Device: e.Name})
		}
		w.watchDevice(ctx, e, changed)
	}
}

// watchDevice opens a device, tells how its ports are and starts to wait for its
// events.
func (w *watcher) watchDevice(ctx context.Context, e rdmahost.Device, changed func(Change)) {
	now := time.Now()
	unseen := func(err error) { changed(Change{Time: now, Kind: Unseen, Device: e.Name, Err: err}) }
	c, err := w.options.device(e).Open()
	if err != nil {
		unseen(err)
		return
	}
	events, err := c.Events() // before the ports are asked: nothing is lost between
	if err != nil {
		unseen(errors.Join(err, c.Close()))
		return
	}
	if attr, err := c.QueryDevice(); err == nil {
		for n := 1; n <= int(attr.PhysPortCount); n++ {
			if p, err := c.QueryPort(uint32(n)); err == nil {
				changed(Change{Time: now, Kind: Seen, Device: e.Name, Port: n, State: uint8(p.State)})
			}
		}
	}
	go func() {
		defer c.Close()
		for {
			event, err := events.Next(ctx)
			if err != nil {
				return // removed, which a uevent tells, or the end
			}
			w.send(ctx, fromEvent(e.Name, event))
		}
	}()
}

// fromEvent makes a change of an event.
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

// uevents turns the kernel's uevents about devices for verbs into changes.
func (w *watcher) uevents(ctx context.Context, f *os.File) {
	b := make([]byte, 16<<10)
	for {
		n, err := f.Read(b)
		if err != nil {
			return
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
