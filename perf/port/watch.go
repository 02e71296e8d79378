package port

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// A Watch looks after a port and its device while a test runs.
type Watch struct {
	Port *Port

	down atomic.Bool // the port was, at some time
}

// Begin has fail called when the device cannot be used any more, until ctx ends: by
// removal (verbs.ErrDeviceRemoved), or as it has failed.
func (w *Watch) Begin(ctx context.Context, fail func(error)) {
	go w.awaitRemoval(ctx, fail)
	go w.awaitEvents(ctx, fail)
}

// Explain says of an error that the port went down, if it did.
func (w *Watch) Explain(err error) error {
	if err == nil || !w.down.Load() {
		return err
	}
	return fmt.Errorf("port %d of %s went down meanwhile: %w", w.Port.Number, w.Port.Device, err)
}

// gone is the error of a device that was removed.
func (w *Watch) gone() error { return fmt.Errorf("use %s: %w", w.Port.Device, verbs.ErrDeviceRemoved) }

// lookEvery is the time between two looks at whether the device is still there.
const lookEvery = 500 * time.Millisecond

// awaitRemoval looks whether the device is to be removed: with some drivers the
// kernel waits for whoever has the device open, and tells nobody.
func (w *Watch) awaitRemoval(ctx context.Context, fail func(error)) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if w.Port.removed() {
			fail(w.gone())
			return
		}
	}
}

// awaitEvents waits for the device to say that it fails, and notes when the port
// goes down.
func (w *Watch) awaitEvents(ctx context.Context, fail func(error)) {
	events, err := w.Port.Context.Events()
	if err != nil {
		return // an old kernel has none for a file that is open
	}
	for {
		e, err := events.Next(ctx)
		switch {
		case errors.Is(err, verbs.ErrDeviceRemoved), err == nil && e.Type == verbs.EventDeviceFatal && w.Port.removed():
			fail(w.gone()) // the kernel says of a device that it removes that it failed
			return
		case err != nil:
			return // the test is over
		case e.Type == verbs.EventDeviceFatal:
			fail(fmt.Errorf("use %s: the device has failed (%v)", w.Port.Device, e))
			return
		case e.Type == verbs.EventPortErr && e.Element == uint64(w.Port.Number):
			w.down.Store(true)
		}
	}
}
