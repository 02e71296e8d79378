package perf

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/perf/port"
	"github.com/ibkit/ibkit/verbs"
)

// A deviceWatch looks after a port and its device while a test runs.
type deviceWatch struct {
	port *port.Port
	down atomic.Bool // the port was, at some time
}

// begin has fail called when the device cannot be used any more, until ctx ends.
func (w *deviceWatch) begin(ctx context.Context, fail func(error)) {
	go w.awaitRemoval(ctx, fail)
	go w.awaitEvents(ctx, fail)
}

// explain says of an error that the port went down, if it did.
func (w *deviceWatch) explain(err error) error {
	if err == nil || !w.down.Load() {
		return err
	}
	return fmt.Errorf("port %d of %s went down meanwhile: %w", w.port.Number, w.port.Device, err)
}

// gone is the error of a device that was removed.
func (w *deviceWatch) gone() error { return fmt.Errorf("use %s: %w", w.port.Device, verbs.ErrGone) }

// lookEvery is the time between two looks at whether the device is still there.
const lookEvery = 500 * time.Millisecond

// awaitRemoval looks whether the device is to be removed: with some drivers the
// kernel waits for whoever has the device open, and tells nobody.
func (w *deviceWatch) awaitRemoval(ctx context.Context, fail func(error)) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if errors.Is(w.port.Context.Present(), verbs.ErrGone) {
			fail(w.gone())
			return
		}
	}
}

// awaitEvents waits for the device to say that it fails, and notes when the port
// goes down.
func (w *deviceWatch) awaitEvents(ctx context.Context, fail func(error)) {
	events, err := w.port.Context.Events()
	if err != nil {
		return // an old kernel has none for a file that is open
	}
	for {
		e, err := events.Next(ctx)
		switch {
		case errors.Is(err, verbs.ErrGone):
			fail(w.gone())
			return
		case err != nil:
			return // the test is over
		case e.Type == verbs.EventDeviceFatal:
			fail(fmt.Errorf("use %s: the device has failed (%v)", w.port.Device, e))
			return
		case e.Type == verbs.EventPortErr && e.Element == uint64(w.port.Number):
			w.down.Store(true)
		}
	}
}
