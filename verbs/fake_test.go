package verbs

import (
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/internal/uverbs/uverbstest"
)

// A fake is a kernel that responds as the test specifies.
type fake struct {
	t      *testing.T
	driver DriverID
	answer func(call) error // response to requests for supported methods
	calls  []call

	ready   bool // the file has a context
	removed bool // the device was removed

	removing bool // the removal waits for Close

	written    [][]byte
	writeError error

	maps     func(offset int64, length int) ([]byte, error)
	unmapped int

	opened []string
	closed []int
	events *os.File // event file's write end
}

// fakeFD is the device node file, fakeEventFD the event file.
const (
	fakeFD      = 1000
	fakeEventFD = 1001
)

func (f *fake) Open(path string) (int, error) {
	f.opened = append(f.opened, path)
	return fakeFD, nil
}

func (f *fake) Present(int) bool { return !f.removing }

func (f *fake) Close(fd int) error {
	f.closed = append(f.closed, fd)
	return nil
}

func (f *fake) EventFile(fd int) *os.File {
	if fd != fakeEventFD {
		f.t.Errorf("event file: got file %d, want %d", fd, fakeEventFD)
	}
	r, w, err := os.Pipe()
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { w.Close() })
	f.events = w
	return r
}

// write records the message.
func (f *fake) Write(fd int, message []byte, _ bool) error {
	if fd != fakeFD {
		f.t.Errorf("write: got file %d, want %d", fd, fakeFD)
	}
	f.written = append(f.written, slices.Clone(message))
	return f.writeError
}

func (f *fake) Mmap(fd int, offset int64, length, protection int) ([]byte, error) {
	if f.maps == nil {
		return nil, unix.EINVAL
	}
	return f.maps(offset, length)
}

func (f *fake) Munmap(b []byte) error {
	f.unmapped++
	return nil
}

// ioctl performs the checks that uverbs_ioctl.c performs before it calls a method.
func (f *fake) Ioctl(fd int, request []byte) error {
	c := uverbstest.Parse(f.t, request)
	if fd != fakeFD {
		f.t.Errorf("ioctl: got file %d, want %d", fd, fakeFD)
	}
	if c.Header.Driver != uint32(f.driver) {
		return unix.EINVAL
	}
	const driverObjects = 0x1000
	if c.Header.Object >= driverObjects {
		return f.answer(c)
	}
	if int(c.Header.Object) >= len(methodNames) || int(c.Header.Method) >= len(methodNames[c.Header.Object]) {
		return unix.EPROTONOSUPPORT
	}
	// A file has a single context until the device is removed.
	if f.ready && !c.Probe && c.Is(uapi.ObjectDevice, uapi.MethodGetContext) {
		if f.removed {
			return unix.EIO
		}
		return unix.EINVAL
	}
	f.calls = append(f.calls, c)
	return f.answer(c)
}

// A call is a request as the kernel sees it.
type call = uverbstest.Call

// contexts responds to requests for a context and passes the others to next.
func contexts(next func(call) error) func(call) error {
	return func(c call) error {
		if !c.Is(uapi.ObjectDevice, uapi.MethodGetContext) || c.Probe {
			return next(c)
		}
		vectors, support := uint32(3), uint64(1)
		c.Set(uapi.AttrGetContextNumCompVectors, uapi.Bytes(&vectors))
		c.Set(uapi.AttrGetContextCoreSupport, uapi.Bytes(&support))
		if c.Attr(uapi.AttrUHWOut) != nil && DriverID(c.Header.Driver) == DriverMLX5 {
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.MLX5AllocUcontextResp{CmdsSuppUHW: uapi.MLX5SuppUHWQueryDevice}))
		}
		return nil
	}
}

// openFake opens a fake kernel's device.
func openFake(t *testing.T, driver DriverID, answer func(call) error) (*Context, *fake) {
	t.Helper()
	f := &fake{t: t, driver: driver, answer: contexts(answer)}
	return openKernel(t, f), f
}

func openKernel(t *testing.T, f *fake) *Context {
	t.Helper()
	c, err := Device{Name: "dev0", Path: "/dev/uverbs0"}.open(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !c.closed {
			c.Close()
		}
	})
	f.calls, f.ready = nil, true
	return c
}
