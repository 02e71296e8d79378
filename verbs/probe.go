package verbs

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// A Method is a uverbs object's method, or a command that INVOKE_WRITE
// carries.
type Method struct {
	Object  string // "DEVICE"; "WRITE" for commands
	Name    string // "QUERY_PORT"
	Known   bool   // supported by the kernel for this device
	command bool
	object  uint16
	number  uint32
}

// Number returns the method or command number.
func (m Method) Number() uint32 { return m.number }

// Methods returns all known methods and commands, and whether the kernel supports
// them for this device. Probing has no side effect.
//
// The kernel (uverbs_ioctl.c) looks up a method before it reads the attributes, and
// reads all attributes before it evaluates any. So a request with a header that announces
// an attribute, but ends where readable memory ends, returns EFAULT for a supported
// method and EPROTONOSUPPORT for any other. The kernel hides methods that need a
// function which the driver lacks.
//
// A command is sent with a structure that cannot be read and without room for a
// response. INVOKE_WRITE compares these sizes with the command structures' sizes
// and returns ENOSPC; a command that is called nevertheless reads its structure
// first and returns EFAULT. An unsupported command returns EOPNOTSUPP.
func (c *Context) Methods() ([]Method, error) {
	edge, err := newEdge()
	if err != nil {
		return nil, fmt.Errorf("probe methods of %s: %w", c.name, err)
	}
	defer edge.free()
	all := knownMethods()
	for i := range all {
		m := &all[i]
		if m.command {
			m.Known, err = c.hasCommand(edge, m.number)
		} else {
			m.Known, err = c.hasMethod(edge, m.object, uint16(m.number))
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// hasMethod reports whether the kernel supports a method.
func (c *Context) hasMethod(e edge, object, method uint16) (bool, error) {
	c.lock.RLock()
	defer c.lock.RUnlock()
	op := "probe method"
	if c.closed {
		return false, closedError(op, c.name)
	}
	err := c.kernel.Ioctl(c.fd, e.request(object, method, c.driver))
	switch {
	case errors.Is(err, unix.EFAULT):
		return true, nil
	case errors.Is(err, unix.EPROTONOSUPPORT):
		return false, nil
	case err == nil:
		err = errors.New("kernel accepted an attribute that cannot be read")
	}
	return false, &CallError{Op: op, Device: c.name, Method: methodName(object, method), Err: err}
}

// hasCommand reports whether the kernel supports a command.
func (c *Context) hasCommand(e edge, cmd uint32) (bool, error) {
	err := c.write("probe command", cmd, e.unreadable(), nil, nil)
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EFAULT):
		return true, nil
	case errors.Is(err, ErrUnsupported), errors.Is(err, ErrUnknownMethod), errors.Is(err, unix.EINVAL):
		return false, nil
	case err == nil:
		err = fmt.Errorf("probe command of %s: kernel accepted command %#x without its structure", c.name, cmd)
	}
	return false, err
}

// An edge is memory that ends at an unreadable page.
type edge []byte

func newEdge() (edge, error) {
	page := unix.Getpagesize()
	b, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	if err := unix.Mprotect(b[page:], unix.PROT_NONE); err != nil {
		return nil, errors.Join(err, unix.Munmap(b))
	}
	return b, nil
}

func (e edge) free() { _ = unix.Munmap(e) }

// request returns a header with its attribute behind the edge.
func (e edge) request(object, method uint16, driver DriverID) []byte {
	h := uapi.UverbsHeader{
		Length:   uapi.UverbsHeaderSize + uapi.UverbsAttrSize,
		Object:   object,
		Method:   method,
		NumAttrs: 1,
		Driver:   uint32(driver),
	}
	end := len(e) / 2
	b := e[end-int(unsafe.Sizeof(h)) : end : end]
	copy(b, uapi.Bytes(&h))
	return b
}

// unreadable returns the first bytes behind the edge, too many to fit into an
// attribute, which therefore contains their address.
func (e edge) unreadable() []byte { return e[len(e)/2:][:2*len(uapi.UverbsAttr{}.Data)] }
