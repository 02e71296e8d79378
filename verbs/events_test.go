package verbs

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// withEvents answers what asks for events, and counts.
func withEvents(allocs *int) func(call) error {
	return func(c call) error {
		if !c.is(uapi.ObjectAsyncEvent, uapi.MethodAsyncEventAlloc) {
			return unix.EPROTONOSUPPORT
		}
		*allocs++
		copy(c.attr(uapi.AttrAsyncEventAllocFDHandle).Data[:], bytesOf(new(uint64(fakeEventFD))))
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
		t.Errorf("%d files of events, %v", allocs, err)
	}
	for _, want := range []Event{{EventPortErr, 1}, {EventPortActive, 2}, {EventDeviceFatal, 0}} {
		if _, err := f.events.Write(bytesOf(&uapi.AsyncEvent{Element: want.Element, Type: uint32(want.Type)})); err != nil {
			t.Fatal(err)
		}
		if got, err := events.Next(t.Context()); got != want || err != nil {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}

	// A wait that is given up leaves the next one alone.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := events.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	f.events.Write(bytesOf(&uapi.AsyncEvent{Element: 1, Type: 18}))
	if got, err := events.Next(t.Context()); err != nil || got.Type != EventGIDChange {
		t.Errorf("%v, %v", got, err)
	}

	// The kernel writes whole events.
	f.events.Write(make([]byte, 7))
	if _, err := events.Next(t.Context()); err == nil || err.Error() != "read event of dev0: 7 bytes of 16" {
		t.Error(err)
	}
	f.events.Close()
	if _, err := events.Next(t.Context()); err == nil || err.Error() != "read event of dev0: unexpected EOF" {
		t.Error(err)
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
		t.Error(err)
	}
}

func TestEventsRefused(t *testing.T) {
	c, _ := openFake(t, DriverMLX5, refuse(unix.EOPNOTSUPP))
	if _, err := c.Events(); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
}

// DEVICE_FATAL is the last event of a device that was removed, and one more of
// one that failed.
func TestEventsFatal(t *testing.T) {
	allocs := 0
	c, f := openFake(t, DriverMLX5, withEvents(&allocs))
	events, err := c.Events()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f.events.Write(bytesOf(&uapi.AsyncEvent{Type: uint32(EventDeviceFatal)}))
		if e, err := events.Next(t.Context()); err != nil || e.Type != EventDeviceFatal {
			t.Fatalf("%v, %v", e, err)
		}
	}
	f.gone = true
	for range 2 {
		if _, err := events.Next(t.Context()); !errors.Is(err, ErrDeviceRemoved) {
			t.Error(err)
		}
	}
}
