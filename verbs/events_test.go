package verbs

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// withEvents responds to requests for events and counts them.
func withEvents(allocs *int) func(call) error {
	return func(c call) error {
		if !c.Is(uapi.ObjectAsyncEvent, uapi.MethodAsyncEventAlloc) {
			return unix.EPROTONOSUPPORT
		}
		*allocs++
		copy(c.Attr(uapi.AttrAsyncEventAllocFDHandle).Data[:], uapi.Bytes(new(uint64(fakeEventFD))))
		return nil
	}
}

func TestEvents(t *testing.T) {
	allocs := 0
	c, f := openFake(t, DriverMLX5, withEvents(&allocs))
	events, err := c.Events()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.Events(); again != events || err != nil || allocs != 1 {
		t.Errorf("got %d files of events, error %v, want 1", allocs, err)
	}
	for _, want := range []Event{{EventPortErr, 1}, {EventPortActive, 2}, {EventDeviceFatal, 0}} {
		if _, err := f.events.Write(uapi.Bytes(&uapi.AsyncEvent{Element: want.Element, Type: uint32(want.Type)})); err != nil {
			t.Fatal(err)
		}
		if got, err := events.Next(t.Context()); got != want || err != nil {
			t.Errorf("got %v, error %v, want %v", got, err, want)
		}
	}

	// A canceled wait does not affect the next wait.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := events.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
	f.events.Write(uapi.Bytes(&uapi.AsyncEvent{Element: 1, Type: 18}))
	if got, err := events.Next(t.Context()); err != nil || got.Type != EventGIDChange {
		t.Errorf("got %v, error %v, want %v", got, err, EventGIDChange)
	}

	// The kernel writes only whole events.
	f.events.Write(make([]byte, 7))
	if _, err := events.Next(t.Context()); err == nil || err.Error() != "read event of dev0: got 7 bytes, want 16" {
		t.Errorf("got error %v, want 7 bytes instead of 16", err)
	}
	f.events.Close()
	if _, err := events.Next(t.Context()); err == nil || err.Error() != "read event of dev0: unexpected EOF" {
		t.Errorf("got error %v, want unexpected EOF", err)
	}
}

// Close ends a wait.
func TestEventsClosed(t *testing.T) {
	allocs := 0
	c, _ := openFake(t, DriverMLX5, withEvents(&allocs))
	events, err := c.Events()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := events.Next(context.Background())
		ended <- err
	}()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got error %v, want %v", err, fs.ErrClosed)
	}
}

func TestEventsRefused(t *testing.T) {
	c, _ := openFake(t, DriverMLX5, refuse(unix.EOPNOTSUPP))
	if _, err := c.Events(); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got error %v, want %v", err, ErrUnsupported)
	}
}

// DEVICE_FATAL is a removed device's last event, but not a failed device's.
func TestEventsFatal(t *testing.T) {
	allocs := 0
	c, f := openFake(t, DriverMLX5, withEvents(&allocs))
	events, err := c.Events()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f.events.Write(uapi.Bytes(&uapi.AsyncEvent{Type: uint32(EventDeviceFatal)}))
		if e, err := events.Next(t.Context()); err != nil || e.Type != EventDeviceFatal {
			t.Fatalf("got %v, error %v, want %v", e, err, EventDeviceFatal)
		}
	}
	f.removed = true
	for range 2 {
		if _, err := events.Next(t.Context()); !errors.Is(err, ErrDeviceRemoved) {
			t.Errorf("got error %v, want %v", err, ErrDeviceRemoved)
		}
	}
}
