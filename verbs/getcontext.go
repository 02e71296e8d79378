package verbs

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// noObject is an object number that does not exist in any kernel.
const noObject = 0x0fff

// findDriver determines the device driver by trial. The kernel compares a request's
// driver before it looks up the object: EINVAL means another driver,
// EPROTONOSUPPORT (no such object) means the right driver. Zero, a driver outside the kernel
// tree, is tried last.
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
			err = errors.New("kernel accepted an object that does not exist")
		}
		return &CallError{Op: "find driver", Device: c.name, Err: err}
	}
	return &CallError{Op: "find driver", Device: c.name, Err: errors.New("unknown driver")}
}

// alloc creates the open file's context, which all queries need: with the
// method GET_CONTEXT since Linux 5.6, otherwise with the command GET_CONTEXT, which
// also opens the event file.
func (c *Context) alloc() error {
	in, out := c.vendor.request(c.driver)
	var vectors uint32
	r := newRequest("get context", uapi.ObjectDevice, uapi.MethodGetContext)
	r.out(uapi.AttrGetContextNumCompVectors, uapi.Bytes(&vectors))
	r.out(uapi.AttrGetContextCoreSupport, uapi.Bytes(&c.support))
	r.optional()
	r.in(uapi.AttrUHWIn, in)
	r.out(uapi.AttrUHWOut, out)
	err := c.call(r)
	if errors.Is(err, ErrUnknownMethod) {
		var core uapi.GetContext
		var resp uapi.GetContextResp
		in, out = c.vendor.request(c.driver)
		err = c.call(writeRequest("get context", uapi.CmdGetContext, uapi.Bytes(&core), uapi.Bytes(&resp), in, out))
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
