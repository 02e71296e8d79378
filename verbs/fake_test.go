package verbs

import (
	"encoding/binary"
	"os"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
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
	events *os.File // write end of the event file
}

// fakeFD is the file of the device node, fakeEventFD the file of events.
const (
	fakeFD      = 1000
	fakeEventFD = 1001
)

func (f *fake) open(path string) (int, error) {
	f.opened = append(f.opened, path)
	return fakeFD, nil
}

func (f *fake) present(int) bool { return !f.removing }

func (f *fake) close(fd int) error {
	f.closed = append(f.closed, fd)
	return nil
}

func (f *fake) eventFile(fd int) *os.File {
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
func (f *fake) write(fd int, message []byte, _ bool) error {
	if fd != fakeFD {
		f.t.Errorf("write: got file %d, want %d", fd, fakeFD)
	}
	f.written = append(f.written, slices.Clone(message))
	return f.writeError
}

func (f *fake) mmap(fd int, offset int64, length int) ([]byte, error) {
	if f.maps == nil {
		return nil, unix.EINVAL
	}
	return f.maps(offset, length)
}

func (f *fake) munmap(b []byte) error {
	f.unmapped++
	return nil
}

// ioctl performs the checks that uverbs_ioctl.c performs before it calls a method.
func (f *fake) ioctl(fd int, request []byte, _ bool) error {
	c := parseCall(f.t, request)
	if fd != fakeFD {
		f.t.Errorf("ioctl: got file %d, want %d", fd, fakeFD)
	}
	if c.header.Driver != uint32(f.driver) {
		return unix.EINVAL
	}
	const driverObjects = 0x1000
	if c.header.Object >= driverObjects {
		return f.answer(c)
	}
	if int(c.header.Object) >= len(methodNames) || int(c.header.Method) >= len(methodNames[c.header.Object]) {
		return unix.EPROTONOSUPPORT
	}
	// A file has one context until the device is removed.
	if f.ready && !c.probe && c.is(uapi.ObjectDevice, uapi.MethodGetContext) {
		if f.removed {
			return unix.EIO
		}
		return unix.EINVAL
	}
	f.calls = append(f.calls, c)
	return f.answer(c)
}

// A call is a request as the kernel sees it.
type call struct {
	t      *testing.T
	header uapi.UverbsHeader
	attrs  []*uapi.UverbsAttr
	probe  bool // its attributes are unreadable
}

func parseCall(t *testing.T, request []byte) call {
	t.Helper()
	c := call{t: t, header: uapi.Decode[uapi.UverbsHeader](request)}
	if want := uapi.UverbsHeaderSize + uapi.UverbsAttrSize*int(c.header.NumAttrs); int(c.header.Length) != want {
		t.Errorf("request with %d attributes: got length %d, want %d", c.header.NumAttrs, c.header.Length, want)
	}
	c.probe = len(request) == uapi.UverbsHeaderSize && c.header.NumAttrs > 0
	if c.probe {
		return c
	}
	if len(request) != int(c.header.Length) {
		t.Errorf("got request of %d bytes, want %d", len(request), c.header.Length)
	}
	for rest := request[uapi.UverbsHeaderSize:]; len(rest) > 0; rest = rest[uapi.UverbsAttrSize:] {
		c.attrs = append(c.attrs, (*uapi.UverbsAttr)(unsafe.Pointer(unsafe.SliceData(rest))))
	}
	return c
}

// is reports whether the call is of a method.
func (c call) is(object, method uint16) bool {
	return c.header.Object == object && c.header.Method == method
}

// command returns the command that INVOKE_WRITE carries.
func (c call) command() (uint64, bool) {
	if !c.is(uapi.ObjectDevice, uapi.MethodInvokeWrite) || c.probe {
		return 0, false
	}
	return c.number(uapi.AttrWriteCmd), true
}

// attr returns an attribute, or nil.
func (c call) attr(id uint16) *uapi.UverbsAttr {
	i := slices.IndexFunc(c.attrs, func(a *uapi.UverbsAttr) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	return c.attrs[i]
}

// number returns the value that an attribute contains.
func (c call) number(id uint16) uint64 {
	a := c.attr(id)
	if a == nil {
		c.t.Errorf("got no attribute %#x", id)
		return 0
	}
	return binary.NativeEndian.Uint64(a.Data[:])
}

// memory returns the memory that an attribute points to.
func (c call) memory(id uint16) []byte {
	a := c.attr(id)
	if a == nil {
		c.t.Errorf("got no attribute %#x", id)
		return nil
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&a.Data)), a.Len)
}

// set writes an output.
func (c call) set(id uint16, b []byte) {
	if a := c.attr(id); a != nil {
		copy(c.memory(id), b)
		a.Flags |= uapi.AttrValidOutput
	}
}

// contexts responds to requests for a context and passes the others to next.
func contexts(next func(call) error) func(call) error {
	return func(c call) error {
		if !c.is(uapi.ObjectDevice, uapi.MethodGetContext) || c.probe {
			return next(c)
		}
		vectors, support := uint32(3), uint64(1)
		c.set(uapi.AttrGetContextNumCompVectors, uapi.Bytes(&vectors))
		c.set(uapi.AttrGetContextCoreSupport, uapi.Bytes(&support))
		if c.attr(uapi.AttrUHWOut) != nil && DriverID(c.header.Driver) == DriverMLX5 {
			c.set(uapi.AttrUHWOut, uapi.Bytes(&uapi.MLX5AllocUcontextResp{CmdsSuppUHW: uapi.MLX5SuppUHWQueryDevice}))
		}
		return nil
	}
}

// openFake opens a device of a fake kernel.
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
