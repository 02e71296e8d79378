package verbs

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// noObject is one that no kernel has.
const noObject = 0x0fff

// findDriver asks which driver the device has. The kernel compares the driver of
// a request before it looks for the object: EINVAL is another driver, and
// EPROTONOSUPPORT, for there is no such object, the right one.
// A driver outside of the kernel's tree may have none, which is asked for last.
func (c *Context) findDriver() error {
	for i := range lastDriver + 1 {
		c.driver = (i + 1) % (lastDriver + 1)
		err := newRequest("find driver", noObject, 0).do(c.kernel, c.fd, c.driver)
		switch {
		case errors.Is(err, unix.EPROTONOSUPPORT):
			return nil
		case errors.Is(err, unix.EINVAL):
			continue
		case err == nil:
			err = errors.New("the kernel has an object that it cannot have")
		}
		return &CallError{Op: "find driver", Device: c.name, Err: err}
	}
	return &CallError{Op: "find driver", Device: c.name, Err: errors.New("none that is known")}
}

// alloc makes the context of the open file, which all queries need: by the method
// GET_CONTEXT, which Linux has since 5.6, else by the command of that name, which
// makes the file of asynchronous events too.
func (c *Context) alloc() error {
	in, out := c.vendor.request(c.driver)
	var vectors uint32
	r := newRequest("get context", uapi.ObjectDevice, uapi.MethodGetContext)
	r.out(uapi.AttrGetContextNumCompVectors, bytesOf(&vectors))
	r.out(uapi.AttrGetContextCoreSupport, bytesOf(&c.support))
	r.optional()
	r.in(uapi.AttrUHWIn, in)
	r.out(uapi.AttrUHWOut, out)
	err := c.call(r)
	if errors.Is(err, ErrUnknownMethod) {
		var core uapi.GetContext
		var resp uapi.GetContextResp
		in, out = c.vendor.request(c.driver)
		err = c.call(writeRequest("get context", uapi.CmdGetContext, bytesOf(&core), bytesOf(&resp), in, out))
		if err == nil {
			vectors, c.eventFD = resp.NumCompVectors, int(resp.AsyncFD)
		}
	}
	if err != nil {
		return err
	}
	c.vectors, c.ready = vectors, true
	c.vendor.response(c.driver, out)
	return nil
}
