package exchange

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/rdmacm"
)

// An Error is the end of a test. Its text matches the librdmacm programs.
type Error struct {
	Op   string // "failure connecting"
	Err  error  // nil if Op is the whole text
	Code int    // test result

	// Bare texts begin without the program name.
	Bare bool

	// Event is the event that caused the failure, if any.
	Event *rdmacm.Event
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Op
	}
	return e.Op + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// failed returns a call's failure, or nil.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Op: op, Err: err, Code: -1}
}

// unable returns a failure with a text without a cause. The programs return code.
func unable(code unix.Errno, err error, op string, args ...any) error {
	if err == nil {
		return nil
	}
	return &Error{Op: fmt.Sprintf(op, args...), Code: -int(code)}
}

// errno returns the error number for a failed request to post work, ENOMEM for a full
// queue.
func errno(err error) unix.Errno {
	if e, ok := errors.AsType[unix.Errno](err); ok {
		return e
	}
	return unix.ENOMEM
}
