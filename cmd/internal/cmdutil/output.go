package cmdutil

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
)

// StandardOutput writes to a file and keeps the first error, so that a command whose
// output was lost fails, even if the command ignores the errors of its writes as a help
// text does. It may be used by several goroutines.
type StandardOutput struct {
	file     *os.File
	failed   atomic.Pointer[OutputError]
	reported atomic.Bool // an error message has been printed
}

// NewStandardOutput returns the output to a file.
func NewStandardOutput(file *os.File) *StandardOutput { return &StandardOutput{file: file} }

// Write writes to the file. Its errors are of type [*OutputError].
func (o *StandardOutput) Write(b []byte) (int, error) {
	n, err := o.file.Write(b)
	if err == nil {
		return n, nil
	}
	failed := &OutputError{Err: err}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		failed.Err = path.Err
	}
	o.failed.CompareAndSwap(nil, failed)
	return n, failed
}

// Fd returns the descriptor of the file.
func (o *StandardOutput) Fd() uintptr { return o.file.Fd() }

// An OutputError is a failure to write the standard output.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return fmt.Sprintf("write standard output: %v", e.Err) }

// Unwrap returns Err.
func (e *OutputError) Unwrap() error { return e.Err }

// outputError returns the first failure to write the standard output, or nil.
func (e *Env) outputError() error {
	if o, ok := e.Out.(*StandardOutput); ok {
		if failed := o.failed.Load(); failed != nil {
			return failed
		}
	}
	return nil
}

// reportOutput records that the failure of the standard output has been printed.
func (e *Env) reportOutput() {
	if o, ok := e.Out.(*StandardOutput); ok {
		o.reported.Store(true)
	}
}

// outputReported reports whether [Env.reportOutput] was called.
func (e *Env) outputReported() bool {
	o, ok := e.Out.(*StandardOutput)
	return ok && o.reported.Load()
}
