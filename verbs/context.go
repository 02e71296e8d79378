package verbs

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/dmamem"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A Device is a device to open.
type Device struct {
	Name string // such as "mlx5_0", for errors
	Path string // such as "/dev/infiniband/uverbs0"

	// Driver saves asking the kernel for each driver in turn, where it is known
	// from netlink. Zero: not known.
	Driver DriverID
}

// Open opens a device by its name, which is for errors, and the path of its node,
// such as /dev/infiniband/uverbs0.
func Open(name, path string) (*Context, error) {
	return Device{Name: name, Path: path}.Open()
}

// Open opens the device.
func (d Device) Open() (*Context, error) { return d.open(new(linux)) }

func (d Device) open(k kernel) (*Context, error) {
	fd, err := k.open(d.Path)
	if err != nil {
		return nil, &CallError{Op: "open node " + d.Path, Device: d.Name, Err: err}
	}
	c := &Context{resources: &resources{kernel: k, fd: fd, eventFD: -1}, name: d.Name, driver: d.Driver}
	if c.driver == unknownDriver {
		err = c.findDriver()
	}
	if err == nil {
		err = c.alloc()
		if errors.Is(err, unix.EAGAIN) {
			err = c.limit("contexts", err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, k.close(fd))
	}
	if c.findProvider(); c.provider != nil {
		// Of memory of Go's that is pinned Go's runtime wants an end, or it panics: a
		// queue pair that nobody closed has none.
		if c.scratch, err = dmamem.New(answerSize, dmamem.Options{}); err != nil {
			return nil, errors.Join(fmt.Errorf("open %s: %w", d.Name, err), c.Close())
		}
	}
	c.cleanup = runtime.AddCleanup(c, func(r *resources) { _ = r.release() }, c.resources)
	return c, nil
}

// A Context is an open device. It may be used from several goroutines.
type Context struct {
	*resources
	cleanup runtime.Cleanup // releases the resources of a Context that is never closed

	name    string
	driver  DriverID
	vectors uint32
	support uint64
	vendor  vendorContext
	ready   bool // the file has its context

	lock   sync.RWMutex // held for reading while fd is in use
	closed bool
	events *Events

	objects  objects
	provider provider.Provider // nil for a driver whose queues are not known
}

// Name returns the device's name as given to Open.
func (c *Context) Name() string { return c.name }

// Driver returns the kernel's driver of the device.
func (c *Context) Driver() DriverID { return c.driver }

// CompVectors returns how many completion vectors the device has.
func (c *Context) CompVectors() uint32 { return c.vectors }

// OptionalMRAccess tells whether the kernel takes access flags of memory regions
// that a driver may ignore (IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS).
func (c *Context) OptionalMRAccess() bool { return c.support&1 != 0 }

// Close closes the objects of the device, those first that were made last, then
// the device, after all requests that are under way, and its events. A second
// Close is an error.
func (c *Context) Close() error {
	objects := c.closeObjects()
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.closed {
		return closedError("close", c.name)
	}
	c.closed = true
	c.cleanup.Stop()
	return errors.Join(objects, c.release())
}

// call sends a request on an open context.
func (c *Context) call(r *request) error {
	c.lock.RLock()
	defer c.lock.RUnlock()
	return c.locked(r)
}

// locked is call for who holds the lock.
func (c *Context) locked(r *request) error {
	if c.closed {
		return closedError(r.op, c.name)
	}
	err := r.do(c.kernel, c.fd, c.driver)
	h := r.frame.header
	return c.callError(r.op, methodName(h.Object, h.Method), err)
}

// callError makes a CallError of the kernel's errors. The lock is held.
func (c *Context) callError(op, method string, err error) error {
	var errno unix.Errno
	if !errors.As(err, &errno) {
		return err
	}
	// After the device was removed the file has no context any more.
	if errno == unix.EINVAL && c.removed() {
		errno = unix.EIO
	}
	return &CallError{Op: op, Device: c.name, Method: method, Err: errno}
}

// removed asks whether the device was removed, by asking for a second context: of
// a device that is there that is EINVAL, else EIO (uverbs_cmd.c,
// ib_alloc_ucontext). The lock is held.
func (c *Context) removed() bool {
	if !c.ready {
		return false // it would be a first one
	}
	var vectors uint32
	r := newRequest("find device", uapi.ObjectDevice, uapi.MethodGetContext)
	r.out(uapi.AttrGetContextNumCompVectors, bytesOf(&vectors))
	return errors.Is(r.do(c.kernel, c.fd, c.driver), unix.EIO)
}

// CheckPresent returns nil as long as the device is there, and ErrDeviceRemoved when it was
// removed. Soft-RoCE says nothing of that: who removes such a device waits until
// nobody has it open, and meanwhile it moves data as before. So whoever has one
// open for long should ask now and then, and close it.
func (c *Context) CheckPresent() error { return c.check("find device") }

// check returns an error if the context is closed or the device was removed.
func (c *Context) check(op string) error {
	c.lock.RLock()
	defer c.lock.RUnlock()
	if c.closed {
		return closedError(op, c.name)
	}
	if c.removed() || !c.kernel.present(c.fd) {
		return &CallError{Op: op, Device: c.name, Err: unix.EIO}
	}
	return nil
}

// write sends one of the commands that have no method of their own. Core is its
// structure without the header of write(2), vendor what the driver adds to the
// answer.
func (c *Context) write(op string, cmd uint32, core, resp, vendor []byte) error {
	return c.call(writeRequest(op, cmd, core, resp, nil, vendor))
}

func writeRequest(op string, cmd uint32, core, resp, vendorIn, vendorOut []byte) *request {
	r := newRequest(op, uapi.ObjectDevice, uapi.MethodInvokeWrite)
	r.in(uapi.AttrCoreIn, core)
	r.out(uapi.AttrCoreOut, resp)
	r.constant(uapi.AttrWriteCmd, uint64(cmd))
	r.in(uapi.AttrUHWIn, vendorIn)
	r.out(uapi.AttrUHWOut, vendorOut)
	return r
}
