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
		c, f := openFake(t, d, refuse(unix.EINVAL))
		if c.Driver() != d || c.CompVectors() != 3 || !c.OptionalMRAccess() || c.Name() != "dev0" {
			t.Errorf("%v: context %+v", d, c)
		}
		if !slices.Equal(f.opened, []string{"/dev/uverbs0"}) {
			t.Errorf("opened %v", f.opened)
		}
		if err := c.Close(); err != nil || !slices.Equal(f.closed, []int{fakeFD}) {
			t.Errorf("closed %v, %v", f.closed, err)
		}
	}
}

// A driver that is known is not looked for.
func TestOpenKnownDriver(t *testing.T) {
	f := &fake{t: t, driver: DriverSIW, answer: contexts(refuse(unix.EINVAL))}
	if _, err := (Device{Name: "dev0", Driver: DriverSIW}).open(f); err != nil {
		t.Fatal(err)
	}
	if len(f.calls) != 1 || !f.calls[0].is(uapi.ObjectDevice, uapi.MethodGetContext) {
		t.Errorf("calls %v", f.calls)
	}
}

// What the driver wants for a context comes with the request, and there is room
// for what it answers.
func TestOpenVendor(t *testing.T) {
	var got call
	var in []byte
	f := &fake{t: t, driver: DriverMLX5, answer: func(c call) error {
		got, in = c, slices.Clone(c.memory(uapi.AttrUHWIn))
		return contexts(nil)(c)
	}}
	c, err := Device{Driver: DriverMLX5}.open(f)
	if err != nil {
		t.Fatal(err)
	}
	req := decode[uapi.MLX5AllocUcontextReq](in)
	if len(in) != 32 || req.TotalNumBFRegs != 2 || req.LibCaps != 3 {
		t.Errorf("request %+v", req)
	}
	if n := got.attr(uapi.AttrUHWOut).Len; n != 72 || c.vendor.queryDevice != 56 {
		t.Errorf("room for %d, then for %d", n, c.vendor.queryDevice)
	}
}

// Kernels before 5.6 have the command only. It makes the file of events.
func TestOpenOldKernel(t *testing.T) {
	f := &fake{t: t, driver: DriverRXE, answer: func(c call) error {
		if cmd, ok := c.command(); !ok || cmd != uapi.CmdGetContext {
			return unix.EPROTONOSUPPORT
		}
		if in := c.attr(uapi.AttrCoreIn); in.Len != 8 {
			t.Errorf("structure of %d bytes", in.Len)
		}
		c.set(uapi.AttrCoreOut, bytesOf(&uapi.GetContextResp{AsyncFD: fakeEventFD, NumCompVectors: 2}))
		return nil
	}}
	c, err := Device{Name: "dev0"}.open(f)
	if err != nil {
		t.Fatal(err)
	}
	if c.CompVectors() != 2 || c.OptionalMRAccess() {
		t.Errorf("context %+v", c)
	}
	if err := c.Close(); err != nil || !slices.Equal(f.closed, []int{fakeEventFD, fakeFD}) {
		t.Errorf("closed %v, %v", f.closed, err)
	}
}

// A device that cannot be used is closed again.
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
				t.Errorf("%v, want %s", err, test.text)
			}
			if !slices.Equal(f.closed, []int{fakeFD}) {
				t.Errorf("closed %v", f.closed)
			}
		})
	}
}

func TestOpenNoNode(t *testing.T) {
	_, err := Open("dev0", t.TempDir()+"/uverbs0")
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "open node /") {
		t.Error(err)
	}
	// Any other file has no such ioctl.
	if _, err := Open("dev0", "/dev/null"); !errors.Is(err, ErrUnknownMethod) {
		t.Error(err)
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
		c, _ := openFake(t, DriverRXE, refuse(errno))
		_, err := c.PortSpeed(1)
		var call *CallError
		if !errors.As(err, &call) || call.Device != "dev0" || call.Method != "DEVICE QUERY_PORT_SPEED" || !errors.Is(err, errno) {
			t.Errorf("%v: %v", errno, err)
		}
		for _, kind := range kinds {
			if errors.Is(err, kind) != errors.Is(want, kind) {
				t.Errorf("%v: errors.Is %v: %v", err, kind, errors.Is(err, kind))
			}
		}
	}
}

// Of a device that was removed, the kernel takes the context away.
func TestRemoved(t *testing.T) {
	c, f := openFake(t, DriverMLX5, refuse(unix.EINVAL))
	if _, err := c.QueryPort(1); errors.Is(err, ErrDeviceRemoved) || !errors.Is(err, unix.EINVAL) {
		t.Errorf("a device that is there: %v", err)
	}
	if err := c.CheckPresent(); err != nil {
		t.Error(err)
	}
	f.gone = true
	if _, err := c.QueryPort(1); !errors.Is(err, ErrDeviceRemoved) {
		t.Error(err)
	}
	if err := c.CheckPresent(); !errors.Is(err, ErrDeviceRemoved) {
		t.Error(err)
	}
	f.gone, f.leaving = false, true
	if err := c.CheckPresent(); !errors.Is(err, ErrDeviceRemoved) {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.CheckPresent(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
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
		if err := use(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(f.calls) != 0 || len(f.closed) != 1 {
		t.Errorf("calls %v, closed %v", f.calls, f.closed)
	}
}

// Close waits for requests that are under way; none goes to a file that may be
// another one by then.
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
		t.Error("a request does not hold the context")
		c.lock.Unlock()
	}
	if len(f.closed) != 0 {
		t.Error("closed during a request")
	}
	close(leave)
	group.Wait()
	if len(f.closed) != 1 {
		t.Errorf("closed %v", f.closed)
	}
}
