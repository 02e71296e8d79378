package verbs

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A Device is an RDMA device that can be opened. Devices lists this host's
// devices.
type Device struct {
	Name string // kernel device name, "mlx5_0"
	Path string // "/dev/infiniband/uverbs0"

	// Driver is the device driver. If it is zero, Open determines the driver
	// by trial.
	Driver DriverID
}

// Open opens a device by its name, for example rxe0, and its device node, for
// example /dev/infiniband/uverbs0.
func Open(name, path string) (*Context, error) {
	return Device{Name: name, Path: path}.Open()
}

// Open opens the device.
func (d Device) Open() (*Context, error) { return d.open(new(linux)) }

func (d Device) open(k kernel) (*Context, error) {
	fd, err := k.Open(d.Path)
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
		return nil, errors.Join(err, k.Close(fd))
	}
	c.iwarp = isIWARP(sysfs.Default, c.driver, c.name)
	if c.findProvider(d.Path); c.provider != nil {
		// The responses to doorbells need memory outside Go's heap: prepared
		// writes contain its address for as long as they exist, and a runtime.Pinner
		// that is never unpinned panics.
		if c.scratch, err = dmamem.New(responseSize, dmamem.Options{}); err != nil {
			return nil, errors.Join(fmt.Errorf("open %s: %w", d.Name, err), c.Close())
		}
	}
	c.cleanup = runtime.AddCleanup(c, func(r *resources) { _ = r.release() }, c.resources)
	return c, nil
}

// A Context is an open device. Its methods may be called concurrently.
//
// The garbage collector closes a Context that is dropped together with all its
// objects. Close does it at a known time and reports errors.
type Context struct {
	*resources
	cleanup runtime.Cleanup // releases a dropped Context's resources

	name    string
	driver  DriverID
	vectors uint32
	support uint64
	vendor  vendorContext
	ready   bool // the kernel has created the file's context

	lock   sync.RWMutex // held for reading while fd is in use
	closed bool
	events *Events

	objects  objects
	provider provider.Provider // nil for a driver without a provider

	providerErr error // why provider is nil
	iwarp       bool

	queuePD struct {
		sync.Mutex
		domain *queueDomain // nil: not allocated
	}
}

// Name returns the device name as given to Open.
func (c *Context) Name() string { return c.name }

// IWARP reports whether the device is an iWARP device. Its GIDs are MAC addresses, not IP
// addresses as on RoCE.
func (c *Context) IWARP() bool { return c.iwarp }

// Driver returns the device driver.
func (c *Context) Driver() DriverID { return c.driver }

// CompVectors returns the completion vector count.
func (c *Context) CompVectors() uint32 { return c.vectors }

// OptionalMRAccess reports whether the kernel accepts memory region access flags
// that a driver may ignore (IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS).
func (c *Context) OptionalMRAccess() bool { return c.support&1 != 0 }

// Close closes all the context's objects, the newest first. Then it waits for
// requests in progress and closes the device and its events. A second Close returns
// fs.ErrClosed.
func (c *Context) Close() error {
	errs := []error{c.closeObjects()}
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.closed {
		return closedError("close", c.name)
	}
	if c.provider != nil {
		errs = append(errs, c.provider.Close())
	}
	c.closed = true
	c.cleanup.Stop()
	return errors.Join(append(errs, c.release())...)
}

// call sends a request on an open context.
func (c *Context) call(r *request) error {
	c.lock.RLock()
	defer c.lock.RUnlock()
	return c.callLocked(r)
}

// callLocked is call for callers that hold c.lock.
func (c *Context) callLocked(r *request) error {
	if c.closed {
		return closedError(r.op, c.name)
	}
	err := r.do(c.kernel, c.fd, c.driver)
	if err == nil {
		return nil
	}
	h := r.frame.header
	return c.callError(r.op, methodName(h.Object, h.Method), err)
}

// callError wraps a kernel error in a CallError. The caller holds c.lock.
func (c *Context) callError(op, method string, err error) error {
	var errno unix.Errno
	if !errors.As(err, &errno) {
		return err
	}
	// After the device's removal, the file has no context.
	if errno == unix.EINVAL && c.removed() {
		errno = unix.EIO
	}
	return &CallError{Op: op, Device: c.name, Method: method, Err: errno}
}

// removed reports whether the device was removed. It requests a second context for
// the file: the kernel returns EINVAL if the device is present and EIO if it was
// removed (uverbs_cmd.c, ib_alloc_ucontext). The caller holds c.lock.
func (c *Context) removed() bool {
	if !c.ready {
		return false // the request would create the first context
	}
	var vectors uint32
	r := newRequest("find device", uapi.ObjectDevice, uapi.MethodGetContext)
	r.out(uapi.AttrGetContextNumCompVectors, uapi.Bytes(&vectors))
	return errors.Is(r.do(c.kernel, c.fd, c.driver), unix.EIO)
}

// CheckPresent returns nil while the device is present and ErrDeviceRemoved after
// its removal. Soft-RoCE does not report a removal: the removal waits until every
// process has closed the device, which keeps moving data meanwhile. A process that
// keeps such a device open for long should call CheckPresent from time to time, and
// close the device if it was removed.
func (c *Context) CheckPresent() error { return c.checkPresent("find device") }

// checkPresent returns an error if the context is closed or the device was removed.
func (c *Context) checkPresent(op string) error {
	c.lock.RLock()
	defer c.lock.RUnlock()
	if c.closed {
		return closedError(op, c.name)
	}
	if c.removed() || !c.kernel.Present(c.fd) {
		return &CallError{Op: op, Device: c.name, Err: unix.EIO}
	}
	return nil
}

// write sends a command that has no method of its own. core is its structure without
// the header for write(2), vendor the room for the response's driver part.
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
