// Package peererr classifies errors on connections to a test peer.
package peererr

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Errors from a peer that ends early.
var (
	// ErrClosed is wrapped if the peer closed the connection, on purpose or because
	// it crashed.
	ErrClosed = errors.New("the peer closed the connection")

	// ErrTimeout is wrapped if the peer neither answers nor closes the connection:
	// it hangs, it is unreachable, or it waits for another message.
	ErrTimeout = errors.New("the peer does not respond")
)

// Classify wraps a connection error with ErrClosed or ErrTimeout. It returns other
// errors unchanged.
func Classify(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("%w (%w)", ErrClosed, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrTimeout
	}
	return err
}
