package verbs

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// A Method is a method of an object of uverbs, or a command that INVOKE_WRITE
// carries.
type Method struct {
	Object  string // "DEVICE"; "WRITE" for commands
	Name    string // "QUERY_PORT"
	Known   bool   // whether the kernel answers to it for this device
	command bool
	object  uint16
	number  uint32
}

// Number returns the number of the method or command.
func (m Method) Number() uint32 { return m.number }

// Methods asks the kernel which of the methods and commands that are known here
// it answers to for this device, in their order. Nothing is done by asking:
//
// The kernel (uverbs_ioctl.c) looks the method up before it reads the attributes,
// and reads all attributes before it does anything with one. A request whose
// header is the end of the memory that can be read, and that says it has an
// attribute, therefore gets EFAULT for a method that is there and EPROTONOSUPPORT
// for one that is not. Methods that need a function that the driver has not are
// left out by the kernel; so "not there" means for this device.
//
// A command comes with a structure that cannot be read, and without room for an
// answer. INVOKE_WRITE compares the sizes with those of the command's structures,
// which is ENOSPC, and a command that got as far as being called reads its
// structure first, which is EFAULT. One that is not there is EOPNOTSUPP.
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
			m.Known, err = c.answersCommand(edge, m.number)
		} else {
			m.Known, err = c.answers(edge, m.object, uint16(m.number))
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// answers tells whether the kernel has a method.
func (c *Context) answers(e edge, object, method uint16) (bool, error) {
	c.lock.RLock()
	defer c.lock.RUnlock()
	op := "probe method"
	if c.closed {
		return false, closedError(op, c.name)
	}
	err := c.kernel.ioctl(c.fd, e.request(object, method, c.driver))
	switch {
	case errors.Is(err, unix.EFAULT):
		return true, nil
	case errors.Is(err, unix.EPROTONOSUPPORT):
		return false, nil
	case err == nil:
		err = errors.New("the kernel read an attribute that is not there")
	}
	return false, &CallError{Op: op, Device: c.name, Method: methodName(object, method), Err: err}
}

// answersCommand tells whether the kernel has a command.
func (c *Context) answersCommand(e edge, cmd uint32) (bool, error) {
	err := c.write("probe command", cmd, e.beyond(), nil, nil)
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EFAULT):
		return true, nil
	case errors.Is(err, ErrUnsupported), errors.Is(err, ErrUnknownMethod), errors.Is(err, unix.EINVAL):
		return false, nil
	case err == nil:
		err = fmt.Errorf("probe command of %s: the kernel takes command %#x without its structure", c.name, cmd)
	}
	return false, err
}

// An edge is memory that ends at a page that cannot be read.
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

// request returns a header that has its attribute behind the edge.
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
	copy(b, bytesOf(&h))
	return b
}

// beyond returns the first bytes that cannot be read: more than fit an attribute,
// so that it has their address.
func (e edge) beyond() []byte { return e[len(e)/2:][:2*len(uapi.UverbsAttr{}.Data)] }
