package port

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

// A Monitor watches a port and its device during a test.
type Monitor struct {
	Port *Port

	down atomic.Bool // the port was down at some time
}

// Start calls fail when the device is removed (verbs.ErrDeviceRemoved) or reports a
// fatal error, until ctx ends.
func (m *Monitor) Start(ctx context.Context, fail func(error)) {
	go m.awaitRemoval(ctx, fail)
	go m.awaitEvents(ctx, fail)
}

// Explain adds to an error that the port went down during the test, if it did. It also
// queries the port, because a completion error can precede the event.
func (m *Monitor) Explain(err error) error {
	if err == nil || !m.wentDown(err) {
		return err
	}
	return fmt.Errorf("port %d of %s went down: %w", m.Port.Number, m.Port.Device, err)
}

// downTime is the time in which a port's state follows the loss of its routes. With
// Soft-RoCE, requests without a route fail before the port is down.
const downTime = 50 * time.Millisecond

// wentDown reports whether the port is down or was, when an error has occurred.
func (m *Monitor) wentDown(err error) bool {
	down := func() bool { return m.down.Load() || m.isDown() }
	failed, ok := errors.AsType[*verbs.CompletionError](err)
	if !ok || failed.Status != verbs.StatusLocalQPOp {
		return down()
	}
	for end := time.Now().Add(downTime); !down(); time.Sleep(downTime / 10) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

func (m *Monitor) isDown() bool {
	attr, err := m.Port.Context.QueryPort(uint32(m.Port.Number))
	return err == nil && attr.State == ib.PortDown
}

func (m *Monitor) removedError() error {
	return fmt.Errorf("use %s: %w", m.Port.Device, verbs.ErrDeviceRemoved)
}

// presenceInterval is the time between two checks that the device is present.
const presenceInterval = 500 * time.Millisecond

// awaitRemoval polls for the device's removal. Some drivers send no event: the kernel
// waits until every file for the device is closed.
func (m *Monitor) awaitRemoval(ctx context.Context, fail func(error)) {
	tick := time.NewTicker(presenceInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if m.Port.removed() {
			fail(m.removedError())
			return
		}
	}
}

// awaitEvents waits for a fatal device error and records that the port goes down.
func (m *Monitor) awaitEvents(ctx context.Context, fail func(error)) {
	events, err := m.Port.Context.Events()
	if err != nil {
		return // an old kernel has no events for this file
	}
	for {
		e, err := events.Next(ctx)
		switch {
		case errors.Is(err, verbs.ErrDeviceRemoved), err == nil && e.Type == verbs.EventDeviceFatal && m.Port.removed():
			fail(m.removedError()) // the kernel reports a removal as a fatal error
			return
		case err != nil:
			return // the test has ended
		case e.Type == verbs.EventDeviceFatal:
			fail(fmt.Errorf("use %s: fatal device error (%v)", m.Port.Device, e))
			return
		case e.Type == verbs.EventPortErr && e.Element == uint64(m.Port.Number):
			m.down.Store(true)
		}
	}
}
