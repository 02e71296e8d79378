package peererr_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
)

func TestClassify(t *testing.T) {
	other := errors.New("other")
	for _, c := range []struct {
		err, want error
	}{
		{io.EOF, peererr.ErrClosed},
		{fmt.Errorf("read: %w", io.ErrUnexpectedEOF), peererr.ErrClosed},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, peererr.ErrClosed},
		{&net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)}, peererr.ErrClosed},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, peererr.ErrTimeout},
		{other, other},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			if got := peererr.Classify(c.err); !errors.Is(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	if err := peererr.Classify(nil); err != nil {
		t.Errorf("no error: got %v", err)
	}
}
