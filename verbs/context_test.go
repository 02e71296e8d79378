package verbs

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

func refuse(errno unix.Errno) func(call) error { return func(call) error { return errno } }

func TestOpen(t *testing.T) {
	for d := unknownDriver; d <= lastDriver; d++ {
		t.Run(d.String(), func(t *testing.T) {
			c, f := openFake(t, d, refuse(unix.EINVAL))
			if c.Driver() != d || c.CompVectors() != 3 || !c.OptionalMRAccess() || c.Name() != "dev0" {
				t.Errorf("got driver %v, %d vectors, optional access %v, name %s, want %v, 3, true, dev0", c.Driver(), c.CompVectors(), c.OptionalMRAccess(), c.Name(), d)
			}
			if !slices.Equal(f.opened, []string{"/dev/uverbs0"}) {
				t.Errorf("got %v opened, want /dev/uverbs0", f.opened)
			}
			if err := c.Close(); err != nil || !slices.Equal(f.closed, []int{fakeFD}) {
				t.Errorf("got files %v closed, error %v, want %d", f.closed, err, fakeFD)
			}
		})
	}
}

// The driver is not determined if the caller specifies it.
func TestOpenKnownDriver(t *testing.T) {
	f := &fake{t: t, driver: DriverSIW, answer: contexts(refuse(unix.EINVAL))}
	if _, err := (Device{Name: "dev0", Driver: DriverSIW}).open(f); err != nil {
		t.Fatal(err)
	}
	if len(f.calls) != 1 || !f.calls[0].Is(uapi.ObjectDevice, uapi.MethodGetContext) {
		t.Errorf("got calls %v, want GET_CONTEXT", f.calls)
	}
}

// The request for a context contains the driver's data and room for its response.
func TestOpenVendor(t *testing.T) {
	var got call
	var in []byte
	f := &fake{t: t, driver: DriverMLX5, answer: func(c call) error {
		got, in = c, slices.Clone(c.Memory(uapi.AttrUHWIn))
		return contexts(nil)(c)
	}}
	c, err := Device{Driver: DriverMLX5}.open(f)
	if err != nil {
		t.Fatal(err)
	}
	req := uapi.Decode[uapi.MLX5AllocUcontextReq](in)
	if len(in) != 32 || req.TotalNumBFRegs != 2 || req.LibCaps != 3 {
		t.Errorf("got request %+v, want 2 registers, capabilities 3", req)
	}
	if n := got.Attr(uapi.AttrUHWOut).Len; n != 72 || c.vendor.queryDevice != 56 {
		t.Errorf("got room for %d and %d bytes, want 72 and 56", n, c.vendor.queryDevice)
	}
}

// Kernels before 5.6 have only the command, which opens the events too.
func TestOpenOldKernel(t *testing.T) {
	f := &fake{t: t, driver: DriverRXE, answer: func(c call) error {
		if cmd, ok := c.Command(); !ok || cmd != uapi.CmdGetContext {
			return unix.EPROTONOSUPPORT
		}
		if in := c.Attr(uapi.AttrCoreIn); in.Len != 8 {
			t.Errorf("got structure of %d bytes, want 8", in.Len)
		}
		c.Set(uapi.AttrCoreOut, uapi.Bytes(&uapi.GetContextResp{AsyncFD: fakeEventFD, NumCompVectors: 2}))
		return nil
	}}
	c, err := Device{Name: "dev0"}.open(f)
	if err != nil {
		t.Fatal(err)
	}
	if c.CompVectors() != 2 || c.OptionalMRAccess() {
		t.Errorf("got %d vectors, optional access %v, want 2, false", c.CompVectors(), c.OptionalMRAccess())
	}
	if err := c.Close(); err != nil || !slices.Equal(f.closed, []int{fakeEventFD, fakeFD}) {
		t.Errorf("got files %v closed, error %v, want %d and %d", f.closed, err, fakeEventFD, fakeFD)
	}
}

// The device file is closed if Open fails.
func TestOpenFails(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer func(call) error
		driver DriverID
		want   error
		text   string
	}{
		{"context", refuse(unix.ENOMEM), DriverRXE, unix.ENOMEM, "get context of dev0 (DEVICE GET_CONTEXT): cannot allocate memory"},
		{"permission", refuse(unix.EPERM), DriverRXE, fs.ErrPermission, "get context of dev0 (DEVICE GET_CONTEXT): operation not permitted"},
		{"gone", refuse(unix.EIO), DriverRXE, ErrDeviceRemoved, "get context of dev0 (DEVICE GET_CONTEXT): device removed (input/output error)"},
		{"old", refuse(unix.EPROTONOSUPPORT), DriverRXE, ErrUnknownMethod, "get context of dev0 (DEVICE INVOKE_WRITE): not supported by the kernel (protocol not supported)"},
		{"driver", nil, 99, nil, "find driver of dev0: unknown driver"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{t: t, driver: test.driver, answer: test.answer}
			_, err := Device{Name: "dev0"}.open(f)
			if err == nil || test.want != nil && !errors.Is(err, test.want) || err.Error() != test.text {
				t.Errorf("got error %v, want %s", err, test.text)
			}
			if !slices.Equal(f.closed, []int{fakeFD}) {
				t.Errorf("got files %v closed, want %d", f.closed, fakeFD)
			}
		})
	}
}

