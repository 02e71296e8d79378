package verbs

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// Error kinds, for errors.Is. Missing permission is [io/fs.ErrPermission], use
// after Close is [io/fs.ErrClosed].
var (
	// ErrUnknownMethod: the kernel does not support the object, the method or an
	// attribute for this device. It also hides the methods that need a function
	// which the driver lacks.
	ErrUnknownMethod = errors.New("not supported by the kernel")

	// ErrUnsupported: the kernel supports the method, the driver does not.
	ErrUnsupported = errors.New("not supported by the driver")

	// ErrDeviceRemoved: the device was removed.
	ErrDeviceRemoved = errors.New("device removed")
)

// A CallError is a kernel request's error.
type CallError struct {
	Op     string // operation, "query port 1"
	Device string
	Method string // "DEVICE QUERY_PORT"; "" for open
	Err    error  // usually a syscall.Errno
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

// Is maps the errors in the kernel's uverbs_ioctl.c to the error kinds.
// EPROTONOSUPPORT means that the object, the method or an attribute is unknown,
// ENOTTY that the kernel lacks the ioctl. EOPNOTSUPP, or ENOSYS on old kernels,
// comes from the driver. EIO follows a device's removal; so does EINVAL for a missing
// context, which Context converts to EIO. ENODEV and ENXIO are returned
// for a device that is removed while it is opened.
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

// closedError returns the error for use after Close. It formats nothing: CQ.Poll may
// run where a goroutine must not block.
func closedError(op, device string) error { return &useAfterClose{op, device} }

type useAfterClose struct{ op, device string }

func (e *useAfterClose) Error() string {
	return e.op + " of " + e.device + ": " + fs.ErrClosed.Error()
}

func (e *useAfterClose) Unwrap() error { return fs.ErrClosed }
