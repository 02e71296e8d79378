package nonblock

import (
	"context"
	"errors"
	"os"
	"time"
)

// UntilDone calls read, which waits for a file. When ctx ends, the wait is interrupted,
// and UntilDone returns ctx.Err(). The file has no read deadline before and after it.
func UntilDone(ctx context.Context, f File, read func() error) error {
	set := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = f.SetReadDeadline(time.Unix(1, 0)) // fails for a closed file only
		close(set)
	})
	err := read()
	if stop() {
		return err
	}
	<-set
	_ = f.SetReadDeadline(time.Time{})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ctx.Err()
	}
	return err
}