func TestOpenNoNode(t *testing.T) {
	_, err := Open("dev0", t.TempDir()+"/uverbs0")
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "open node /") {
		t.Errorf("got error %v, want %v of the node", err, fs.ErrNotExist)
	}
	// Other files do not have the ioctl.
	if _, err := Open("dev0", "/dev/null"); !errors.Is(err, ErrUnknownMethod) {
		t.Errorf("got error %v, want %v", err, ErrUnknownMethod)
	}
}

func TestErrorKinds(t *testing.T) {
	kinds := []error{ErrUnknownMethod, ErrUnsupported, ErrDeviceRemoved, fs.ErrPermission}
	for errno, want := range map[syscall.Errno]error{
		unix.EPROTONOSUPPORT: ErrUnknownMethod,
		unix.ENOTTY:          ErrUnknownMethod,
		unix.EOPNOTSUPP:      ErrUnsupported,
		unix.ENOSYS:          ErrUnsupported,
		unix.EIO:             ErrDeviceRemoved,
		unix.ENODEV:          ErrDeviceRemoved,
		unix.ENXIO:           ErrDeviceRemoved,
		unix.EPERM:           fs.ErrPermission,
		unix.EACCES:          fs.ErrPermission,
		unix.EINVAL:          nil,
		unix.ENODATA:         nil,
	} {
		t.Run(unix.ErrnoName(errno), func(t *testing.T) {
			c, _ := openFake(t, DriverRXE, refuse(errno))
			_, err := c.PortSpeed(1)
			var call *CallError
			if !errors.As(err, &call) || call.Device != "dev0" || call.Method != "DEVICE QUERY_PORT_SPEED" || !errors.Is(err, errno) {
				t.Errorf("got error %v, want a CallError with %v", err, errno)
			}
			for _, kind := range kinds {
				if errors.Is(err, kind) != errors.Is(want, kind) {
					t.Errorf("%v: got errors.Is %v for %v, want %v", err, errors.Is(err, kind), kind, errors.Is(want, kind))
				}
			}
		})
	}
}

// After a device's removal, its file has no context.
func TestRemoved(t *testing.T) {
	c, f := openFake(t, DriverMLX5, refuse(unix.EINVAL))
	if _, err := c.QueryPort(1); errors.Is(err, ErrDeviceRemoved) || !errors.Is(err, unix.EINVAL) {
		t.Errorf("device is present: got error %v, want %v", err, unix.EINVAL)
	}
	if err := c.CheckPresent(); err != nil {
		t.Error(err)
	}
	f.removed = true
	if _, err := c.QueryPort(1); !errors.Is(err, ErrDeviceRemoved) {
		t.Errorf("got error %v, want %v", err, ErrDeviceRemoved)
	}
	if err := c.CheckPresent(); !errors.Is(err, ErrDeviceRemoved) {
		t.Errorf("got error %v, want %v", err, ErrDeviceRemoved)
	}
	f.removed, f.removing = false, true
	if err := c.CheckPresent(); !errors.Is(err, ErrDeviceRemoved) {
		t.Errorf("got error %v, want %v", err, ErrDeviceRemoved)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.CheckPresent(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("got error %v, want %v", err, fs.ErrClosed)
	}
}

func TestClosed(t *testing.T) {
	c, f := openFake(t, DriverRXE, refuse(unix.EINVAL))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for name, use := range map[string]func() error{
		"device":  func() error { _, err := c.QueryDevice(); return err },
		"port":    func() error { _, err := c.QueryPort(1); return err },
		"GIDs":    func() error { _, err := c.GIDTable(); return err },
		"handles": func() error { _, err := c.Handles(0); return err },
		"events":  func() error { _, err := c.Events(); return err },
		"methods": func() error { _, err := c.Methods(); return err },
		"close":   c.Close,
	} {
		t.Run(name, func(t *testing.T) {
			if err := use(); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("got error %v, want %v", err, fs.ErrClosed)
			}
		})
	}
	if len(f.calls) != 0 || len(f.closed) != 1 {
		t.Errorf("got calls %v, files %v closed, want none, one", f.calls, f.closed)
	}
}

// Close waits for requests in progress, so that no request goes to a file that
// reuses the number.
func TestCloseWhileCalling(t *testing.T) {
	inside, leave := make(chan bool), make(chan bool)
	c, f := openFake(t, DriverRXE, func(call) error {
		close(inside)
		<-leave
		return unix.EINVAL
	})
	var group sync.WaitGroup
	group.Go(func() { _, _ = c.PortSpeed(1) })
	<-inside
	group.Go(func() { _ = c.Close() })
	if c.lock.TryLock() {
		t.Error("got the lock of the context during a request")
		c.lock.Unlock()
	}
	if len(f.closed) != 0 {
		t.Error("got the file closed during a request")
	}
	close(leave)
	group.Wait()
	if len(f.closed) != 1 {
		t.Errorf("got files %v closed, want one", f.closed)
	}
}
