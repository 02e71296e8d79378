package verbs

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// Kinds of errors, for errors.Is. Missing permission is [io/fs.ErrPermission],
// a context that was closed [io/fs.ErrClosed].
var (
	// ErrUnknownMethod: the kernel does not know the object, the method or an
	// attribute, at least not for this device; it leaves out what needs a
	// function that the driver has not.
	ErrUnknownMethod = errors.New("the kernel does not know this method")

	// ErrUnsupported: the kernel knows the method, the driver does not do it.
	ErrUnsupported = errors.New("the driver does not support it")

	// ErrDeviceRemoved: the device was removed.
	ErrDeviceRemoved = errors.New("device removed")
)

// A CallError is a request that the kernel refused.
type CallError struct {
	Op     string // what was wanted: "query port 1"
	Device string
	Method string // such as "DEVICE QUERY_PORT"; "" for open
	Err    error  // a syscall.Errno as a rule
}

func (e *CallError) Error() string {
	where := e.Device
	if e.Method != "" {
		where += " (" + e.Method + ")"
	}
	for _, kind := range []error{ErrUnknownMethod, ErrUnsupported, ErrDeviceRemoved} {
		if e.Is(kind) {
			return fmt.Sprintf("%s of %s: %v (%v)", e.Op, where, kind, e.Err)
		}
	}
	return fmt.Sprintf("%s of %s: %v", e.Op, where, e.Err)
}

// Unwrap returns Err.
func (e *CallError) Unwrap() error { return e.Err }

// Is tells the kinds of errors apart by what the kernel's uverbs_ioctl.c returns:
// EPROTONOSUPPORT is for what it cannot find only, and ENOTTY comes of a kernel
// without the ioctl. EOPNOTSUPP, and ENOSYS of old kernels, come from behind
// that. EIO is what a device that was removed leaves behind, or EINVAL for want of
// a context, of which Context makes EIO; ENODEV and ENXIO are for who opens it too
// late.
func (e *CallError) Is(kind error) bool {
	var errno syscall.Errno
	if !errors.As(e.Err, &errno) {
		return false
	}
	switch errno {
	case unix.EPROTONOSUPPORT, unix.ENOTTY:
		return kind == ErrUnknownMethod
	case unix.EOPNOTSUPP, unix.ENOSYS:
		return kind == ErrUnsupported
	case unix.EIO, unix.ENODEV, unix.ENXIO:
		return kind == ErrDeviceRemoved
	}
	return false
}

// closedError is the use of a context after Close.
func closedError(op, device string) error {
	return fmt.Errorf("%s of %s: %w", op, device, fs.ErrClosed)
}
